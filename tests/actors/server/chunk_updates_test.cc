// A server's arithmetic by itself: the same step in each of the ways in which packets combine.
#include "actors/server/shard/chunk_updates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "actors/parameters/update_rule.h"

namespace sterna::actors {
namespace {

constexpr std::size_t kElements = 1000;

class ChunkUpdatesTest : public testing::Test {
 protected:
  /// All parameters at 2, two ranks that push +1 and -1 by turns, and +1, under a scaler of 0.5;
  /// the learning rate is 1.
  ChunkUpdate update(Combine how) {
    JobConfig job;
    job.optimizer.name = "gd";
    job.optimizer.learning_rate = 1;
    const UpdateRule rule = UpdateRule::make(job).value();
    ChunkUpdate update;
    update.combine = how;
    update.codec = Codec::TERNARY;
    for (const float second : {-0.5F, 0.5F}) {
      std::vector<float> gradient(kElements, 0.5F);
      for (std::size_t i = 1; i < kElements; i += 2) gradient[i] = second;
      const auto planes = make_buffer(kernels::planes_bytes(kElements));
      kernels::ternarize(gradient, 0.5F, {}, 0, planes->bytes(), isa);
      update.packets.push_back(
          {.codec = Codec::TERNARY, .scaler = 0.5F, .count = kElements, .payload = share(planes)});
    }
    update.options = rule.options({}, rule.constants(0));
    update.current = make_buffer(kElements * sizeof(float));
    for (float& value : update.current->as<float>()) value = 2;
    update.next = make_buffer(kElements * sizeof(float));
    update.residual = make_buffer(kElements * sizeof(float));
    return update;
  }
  ChunkUpdate run(ChunkUpdate update) {
    ChunkUpdates updates(isa, pool);
    updates.add(std::move(update));
    updates.run();
    return std::move(updates.take().front());
  }
  static void expect_stepped(const ChunkUpdate& update) {
    EXPECT_EQ(update.next->as<float>()[0], 1.5F);
    EXPECT_EQ(update.next->as<float>()[1], 2.0F);
    EXPECT_EQ(update.next->as<float>()[kElements - 2], 1.5F);
  }

  kernels::Isa isa = kernels::Isa::scalar;
  BufferPool pool;
};

TEST_F(ChunkUpdatesTest, PacketsSumsAndAveragesLeadToTheSameParameters) {
  expect_stepped(run(update(Combine::parameters)));
  expect_stepped(run(update(Combine::sums)));
  const ChunkUpdate averaged = run(update(Combine::average));
  expect_stepped(averaged);
  EXPECT_EQ(averaged.down.codec, Codec::FP32);
  EXPECT_EQ(averaged.down.payload.size(), kElements * sizeof(float));
}

TEST_F(ChunkUpdatesTest, AStepThatIsNotSettledWaitsAsSumsAndIsMadeWithTheNext) {
  ChunkUpdate first = update(Combine::sums);
  first.settles = false;
  first = run(std::move(first));
  ASSERT_EQ(first.unsettled.size(), 1U);
  EXPECT_EQ(first.current->as<float>()[0], 2.0F);
  ChunkUpdate second = update(Combine::sums);
  second.current = first.current;
  second.unsettled = first.unsettled;
  second = run(std::move(second));
  EXPECT_TRUE(second.unsettled.empty());
  EXPECT_EQ(second.next->as<float>()[0], 1.0F);
}

TEST_F(ChunkUpdatesTest, WhatTernarizingTheAverageLeavesIsKept) {
  ChunkUpdate ternary = run(update(Combine::ternary));
  const float sent = 2.0F - ternary.next->as<float>()[0];
  EXPECT_EQ(ternary.residual->as<float>()[0], 0.5F - sent);
  EXPECT_EQ(ternary.down.codec, Codec::TERNARY);
  EXPECT_FALSE(ternary.down.payload.view().empty());
}

TEST_F(ChunkUpdatesTest, ARankIsAVoiceHoweverLargeItsGradient) {
  ChunkUpdate votes = update(Combine::vote);
  votes.packets.clear();
  for (const std::array<float, 4>& gradient :
       {std::array{100.0F, -0.1F, 3.0F, 0.0F}, std::array{-0.1F, -0.2F, -5.0F, 0.0F},
        std::array{-0.1F, 50.0F, 0.0F, 0.0F}}) {
    const auto values = make_buffer(kElements * sizeof(float));
    std::ranges::fill(values->as<float>(), 1.0F);
    std::ranges::copy(gradient, values->as<float>().begin());
    votes.packets.push_back({.codec = Codec::FP32, .count = kElements, .payload = share(values)});
  }
  votes = run(std::move(votes));
  const std::span<float> next = votes.next->as<float>();
  EXPECT_EQ(next[0], 3);  // 2 - 1 * -1
  EXPECT_EQ(next[1], 3);
  EXPECT_EQ(next[2], 2) << "a tie";
  EXPECT_EQ(next[3], 2);
  EXPECT_EQ(next[4], 1);
}

TEST_F(ChunkUpdatesTest, ParametersMayTravelRounded) {
  ChunkUpdate rounded = update(Combine::parameters);
  rounded.rounds = true;
  rounded = run(std::move(rounded));
  EXPECT_EQ(rounded.down.codec, Codec::BF16);
  EXPECT_EQ(rounded.down.payload.size(), kElements * 2);
}

}  // namespace
}  // namespace sterna::actors
