// Where a worker's ranks begin, by what servers say that they lack.
#include "actors/worker/ranks_beginning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/actors/worker/worker_parts.h"

namespace sterna::actors {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

class RanksBeginningTest : public WorkerParts {
 protected:
  RanksBeginningTest() {
    job.steps = 40;
    job.ranks = 4;
    job.first_step = 3;
    args.first_rank = 2;
    args.ranks = 2;
  }
  RanksBeginning& begin_beside(std::uint32_t servers) {
    begin_with_servers(servers);
    return make<RanksBeginning>(context->process, args, worker->servers);
  }
  RanksBeginning& begin_beside_pairs(std::uint32_t servers) {
    begin_with_pairs(servers);
    return make<RanksBeginning>(context->process, args, worker->servers);
  }
  auto find_step(RanksBeginning& beginning) {
    auto step =
        result_of(beginning.find_step([this](std::uint64_t step) { said_early.push_back(step); }));
    settle();
    return step;
  }
  /// To all questions about ranks from `first` on, by rank.
  void answer(const std::string& server, std::vector<std::uint64_t> lacks, std::size_t first = 0) {
    for (std::size_t i = 0; i < lacks.size(); ++i) {
      asked[server].rejoins.answer(first + i, Rejoined{.step = lacks[i], .version = lacks[i]});
    }
    settle();
  }
  void refuse(const std::string& server) {
    for (std::size_t i = 0; i < asked[server].rejoins.size(); ++i) {
      asked[server].rejoins.answer(i, Error{Errc::not_found, "not known yet"});
    }
    settle();
  }

  std::vector<std::uint64_t> said_early;
};

TEST_F(RanksBeginningTest, InNobodysPlaceIsTheJobs) {
  job.scheme.name = "sagn";
  job.scheme.window = 4;
  const RanksBeginning& beginning = begin_beside(1);
  EXPECT_EQ(beginning.first_push_of(3), 3U);
  EXPECT_EQ(beginning.first_step_of(3), 12U);
  EXPECT_EQ(beginning.newest_version(), 3U);
  EXPECT_FALSE(beginning.goes_on(3));
}

TEST_F(RanksBeginningTest, RanksInStepGoOnAtTheEarliestThatAnyServerLacksOfAnyOfThem) {
  RanksBeginning& beginning = begin_beside(2);
  const auto step = find_step(beginning);
  ASSERT_EQ(asked["server1"].rejoins.size(), 2U);
  EXPECT_EQ(asked["server1"].rejoins[0].rank, 2U);
  EXPECT_EQ(asked["server1"].rejoins[1].rank, 3U);
  answer("server1", {8, 7});
  EXPECT_FALSE(step->has_value()) << "the other may lack an earlier one";
  answer("server0", {9, 5});
  ASSERT_TRUE(step->has_value());
  EXPECT_EQ(***step, 5U);
  EXPECT_THAT(said_early, ElementsAre(5));
  args.job.first_step = 5;
  EXPECT_TRUE(beginning.goes_on(2));
  EXPECT_EQ(beginning.first_push_of(2), 5U);
  EXPECT_EQ(beginning.first_step_of(2), 5U);
}

TEST_F(RanksBeginningTest, OfRanksWhoseAverageIsPushedOnlyTheFirstIsAskedAbout) {
  job.averaged_ranks = 2;
  job.gradient.host = HostRule::average;
  const auto step = find_step(begin_beside(1));
  ASSERT_EQ(asked["server0"].rejoins.size(), 1U);
  answer("server0", {9});
  ASSERT_TRUE(step->has_value());
  EXPECT_EQ(***step, 9U);
}

TEST_F(RanksBeginningTest, OfAJobThatIsDoneTheLastStepIsComputedOnceMore) {
  const auto step = find_step(begin_beside(1));
  answer("server0", {40, 40});
  ASSERT_TRUE(step->has_value());
  EXPECT_EQ(***step, 39U);
}

TEST_F(RanksBeginningTest, NobodyGoesOnBeforeTheJobsFirstStep) {
  RanksBeginning& beginning = begin_beside(1);
  const auto step = find_step(beginning);
  answer("server0", {0, 7});
  ASSERT_TRUE(step->has_value());
  EXPECT_EQ(***step, 3U);
  EXPECT_FALSE(beginning.goes_on(2));
}

TEST_F(RanksBeginningTest, TwoServersOfAShardAreAskedAgainOnceTheEarliestIsSaid) {
  const auto step = find_step(begin_beside_pairs(1));
  answer("server0", {7, 9});
  refuse("server0-replica");  // which has yet to find out
  EXPECT_THAT(said_early, ElementsAre(7));
  EXPECT_FALSE(step->has_value());
  ASSERT_EQ(asked["server0-replica"].rejoins.size(), 4U);
  EXPECT_FALSE(asked["server0-replica"].rejoins[0].patient);
  EXPECT_TRUE(asked["server0-replica"].rejoins[2].patient);
  answer("server0", {7, 9}, 2);
  answer("server0-replica", {6, 9}, 2);
  ASSERT_TRUE(step->has_value());
  EXPECT_EQ(***step, 6U);
}

TEST_F(RanksBeginningTest, OfTwoServersOneMayBeLostAndNotBoth) {
  const auto step = find_step(begin_beside_pairs(1));
  lose("server0-replica");
  answer("server0", {7, 9});
  answer("server0", {7, 9}, 2);
  pass(1s);
  ASSERT_TRUE(step->has_value() && (*step)->ok());
  EXPECT_EQ(***step, 7U);

  processes.clear();
  asked.clear();
  const auto none = find_step(begin_beside_pairs(1));
  refuse("server0");
  refuse("server0-replica");
  ASSERT_TRUE(none->has_value());
  ASSERT_FALSE((*none)->ok());
  EXPECT_EQ((*none)->error().code, Errc::not_found);
  EXPECT_THAT((*none)->error().message, HasSubstr("server0"));
}

TEST_F(RanksBeginningTest, ApartEachRankGoesOnAtThePushThatIsMissingOfIt) {
  job.scheme.name = "sagn";
  job.scheme.window = 4;
  RanksBeginning& beginning = begin_beside(2);
  const auto found = result_of(beginning.find_pushes());
  settle();
  answer("server0", {7, 3});
  answer("server1", {6, 60});
  ASSERT_TRUE(found->has_value() && (*found)->ok());
  EXPECT_EQ(beginning.first_push_of(2), 6U);
  EXPECT_EQ(beginning.first_push_of(3), 3U);
  EXPECT_EQ(beginning.first_step_of(2), 24U);
  EXPECT_TRUE(beginning.goes_on(2));
  EXPECT_FALSE(beginning.goes_on(3));
  EXPECT_EQ(beginning.newest_version(), 39U) << "the last may be written already";
}

// ---- the scalers of the step before ----

class ScalersBefore : public RanksBeginningTest {
 protected:
  /// Of two servers, the first of which has those of two tensors.
  ScalersBefore() {
    table.scalers = {{.tensor = 0, .count = 8, .shard = 0},
                     {.tensor = 1, .count = 8, .shard = 1},
                     {.tensor = 2, .count = 8, .shard = 0}};
    RanksBeginning& beginning = begin_beside(2);
    args.job.first_step = 9;
    scalers = result_of(beginning.scalers_before(table));
    settle();
  }
  void answer(const std::string& server, std::vector<float> values) {
    asked[server].recalls.answer(0, Agreed{std::move(values)});
    settle();
  }
  ParameterTable table;
  std::shared_ptr<std::optional<Result<std::vector<float>>>> scalers;
};

TEST_F(ScalersBefore, LieWhereTheTableHasThem) {
  EXPECT_EQ(asked["server0"].recalls[0].step, 8U);
  answer("server0", {1, 3});
  answer("server1", {2});
  ASSERT_TRUE(scalers->has_value() && (*scalers)->ok());
  EXPECT_THAT(***scalers, ElementsAre(1, 2, 3));
}

TEST_F(ScalersBefore, OfAnAnswerToAnotherQuestionThereAreNone) {
  answer("server0", {1, 3});
  answer("server1", {2, 4});
  ASSERT_TRUE(scalers->has_value());
  ASSERT_FALSE((*scalers)->ok());
  EXPECT_EQ((*scalers)->error().code, Errc::malformed);
  EXPECT_THAT((*scalers)->error().message, HasSubstr("scalers from server1"));
}

TEST_F(ScalersBefore, ThatAServerNoLongerHasEndTheWorkerWithItsName) {
  asked["server0"].recalls.answer(0, Error{Errc::not_found, "gone"});
  settle();
  ASSERT_TRUE(scalers->has_value());
  ASSERT_FALSE((*scalers)->ok());
  EXPECT_THAT((*scalers)->error().message, testing::StartsWith("scalers from server0: "));
}

}  // namespace
}  // namespace sterna::actors
