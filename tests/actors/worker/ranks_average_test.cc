// In which order the ranks of a worker add to the one average that they push.
#include "actors/worker/ranks_average.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "actors/encode/host_arithmetic.h"
#include "tests/actors/worker/worker_parts.h"

namespace sterna::actors {
namespace {

constexpr std::uint32_t kFirst = 8;
constexpr std::uint32_t kRanks = 4;
constexpr std::size_t kElements = 3;

class RanksAverageTest : public WorkerParts {
 protected:
  /// Of four ranks, which take turns on so many replicas.
  void begin_on(std::uint32_t replicas) {
    job.ranks = 3 * kRanks;
    job.averaged_ranks = kRanks;
    job.gradient.host = HostRule::average;
    job.gradient.codec = "none";
    args.first_rank = kFirst;
    args.ranks = kRanks;
    begin();
    const std::vector<nets::ParameterSpec> specs = {{.name = "weights", .shape = {kElements}}};
    const auto table = std::make_shared<const ParameterTable>(specs, job, 1U);
    GradientEncoder::Events events;
    events.packets = [this](std::uint64_t step, std::uint32_t, const std::vector<Packet>&) {
      pushed.push_back(step);
    };
    events.offers = [](std::uint64_t, std::uint32_t, const std::vector<Offer::OwnScaler>&) {};
    auto arithmetic = std::make_unique<HostArithmetic>(job, kFirst, kernels::Isa::scalar, table);
    auto encoder = std::make_unique<GradientEncoder>(job, table, loop, std::move(events),
                                                     std::move(arithmetic));
    average =
        &make<RanksAverage>(args, replicas,
                            std::make_shared<HostAverage>(
                                job, *table, std::make_unique<HostSums>(1), std::move(encoder)));
  }
  /// Whether the rank may add its own, once it has come to the step.
  std::shared_ptr<bool> come(std::uint32_t rank, std::uint64_t step) {
    return end_of(average->begin(kFirst + rank, step));
  }
  void add(std::uint32_t rank, std::uint64_t step) {
    const std::vector<float> gradient(kElements, 1.0F);
    EXPECT_TRUE(average->sums()->add(kFirst + rank, 0, {gradient}).ok());
    EXPECT_TRUE(average->sums()->end().ok());
    average->added(kFirst + rank, step);
  }

  RanksAverage* average = nullptr;
  std::vector<std::uint64_t> pushed;  // steps
};

TEST_F(RanksAverageTest, NobodyAddsBeforeTheFirstRankHasBegunTheStep) {
  begin_on(kRanks);
  const auto second = come(1, 0);
  EXPECT_FALSE(*second);
  EXPECT_TRUE(*come(0, 0));
  EXPECT_TRUE(*second);
}

TEST_F(RanksAverageTest, AddingGoesInTurnsOfTheReplicas) {
  begin_on(2);
  const auto fourth = come(3, 0), third = come(2, 0), second = come(1, 0);
  EXPECT_TRUE(*come(0, 0));
  EXPECT_TRUE(*second) << "beside the first";
  add(1, 0);
  EXPECT_FALSE(*third) << "the first is still of the turn before";
  EXPECT_FALSE(*fourth);
  add(0, 0);
  EXPECT_TRUE(*third);
  EXPECT_TRUE(*fourth) << "of the same turn";
}

TEST_F(RanksAverageTest, IsCompleteOnceAllRanksHaveAdded) {
  begin_on(1);
  const auto complete = end_of(average->until_complete(0));
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    EXPECT_TRUE(*come(rank, 0));
    EXPECT_FALSE(*complete) << rank;
    add(rank, 0);
  }
  EXPECT_TRUE(*complete);
  EXPECT_FALSE(*end_of(average->until_complete(1)));
}

TEST_F(RanksAverageTest, WhoIsAStepAheadWaitsUntilThatHasBegunToo) {
  begin_on(kRanks);
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) EXPECT_TRUE(*come(rank, 0));
  add(3, 0);
  const auto ahead = come(3, 1);
  for (std::uint32_t rank = 0; rank < 3; ++rank) add(rank, 0);
  EXPECT_FALSE(*ahead);
  EXPECT_TRUE(*come(0, 1));
  EXPECT_TRUE(*ahead);
}

TEST_F(RanksAverageTest, WhatIsPushedIsOfTheStepThatHasBegun) {
  begin_on(1);
  for (const std::uint64_t step : {5, 6}) {
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      EXPECT_TRUE(*come(rank, step));
      add(rank, step);
    }
  }
  EXPECT_EQ(pushed, (std::vector<std::uint64_t>{5, 6}));
}

}  // namespace
}  // namespace sterna::actors
