// What a worker in the place of a lost one finds of its ranks' residuals, and who has lost theirs.
#include "actors/worker/kept_residuals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/actors/worker/worker_parts.h"

namespace sterna::actors {
namespace {

using testing::ElementsAre;

class KeptResidualsTest : public WorkerParts {
 protected:
  KeptResidualsTest() {
    job.steps = 100;
    job.ranks = 4;
    job.gradient.error_feedback = true;
    args.first_rank = 2;
    args.ranks = 2;
  }
  /// A worker's, once the ones before are gone.
  KeptResiduals& come(std::uint64_t incarnation) {
    processes.clear();
    begin(incarnation);
    ParameterTable made({nets::ParameterSpec{.name = "weights", .shape = {3000}}}, job, 1);
    made.tensors.front().codec = Codec::TERNARY;
    table = std::make_shared<const ParameterTable>(std::move(made));
    KeptResiduals& all = make<KeptResiduals>(
        *context, table, [this](std::uint64_t step) { told_lost.push_back(step); });
    const auto taken = end_of(all.take_memory());
    settle();
    EXPECT_TRUE(*taken);
    return all;
  }
  static void leave(Residuals& residuals, std::uint64_t step, float value) {
    residuals.begin(step);
    residuals.open(0);
    std::ranges::fill(residuals.newest(0), value);
    residuals.stamp(0);
  }
  /// Of an asynchronous job, each of whose ranks goes on by itself.
  void go_apart() { job.scheme.name = "async"; }

  std::shared_ptr<const ParameterTable> table;
  std::vector<std::uint64_t> told_lost;
};

TEST_F(KeptResidualsTest, ARankGoesOnWithWhatItLeftAndNoOther) {
  {
    KeptResiduals& before = come(1);
    EXPECT_TRUE(before.outlive_worker());
    Residuals first = before.begin(2), second = before.begin(3);
    EXPECT_EQ(first.newest(0).front(), 0.0F);
    leave(first, 0, 1.0F);
    leave(second, 0, 2.0F);
  }
  KeptResiduals& now = come(2);
  const Result<Residuals> first = now.go_on(2, 1), second = now.go_on(3, 1);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->newest(0).back(), 1.0F);
  EXPECT_EQ(second->newest(0).back(), 2.0F);
  EXPECT_EQ(now.lost().ranks, 0U);
  EXPECT_THAT(told_lost, ElementsAre());
}

TEST_F(KeptResidualsTest, WhoBeginsWithTheJobFindsNothingOfAnother) {
  {
    Residuals left = come(1).begin(2);
    for (const std::uint64_t step : {0, 1}) leave(left, step, 1.0F);
  }
  Residuals anew = come(2).begin(2);
  EXPECT_EQ(anew.newest(0).front(), 0.0F);
}

TEST_F(KeptResidualsTest, WhereTheyAreNotWholeARankInStepDoesNotGoOn) {
  {
    Residuals left = come(1).begin(2);
    leave(left, 4, 1.0F);
    left.begin(5);
    left.open(0);
  }
  KeptResiduals& now = come(2);
  const Result<Residuals> found = now.go_on(2, 6);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, Errc::not_found);
  EXPECT_THAT(found.error().message, testing::StartsWith("step 6: what error feedback kept of "
                                                         "rank 2 was lost"));
  EXPECT_EQ(now.lost().ranks, 0U);
  EXPECT_TRUE(now.go_on(2, 5).ok());
}

TEST_F(KeptResidualsTest, OrGoesOnWithZerosWhereTheJobSaysSoAndIsCounted) {
  job.gradient.residuals = LostResiduals::zero;
  {
    Residuals left = come(1).begin(2);
    leave(left, 4, 1.0F);
  }
  KeptResiduals& now = come(2);
  Result<Residuals> found = now.go_on(2, 7);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(std::ranges::count(found->newest(0), 0.0F), 3000);
  EXPECT_EQ(now.lost().ranks, 1U);
  EXPECT_EQ(now.lost().from, 7U);
  EXPECT_THAT(told_lost, ElementsAre(7));
  // Who comes after that one goes on from its zeros, and has lost nothing.
  KeptResiduals& next = come(3);
  EXPECT_TRUE(next.go_on(2, 7).ok());
  EXPECT_EQ(next.lost().ranks, 0U);
}

TEST_F(KeptResidualsTest, OfRanksThatGoOnEachByItselfTheFirstStepWithoutIsSaid) {
  go_apart();
  KeptResiduals& now = come(1);
  EXPECT_TRUE(now.go_on(2, 9).ok());
  EXPECT_TRUE(now.go_on(3, 4).ok());
  EXPECT_EQ(now.lost().ranks, 2U);
  EXPECT_EQ(now.lost().from, 4U);
  EXPECT_THAT(told_lost, ElementsAre(9, 4));
}

TEST_F(KeptResidualsTest, WithoutMemoryThatOutlivesTheWorkerEachRankHasItsOwnAndTheLogSaysSo) {
  host_memory.forget("worker0");
  const auto other = host_memory.of("worker0");
  ASSERT_TRUE(other->take(64).ok());  // of a job before: this one wants more
  KeptResiduals& all = come(2);
  EXPECT_FALSE(all.outlive_worker());
  EXPECT_THAT(log, testing::Contains(testing::HasSubstr("will be lost with this worker: ")));
  Residuals first = all.begin(2), second = all.begin(3);
  leave(first, 0, 1.0F);
  EXPECT_EQ(second.newest(0).front(), 0.0F);
}

TEST_F(KeptResidualsTest, NoMemoryIsTakenWhereNobodyComesInTheWorkersPlace) {
  job.restarts_workers = false;
  EXPECT_FALSE(come(1).outlive_worker());
  EXPECT_EQ(host_memory.contents("worker0"), nullptr);
  job.restarts_workers = true;
  job.gradient.error_feedback = false;
  KeptResiduals& none = come(1);
  EXPECT_EQ(host_memory.contents("worker0"), nullptr);
  EXPECT_TRUE(none.begin(2).none());
  EXPECT_TRUE(none.go_on(2, 5)->none());
}

}  // namespace
}  // namespace sterna::actors
