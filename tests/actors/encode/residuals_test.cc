// What a worker leaves of its ranks' residuals, and what the next one finds of them.
#include "actors/encode/residuals.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/sim/sim_memory.h"

namespace sterna::actors {
namespace {

class ResidualsTest : public testing::Test {
 protected:
  ResidualsTest() {
    job.gradient.error_feedback = true;
    nets::ParameterSpec large{.name = "large", .shape = {3000}};
    nets::ParameterSpec small{.name = "small", .shape = {5000}};
    table = ParameterTable({large, small}, job, 1);
    for (TableTensor& tensor : table.tensors) tensor.codec = Codec::TERNARY;
  }
  KeptMemory::Region memory() {
    return host.of("worker0")->take(2 * Residuals::bytes_of(job, table)).value();
  }
  /// Of the first or the second rank of a worker.
  Residuals of(const KeptMemory::Region& memory, std::size_t rank = 0) const {
    return {job, table, memory, rank * Residuals::bytes_of(job, table)};
  }
  static void leave(Residuals& residuals, std::uint64_t step, std::uint32_t tensor) {
    residuals.open(tensor);
    std::ranges::fill(residuals.newest(tensor), static_cast<float>(step));
    residuals.stamp(tensor);
  }
  static void leave_all(Residuals& residuals, std::uint64_t step) {
    residuals.begin(step);
    for (const std::uint32_t tensor : {0, 1}) leave(residuals, step, tensor);
  }

  JobConfig job;
  ParameterTable table;
  SimMemory host;
};

TEST_F(ResidualsTest, WhereTheyAreLostTheyAreZeroAndTheNextWorkerFindsThose) {
  const KeptMemory::Region region = memory();
  Residuals first = of(region);
  leave_all(first, 3);  // before it was elsewhere for some steps
  leave_all(first, 4);
  Residuals second = of(region);
  EXPECT_FALSE(second.whole_for(9));
  second.zero_before(9);
  second.begin(9);
  leave(second, 9, 0);
  Residuals third = of(region);
  ASSERT_TRUE(third.whole_for(9));
  EXPECT_EQ(third.newest(1).front(), 0.0F);
  third.begin(9);
  EXPECT_EQ(third.before(0).front(), 0.0F);

  // In memory of its own nobody finds any.
  Residuals alone(job, table);
  std::ranges::fill(alone.newest(0), 1.0F);
  alone.zero_before(9);
  EXPECT_EQ(alone.newest(0).front(), 0.0F);
}

TEST_F(ResidualsTest, OfAStepThatWasLeftHereBeforeNothingIsTakenForTheStepsOwn) {
  const KeptMemory::Region region = memory();
  Residuals first = of(region);
  leave_all(first, 9);  // what others may have got of that step is not what the next will tell
  Residuals second = of(region);
  second.zero_before(9);
  second.begin(9);
  leave(second, 9, 0);
  leave(second, 9, 1);
  EXPECT_EQ(second.before(0).front(), 0.0F);
  Residuals third = of(region);
  ASSERT_TRUE(third.whole_for(10));
  third.begin(10);
  EXPECT_EQ(third.before(1).front(), 9.0F);
}

TEST_F(ResidualsTest, TheNextWorkerFindsThoseOfTheStepBeforeWhole) {
  for (const std::uint64_t last : {0, 1, 6, 7}) {
    host.forget("worker0");
    {
      Residuals first = of(memory());
      first.start_at(0);
      for (std::uint64_t step = 0; step <= last; ++step) leave_all(first, step);
    }
    Residuals next = of(memory());
    EXPECT_TRUE(next.whole_for(last + 1));
    for (const std::uint32_t tensor : {0, 1}) {
      EXPECT_EQ(std::ranges::count(next.newest(tensor), static_cast<float>(last)),
                std::ssize(next.newest(tensor)));
    }
    next.begin(last + 1);
    EXPECT_EQ(next.before(0).front(), static_cast<float>(last));
    EXPECT_NE(next.before(0).data(), next.newest(0).data());
  }
}

TEST_F(ResidualsTest, AStepThatWasBegunLeavesThoseOfTheOneBeforeAndItsOwnAreNotWhole) {
  {
    Residuals first = of(memory());
    first.start_at(4);
    leave_all(first, 4);
    leave_all(first, 5);
    first.begin(6);
    leave(first, 6, 0);
    first.open(1);  // lost here: of the second tensor something may be written
  }
  Residuals next = of(memory());
  EXPECT_FALSE(next.whole_for(7));
  EXPECT_FALSE(next.whole_for(5));  // written over, for the most part
  EXPECT_TRUE(next.whole_for(6));
  EXPECT_EQ(next.newest(0).back(), 5.0F);
}

/// What was stamped may be all that a worker in the place of this one will find.
TEST_F(ResidualsTest, WhatIsWholeStaysSoWhileItsStepIsDoneAgain) {
  const KeptMemory::Region region = memory();
  Residuals first = of(region);
  leave_all(first, 6);
  leave_all(first, 7);
  Residuals second = of(region);
  ASSERT_TRUE(second.whole_for(7));
  second.begin(7);
  for (const std::uint32_t tensor : {0, 1}) {
    second.open(tensor);
    EXPECT_EQ(second.before(tensor).front(), 6.0F);
    std::ranges::fill(second.newest(tensor), -1.0F);  // half-way
    Residuals third = of(region);
    EXPECT_TRUE(third.whole_for(8));
    EXPECT_EQ(third.newest(tensor).front(), 7.0F);
    std::ranges::fill(second.newest(tensor), 7.0F);
    second.stamp(tensor);
  }
  leave_all(second, 8);
  EXPECT_EQ(second.before(0).back(), 7.0F);
  EXPECT_TRUE(of(region).whole_for(9));
}

TEST_F(ResidualsTest, OfAStepThatWasBegunFromOtherParametersEachChunkKeepsWhatGoesWithItsPacket) {
  const KeptMemory::Region region = memory();
  Residuals first = of(region);
  leave_all(first, 6);
  first.begin(7);
  leave(first, 7, 0);  // of the first tensor all was on its way, of the second nothing
  Residuals second = of(region);
  ASSERT_TRUE(second.whole_for(7));
  second.begin(7);
  for (const std::uint32_t tensor : {0, 1}) {
    second.open(tensor);
    std::ranges::fill(second.newest(tensor), -1.0F);
    second.stamp(tensor);
  }
  second.settle(table, std::vector{table.tensors[0].first_chunk});
  EXPECT_EQ(second.newest(0).front(), 7.0F);
  EXPECT_EQ(second.newest(1).front(), -1.0F);
  EXPECT_TRUE(of(region).whole_for(8));
  Residuals third = of(region);
  ASSERT_TRUE(third.whole_for(7));
  third.begin(7);
  third.open(0);
  std::ranges::fill(third.newest(0), -2.0F);
  third.settle(table, {});
  EXPECT_EQ(third.newest(0).front(), -2.0F) << "the packet that was lost goes with what it left";
}

TEST_F(ResidualsTest, WhereNobodyLeftAnyNoStepButTheFirstCanBegin) {
  Residuals none = of(memory());
  for (const std::uint64_t step : {1, 2, 3}) EXPECT_FALSE(none.whole_for(step));
  Residuals own(job, table);
  EXPECT_FALSE(own.whole_for(1));
}

TEST_F(ResidualsTest, WhoStartsAnewFindsZeros) {
  const KeptMemory::Region region = memory();
  Residuals residuals = of(region);
  leave_all(residuals, 2);
  leave_all(residuals, 3);
  residuals.start_at(4);
  EXPECT_EQ(std::ranges::count(residuals.newest(1), 0.0F), std::ssize(residuals.newest(1)));
  residuals.begin(4);
  EXPECT_EQ(residuals.before(1).back(), 0.0F);
}

TEST_F(ResidualsTest, RanksOfOneWorkerHaveTheirOwn) {
  const KeptMemory::Region region = memory();
  Residuals one = of(region, 0);
  Residuals other = of(region, 1);
  leave_all(one, 8);
  leave_all(other, 9);
  EXPECT_TRUE(one.whole_for(9));
  EXPECT_FALSE(one.whole_for(10));
  EXPECT_TRUE(other.whole_for(10));
}

TEST_F(ResidualsTest, InMemoryOfItsOwnAStepTakesThePlaceOfTheOneBefore) {
  Residuals residuals(job, table);
  residuals.begin(0);
  EXPECT_EQ(residuals.before(0).data(), residuals.newest(0).data());
  residuals.newest(0)[7] = 1.0F;
  residuals.begin(1);
  EXPECT_EQ(residuals.before(0)[7], 1.0F);
}

TEST_F(ResidualsTest, OfWhatTravelsWholeAndOfWhatDoesNotTravelThereIsNone) {
  table.tensors[0].codec = Codec::FP32;
  table.tensors[1].frozen = true;
  EXPECT_TRUE(of(memory()).whole_for(5));
  EXPECT_FALSE(of(memory()).has(0));
  EXPECT_FALSE(of(memory()).has(1));
  EXPECT_TRUE(Residuals().none());
}

}  // namespace
}  // namespace sterna::actors
