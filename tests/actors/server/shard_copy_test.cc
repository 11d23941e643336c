// A shard's copy in another one: it makes the same versions from then on.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "actors/codecs/codec.h"
#include "actors/server/shard.h"

namespace sterna::actors {
namespace {

class ShardCopy : public ::testing::Test {
 protected:
  ShardCopy() {
    job.steps = 6;
    job.batch = 4;
    job.ranks = 2;
    job.optimizer.name = "momentum";
    job.optimizer.average_decay = 0.9;
    job.evaluation.every = 2;
    job.evaluation.of = EvaluatedOf::both;
    job.gradient.codec = "none";
    job.cpu_isa = "scalar";
  }

  Shard make() const {
    nets::ParameterSpec weights;
    weights.name = "weights";
    weights.shape = {100};
    weights.stddev = 0.1F;
    auto shard = Shard::make(job, ParameterTable({weights}, job, 1), 0, true);
    EXPECT_TRUE(shard.ok());
    shard->start();
    return std::move(shard).value();
  }
  Push push(std::uint32_t rank, std::uint64_t step) const {
    const auto buffer = make_buffer(400);
    for (std::size_t i = 0; i < 100; ++i) {
      buffer->as<float>()[i] = static_cast<float>(i + step + 1) / static_cast<float>(rank + 3);
    }
    Push push;
    push.rank = rank;
    push.step = step;
    push.examples = job.batch;
    push.packets = {
        {.codec = Codec::FP32, .count = 100, .payload = share(buffer), .base_version = step}};
    return push;
  }
  void step(Shard& shard, std::uint64_t step) const {
    for (std::uint32_t rank = 0; rank < 2; ++rank) ASSERT_TRUE(shard.accept(push(rank, step)).ok());
    ChunkUpdates updates = shard.take_ready(1);
    updates.run();
    shard.publish(std::move(updates));
  }
  static ChunkCopy copy_of(Shard& shard) {
    Shard::Copy copy = shard.copy(0);
    copy.rest.values = share(copy.values.made(shard.isa()));
    return std::move(copy.rest);
  }
  static std::vector<float> floats(const Bytes& bytes) {
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  JobConfig job;
};

TEST_F(ShardCopy, MakesTheSameVersionsAndHasTheSameSnapshots) {
  Shard shard = make();
  for (std::uint64_t s = 0; s < 3; ++s) step(shard, s);
  EXPECT_FALSE(*shard.can_be_copied(0, 4));
  EXPECT_TRUE(*shard.can_be_copied(0, 3));
  Shard other = make();
  ASSERT_TRUE(other.take_copy(0, copy_of(shard)).ok());
  other.copied();
  EXPECT_FALSE(other.whole());  // it lacks version 2
  EXPECT_FALSE(other.available(0, 2).ok() && *other.available(0, 2) &&
               floats(other.parameters(0, 2).payload) != floats(shard.parameters(0, 2).payload));
  EXPECT_EQ(floats(other.moving_average(0, 2).payload), floats(shard.moving_average(0, 2).payload));
  EXPECT_EQ(other.first_lacking(0), 3U);
  for (std::uint64_t s = 3; s < 6; ++s) {
    step(shard, s);
    step(other, s);
    EXPECT_TRUE(other.whole());
    EXPECT_EQ(floats(other.parameters(0, s + 1).payload),
              floats(shard.parameters(0, s + 1).payload));
  }
  EXPECT_EQ(floats(other.moving_average(0, 6).payload), floats(shard.moving_average(0, 6).payload));
}

TEST_F(ShardCopy, WhatALostWorkerHadPushedBeforeIsADuplicateThere) {
  Shard shard = make();
  step(shard, 0);
  Shard other = make();
  ASSERT_TRUE(other.take_copy(0, copy_of(shard)).ok());
  other.copied();
  EXPECT_EQ(other.accept(push(1, 0))->verdicts, std::vector{Verdict::DUPLICATE});
  EXPECT_EQ(other.accept(push(1, 1))->verdicts, std::vector{Verdict::ACCEPTED});
  // A rank that got version 2 from the other server is ahead; who is further lies.
  EXPECT_FALSE(other.is_early(0, 1));
  EXPECT_TRUE(other.is_early(0, 2));
  EXPECT_FALSE(other.is_early(0, 3));
  EXPECT_FALSE(other.is_early(7, 2));
}

TEST_F(ShardCopy, NotWhileAnUpdateIsUnderWay) {
  Shard shard = make();
  for (std::uint32_t rank = 0; rank < 2; ++rank) ASSERT_TRUE(shard.accept(push(rank, 0)).ok());
  ChunkUpdates updates = shard.take_ready(1);
  EXPECT_FALSE(*shard.can_be_copied(0, 0));
  updates.run();
  shard.publish(std::move(updates));
  EXPECT_TRUE(*shard.can_be_copied(0, 0));
  EXPECT_FALSE(shard.can_be_copied(1, 0).ok());
  EXPECT_FALSE(shard.can_be_copied(0, 7).ok());
}

/// Whose ranks do not go in step: a version is made of two of three.
class ShardCopyApart : public ShardCopy {
 protected:
  ShardCopyApart() {
    job.ranks = 3;
    job.scheme.quorum = 2;
    job.optimizer.average_decay = 0;
    job.evaluation.of = EvaluatedOf::parameters;
  }
  static void make_versions(Shard& shard) {
    while (true) {
      ChunkUpdates updates = shard.take_ready(1);
      if (updates.empty()) break;
      updates.run();
      shard.publish(std::move(updates));
    }
  }
  Verdict take(Shard& shard, std::uint32_t rank, std::uint64_t number, std::uint64_t base) const {
    Push one = push(rank, number);
    one.packets.front().base_version = base;
    const auto reply = shard.accept(std::move(one));
    EXPECT_TRUE(reply.ok());
    make_versions(shard);
    return reply.ok() ? reply->verdicts.front() : Verdict::DUPLICATE;
  }
};

TEST_F(ShardCopyApart, HasThePacketsThatWaitAndKnowsWhichCounted) {
  Shard shard = make();
  for (const std::uint32_t rank : {2U, 0U}) EXPECT_EQ(take(shard, rank, 0, 0), Verdict::ACCEPTED);
  EXPECT_EQ(take(shard, 1, 0, 0), Verdict::DROPPED);
  EXPECT_EQ(take(shard, 1, 1, 1), Verdict::ACCEPTED);
  Shard other = make();
  ASSERT_TRUE(other.take_copy(0, copy_of(shard)).ok());
  other.copied();
  EXPECT_TRUE(other.whole());
  for (Shard* one : {&shard, &other}) {
    EXPECT_EQ(one->version(0), 1U);
    EXPECT_EQ(one->first_lacking(1), 2U);
    EXPECT_EQ(take(*one, 2, 0, 0), Verdict::DUPLICATE);
    EXPECT_EQ(take(*one, 1, 0, 0), Verdict::DROPPED);
    EXPECT_EQ(take(*one, 0, 1, 1), Verdict::ACCEPTED);
    EXPECT_EQ(one->version(0), 2U);
  }
  EXPECT_EQ(floats(other.parameters(0, 2).payload), floats(shard.parameters(0, 2).payload));
}

TEST_F(ShardCopyApart, WhoseRanksAreNotTheJobsIsRefused) {
  Shard shard = make();
  EXPECT_EQ(take(shard, 1, 0, 0), Verdict::ACCEPTED);
  const ChunkCopy right = copy_of(shard);
  ASSERT_EQ(right.waiting.size(), 1U);
  const auto refused = [&](const std::function<void(ChunkCopy&)>& change) {
    ChunkCopy wrong = right;
    change(wrong);
    return !make().take_copy(0, wrong).ok();
  };
  EXPECT_TRUE(refused([](ChunkCopy& copy) { copy.judged.pop_back(); }));
  EXPECT_TRUE(refused([](ChunkCopy& copy) { copy.taken.clear(); }));
  EXPECT_TRUE(refused([](ChunkCopy& copy) { copy.waiting.front().rank = 3; }));
  EXPECT_TRUE(refused([](ChunkCopy& copy) { copy.waiting.push_back(copy.waiting.front()); }));
  EXPECT_TRUE(refused([](ChunkCopy& copy) { copy.waiting.front().packet.chunk = 1; }));
  EXPECT_TRUE(refused([](ChunkCopy& copy) { copy.waiting.front().packet.count = 99; }));
  EXPECT_TRUE(refused([](ChunkCopy& copy) { copy.waiting.front().packet.scaler = NAN; }));
  EXPECT_TRUE(
      refused([](ChunkCopy& copy) { copy.waiting.front().packet.payload = copy_bytes("short"); }));
  EXPECT_TRUE(refused([](ChunkCopy& copy) {
    copy.waiting.front().packet.codec = Codec::TERNARY;  // of another length
  }));
  EXPECT_FALSE(refused([](ChunkCopy&) {}));
}

TEST_F(ShardCopyApart, APushWaitsForTheVersionThatItIsFromWherePacketsLeadThere) {
  Shard shard = make();
  Push ahead = push(0, 1);
  ahead.packets.front().base_version = 1;
  EXPECT_EQ(shard.behind(ahead), std::nullopt) << "nothing leads there: it is to be refused";
  for (std::uint32_t rank = 0; rank < 2; ++rank) ASSERT_TRUE(shard.accept(push(rank, 0)).ok());
  EXPECT_EQ(shard.behind(ahead), 0U);
  ahead.packets.front().base_version = 2;
  EXPECT_EQ(shard.behind(ahead), std::nullopt);
  ahead.packets.front().base_version = 1;
  make_versions(shard);
  EXPECT_EQ(shard.behind(ahead), std::nullopt);
}

TEST_F(ShardCopy, OfSomethingElseIsRefused) {
  Shard shard = make();
  const ChunkCopy right = copy_of(shard);
  ChunkCopy wrong = right;
  wrong.values = copy_bytes("short");
  EXPECT_FALSE(make().take_copy(0, wrong).ok());
  wrong = right;
  wrong.residual = right.values;
  EXPECT_FALSE(make().take_copy(0, wrong).ok());
  wrong = right;
  wrong.version = job.steps + 1;
  EXPECT_FALSE(make().take_copy(0, wrong).ok());
  wrong = right;
  wrong.snapshots.resize(Shard::kMaxSnapshots + 1);
  EXPECT_FALSE(make().take_copy(0, wrong).ok());
  EXPECT_TRUE(make().take_copy(0, right).ok());
}

}  // namespace
}  // namespace sterna::actors
