#include "actors/server/shard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "actors/codecs/codec.h"
#include "kernels/trits/ternary.h"

namespace sterna::actors {
namespace {

/// Two ranks, one ternary tensor (two chunks) and one fp32 tensor.
class ShardTest : public ::testing::Test {
 protected:
  ShardTest() {
    job.steps = 100;
    job.batch = 4;
    job.ranks = 2;
    job.seed = 7;
    job.optimizer.name = "gd";
    job.optimizer.learning_rate = 1;
    job.optimizer.weight_decay = 0;
    job.evaluation.every = 0;
    job.gradient.min_size = 100;
    job.cpu_isa = "scalar";
  }

  static std::vector<nets::ParameterSpec> specs() {
    nets::ParameterSpec large;
    large.name = "large";
    large.shape = {kUnitElements * kUnitsPerChunk + 1000};
    large.stddev = 0.1F;
    nets::ParameterSpec small;
    small.name = "small";
    small.shape = {10};
    small.role = nets::Role::bias;
    return {large, small};
  }

  Shard make(bool snapshots = false) {
    auto shard = Shard::make(job, ParameterTable(specs(), job, 1), 0, snapshots);
    EXPECT_TRUE(shard.ok());
    shard->start();
    return std::move(shard).value();
  }

  /// A gradient of `value` everywhere (ternary: all trits 1 with that scaler).
  static Packet packet(const Shard& shard, std::uint32_t chunk, float value) {
    const TableChunk& place = shard.table().chunks[chunk];
    const TableTensor& tensor = shard.table().tensors[place.tensor];
    const auto buffer = make_buffer(codec_of(tensor.codec).room({.count = place.count}));
    Packet packet{
        .chunk = chunk, .codec = tensor.codec, .scaler = 1, .count = place.count, .payload = {}};
    if (packet.codec == Codec::TERNARY) {
      const std::vector<float> ones(place.count, value);
      kernels::ternarize(ones, value, {}, place.first, buffer->bytes(), kernels::Isa::scalar);
      packet.scaler = value;
    } else {
      for (float& x : buffer->as<float>()) x = value;
    }
    packet.payload = share(buffer);
    return packet;
  }

  Push push(const Shard& shard, std::uint32_t rank, std::uint64_t step, float value = 0.5F) const {
    Push push;
    push.rank = rank;
    push.step = step;
    push.examples = job.batch;
    for (std::uint32_t c = 0; c < shard.table().chunks.size(); ++c) {
      push.packets.push_back(packet(shard, c, value));
      push.packets.back().base_version = step;
    }
    return push;
  }

  static void update(Shard& shard) {
    while (true) {
      ChunkUpdates updates = shard.take_ready(1);
      if (updates.empty()) return;
      updates.run();
      shard.publish(std::move(updates));
    }
  }

  static std::vector<float> values(Shard& shard, std::uint32_t chunk, std::uint64_t version) {
    const Bytes bytes = shard.parameters(chunk, version).payload;
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  static std::vector<float> averages(const Shard& shard, std::uint32_t chunk,
                                     std::uint64_t version) {
    const Bytes bytes = shard.moving_average(chunk, version).payload;
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  static std::vector<Verdict> all(Verdict verdict) { return std::vector<Verdict>(3, verdict); }

  JobConfig job;
};

TEST_F(ShardTest, AVersionIsMadeWhenTheLastRankHasPushedAndAverages) {
  Shard shard = make();
  const std::vector<float> before = values(shard, 0, 0);
  EXPECT_EQ(shard.accept(push(shard, 1, 0, 0.25F))->verdicts, all(Verdict::ACCEPTED));
  update(shard);
  EXPECT_EQ(shard.version(0), 0U);
  EXPECT_FALSE(*shard.available(0, 1));
  EXPECT_EQ(shard.accept(push(shard, 0, 0, 0.75F))->verdicts, all(Verdict::ACCEPTED));
  update(shard);
  for (std::uint32_t c = 0; c < 3; ++c) EXPECT_EQ(shard.version(c), 1U);
  EXPECT_TRUE(*shard.available(0, 1));
  EXPECT_EQ(values(shard, 0, 1)[5], before[5] - 0.5F);
  EXPECT_EQ(values(shard, 2, 1)[9], -0.5F);
}

TEST_F(ShardTest, TheStartDoesNotDependOnTheNumberOfServers) {
  Shard one = make();
  for (std::uint32_t index = 0; index < 3; ++index) {
    auto part = Shard::make(job, ParameterTable(specs(), job, 3), index, false);
    ASSERT_TRUE(part.ok());
    for (std::uint32_t half = 0; half < 2; ++half) part->start(half, 2);
    for (std::uint32_t c = 0; c < part->table().chunks.size(); ++c) {
      if (!part->holds(c)) continue;
      const TableChunk& place = part->table().chunks[c];
      const std::vector<float> mine = values(*part, c, 0);
      for (std::uint64_t i = 0; i < place.count; i += 997) {
        const std::uint64_t at = place.first + i;
        const std::uint64_t per = kUnitElements * kUnitsPerChunk;
        const auto chunk = static_cast<std::uint32_t>(place.tensor == 1 ? 2 : at / per);
        EXPECT_EQ(mine[i], values(one, chunk, 0)[place.tensor == 1 ? at : at % per]);
      }
      if (place.count > 2000) break;  // values() copies a chunk a time
    }
  }
}

TEST_F(ShardTest, TheFirstPushOfAnIdentityWinsAndLaterOnesAreDuplicates) {
  Shard shard = make();
  EXPECT_EQ(shard.accept(push(shard, 0, 0, 0.5F))->verdicts, all(Verdict::ACCEPTED));
  EXPECT_EQ(shard.accept(push(shard, 0, 0, 8.0F))->verdicts, all(Verdict::DUPLICATE));
  EXPECT_EQ(shard.accept(push(shard, 1, 0, 0.5F))->verdicts, all(Verdict::ACCEPTED));
  // Complete, and not yet updated: still a duplicate.
  EXPECT_EQ(shard.accept(push(shard, 1, 0, 8.0F))->verdicts, all(Verdict::DUPLICATE));
  update(shard);
  EXPECT_EQ(values(shard, 2, 1)[0], -0.5F);
}

TEST_F(ShardTest, APushAfterItsStepIsADuplicateIfItWasCountedAndDroppedIfNobodyRemembers) {
  Shard shard = make();
  for (std::uint64_t step = 0; step < 3; ++step) {
    for (const std::uint32_t rank : {0U, 1U}) {
      EXPECT_EQ(shard.accept(push(shard, rank, step))->verdicts, all(Verdict::ACCEPTED));
    }
    update(shard);
  }
  EXPECT_EQ(shard.accept(push(shard, 1, 2))->verdicts, all(Verdict::DUPLICATE));
  EXPECT_EQ(shard.accept(push(shard, 1, 0))->verdicts, all(Verdict::DROPPED));
  EXPECT_EQ(shard.version(0), 3U);
}

TEST_F(ShardTest, OneChunkTwiceInOnePushIsCountedOnce) {
  Shard shard = make();
  Push twice = push(shard, 0, 0);
  twice.packets.push_back(packet(shard, 0, 3.0F));
  EXPECT_FALSE(shard.accept(twice).ok());  // more packets than there are chunks
  twice.packets.erase(twice.packets.begin());
  EXPECT_EQ(shard.accept(twice)->verdicts, all(Verdict::ACCEPTED));
  twice = push(shard, 1, 0);
  twice.packets[2] = packet(shard, 0, 3.0F);
  EXPECT_EQ(shard.accept(twice)->verdicts,
            (std::vector<Verdict>{Verdict::ACCEPTED, Verdict::ACCEPTED, Verdict::DUPLICATE}));
}

TEST_F(ShardTest, ArrivalOrderDoesNotChangeABit) {
  Shard a = make();
  Shard b = make();
  const Push first = push(a, 0, 0, 0.1F);
  const Push second = push(a, 1, 0, 0.7F);
  EXPECT_TRUE(a.accept(first).ok() && a.accept(second).ok());
  EXPECT_TRUE(b.accept(second).ok() && b.accept(first).ok());
  update(a);
  update(b);
  for (std::uint32_t c = 0; c < 3; ++c) EXPECT_EQ(values(a, c, 1), values(b, c, 1));
}

TEST_F(ShardTest, AHostilePushIsRefusedWholeAndChangesNothing) {
  Shard shard = make();
  const auto refused = [&](auto&& spoil) {
    Push bad = push(shard, 0, 0);
    spoil(bad);
    return !shard.accept(std::move(bad)).ok();
  };
  EXPECT_TRUE(refused([](Push& p) { p.rank = 2; }));
  EXPECT_TRUE(refused([](Push& p) { p.epoch = 1; }));
  const auto from = [](Push& p, std::uint64_t version) {
    for (Packet& packet : p.packets) packet.base_version = version;
  };
  EXPECT_TRUE(refused([&](Push& p) { from(p, p.step = 1); }));
  EXPECT_TRUE(refused([&](Push& p) { from(p, p.step = 100); }));
  EXPECT_TRUE(refused([&](Push& p) { from(p, 1); }));
  EXPECT_TRUE(refused([](Push& p) { p.examples = 5; }));
  EXPECT_TRUE(refused([](Push& p) { p.kind = PayloadKind::PARAMETERS; }));
  EXPECT_TRUE(refused([](Push& p) { p.packets.back().chunk = 3; }));
  EXPECT_TRUE(refused([](Push& p) { p.packets.back().chunk = 0xFFFFFFFF; }));
  EXPECT_TRUE(refused([](Push& p) { p.packets.back().codec = Codec::TERNARY; }));
  EXPECT_TRUE(refused([](Push& p) { p.packets.back().count = 11; }));
  EXPECT_TRUE(refused([](Push& p) { p.packets.back().payload = {}; }));
  EXPECT_TRUE(refused([](Push& p) { p.packets[0].payload = p.packets[1].payload; }));
  for (const float scaler : {-1.0F, std::numeric_limits<float>::infinity(), std::nanf("")}) {
    EXPECT_TRUE(refused([&](Push& p) { p.packets[1].scaler = scaler; }));
  }
  EXPECT_TRUE(refused([](Push& p) {  // negative where it is not nonzero
    const auto planes = make_buffer(p.packets[1].payload.size());
    planes->data()[64] = std::byte{1};
    p.packets[1].payload = share(planes);
  }));
  EXPECT_TRUE(refused([](Push& p) {
    const auto values = make_buffer(40);
    values->as<float>()[3] = std::nanf("");
    p.packets[2].payload = share(values);
  }));
  EXPECT_EQ(shard.accept(push(shard, 0, 0))->verdicts, all(Verdict::ACCEPTED));
}

TEST_F(ShardTest, WhereEachPushMakesAVersionNoneIsAppliedTwiceHoweverLateItComesAgain) {
  job.scheme.name = "async";
  Shard shard = make();
  const Push again = push(shard, 0, 0);
  EXPECT_EQ(shard.accept(again)->verdicts, all(Verdict::ACCEPTED));
  EXPECT_FALSE(shard.accept(push(shard, 0, 1)).ok()) << "from a version that nobody has";
  Push hasty = push(shard, 0, 1);
  for (Packet& packet : hasty.packets) packet.base_version = 0;
  EXPECT_FALSE(shard.accept(hasty).ok()) << "the one before waits to be applied";
  update(shard);
  for (std::uint64_t step = 1; step < 6; ++step) {
    EXPECT_EQ(shard.accept(push(shard, 0, step))->verdicts, all(Verdict::ACCEPTED));
    update(shard);
  }
  EXPECT_EQ(shard.accept(again)->verdicts, all(Verdict::DUPLICATE));
  update(shard);
  EXPECT_EQ(shard.version(0), 6U);
}

TEST_F(ShardTest, SaysHowManyVersionsOldEachPacketIsWhenItMakesItsOwn) {
  job.scheme.name = "async";
  job.ranks = 3;
  Shard shard = make();
  const auto staleness = [&](const Push& one) { return shard.accept(one)->staleness; };
  const std::size_t chunks = push(shard, 0, 0).packets.size();
  const auto of_all = [&](std::uint32_t each) { return std::vector<std::uint32_t>(chunks, each); };
  EXPECT_EQ(staleness(push(shard, 0, 0)), of_all(0));
  EXPECT_EQ(staleness(push(shard, 1, 0)), of_all(1)) << "the other's version comes first";
  update(shard);
  update(shard);
  Push late = push(shard, 2, 0);
  for (Packet& packet : late.packets) packet.base_version = 0;
  EXPECT_EQ(staleness(late), of_all(2));
  EXPECT_EQ(staleness(late), of_all(0)) << "it counts once";
  job.scheme.name = "sync";
  Shard together = make();
  EXPECT_TRUE(together.accept(push(together, 0, 0))->staleness.empty());
}

TEST_F(ShardTest, ARankThatBeginsAPushAnewHearsWhatBecameOfEachOfItsPackets) {
  job.ranks = 3;
  job.scheme.quorum = 2;
  Shard shard = make();
  EXPECT_EQ(shard.first_lacking(2), 0U);
  Push part = push(shard, 2, 0);
  part.packets.pop_back();
  EXPECT_EQ(shard.accept(part)->verdicts.front(), Verdict::ACCEPTED);
  EXPECT_EQ(shard.first_lacking(2), 0U);
  // The last chunk's version is made of the others' packets, and those of all others of its, too.
  for (const std::uint32_t rank : {0U, 1U}) EXPECT_TRUE(shard.accept(push(shard, rank, 0)).ok());
  update(shard);
  // From the newest parameters, which the lost worker had not.
  Push anew = push(shard, 2, 0);
  for (Packet& packet : anew.packets) packet.base_version = 1;
  const std::vector<Verdict> verdicts = shard.accept(anew)->verdicts;
  EXPECT_EQ(verdicts[0], Verdict::DUPLICATE);
  EXPECT_EQ(verdicts.back(), Verdict::ACCEPTED);
  EXPECT_EQ(shard.first_lacking(2), 1U);
}

TEST_F(ShardTest, WhatCameTooLateOfALostWorkerDoesNotCountWhenItIsSaidAgain) {
  job.ranks = 3;
  job.scheme.quorum = 2;
  Shard shard = make();
  for (const std::uint32_t rank : {0U, 1U}) EXPECT_TRUE(shard.accept(push(shard, rank, 0)).ok());
  update(shard);
  EXPECT_EQ(shard.accept(push(shard, 2, 0))->verdicts, all(Verdict::DROPPED));
  EXPECT_EQ(shard.first_lacking(2), 1U) << "it was judged";
  Push anew = push(shard, 2, 0);
  for (Packet& packet : anew.packets) packet.base_version = 1;
  EXPECT_EQ(shard.accept(anew)->verdicts, all(Verdict::DROPPED)) << "its rank may want it back";
}

TEST_F(ShardTest, WhereRanksBeginAnewOnlyTheNewestVersionIsKept) {
  job.scheme.name = "async";
  Shard shard = make();
  EXPECT_TRUE(shard.accept(push(shard, 0, 0)).ok());
  update(shard);
  EXPECT_FALSE(shard.available(0, 0).ok());
  EXPECT_EQ(shard.first_lacking(0), 1U);
  EXPECT_EQ(shard.first_lacking(1), 0U);
}

TEST_F(ShardTest, TheNewestIsThereOnceItHasAllThatTheAskerHasPushed) {
  job.scheme.name = "async";
  Shard shard = make();
  const auto there = [&](std::uint32_t rank, std::uint64_t pushes, std::uint64_t version = 0) {
    return *shard.newest_available(
        0, {.version = version, .chunks = {0}, .newest = true, .rank = rank, .pushes = pushes});
  };
  EXPECT_TRUE(there(0, 0));
  EXPECT_FALSE(there(0, 1));
  EXPECT_TRUE(shard.accept(push(shard, 0, 0)).ok());
  EXPECT_FALSE(there(0, 1)) << "it waits to be applied";
  EXPECT_TRUE(there(1, 0));
  update(shard);
  EXPECT_TRUE(there(0, 1));
  EXPECT_FALSE(there(1, 0, 2)) << "a later version";
  EXPECT_FALSE(shard.newest_available(0, {.chunks = {0}, .newest = true, .rank = 2}).ok());
  EXPECT_FALSE(shard.newest_available(9, {.chunks = {9}, .newest = true}).ok());
}

TEST_F(ShardTest, WhoIsTooLateForAVersionDoesNotGetTheOneBeforeAgain) {
  job.ranks = 3;
  job.scheme.quorum = 2;
  Shard shard = make();
  const auto there = [&](std::uint32_t rank, std::uint64_t pushes) {
    return *shard.newest_available(0,
                                   {.chunks = {0}, .newest = true, .rank = rank, .pushes = pushes});
  };
  for (const std::uint32_t rank : {0U, 1U}) EXPECT_TRUE(shard.accept(push(shard, rank, 0)).ok());
  EXPECT_EQ(shard.accept(push(shard, 2, 0))->verdicts, all(Verdict::DROPPED));
  EXPECT_FALSE(there(2, 1)) << "the next is complete, and not made yet";
  ChunkUpdates updates = shard.take_ready(1);
  EXPECT_FALSE(there(2, 1)) << "it is being made";
  updates.run();
  shard.publish(std::move(updates));
  EXPECT_TRUE(there(2, 1));
}

TEST_F(ShardTest, WeightsAreOfEachPacket) {
  job.scheme.name = "async";
  job.scheme.staleness_weight = StalenessWeight::inverse;
  Shard shard = make();
  for (const std::uint32_t rank : {0U, 1U}) EXPECT_TRUE(shard.accept(push(shard, rank, 0)).ok());
  update(shard);
  EXPECT_EQ(values(shard, 2, 2)[0], -0.75F) << "0.5, and half of 0.5 of one version before";
}

TEST_F(ShardTest, ImpossibleVersionsAreRefused) {
  Shard shard = make();
  for (const std::uint32_t rank : {0U, 1U}) EXPECT_TRUE(shard.accept(push(shard, rank, 0)).ok());
  update(shard);
  EXPECT_FALSE(shard.available(0, 101).ok());
  EXPECT_FALSE(shard.available(3, 1).ok());
  EXPECT_FALSE(*shard.available(0, 100));
}

TEST_F(ShardTest, TheVersionBeforeIsThereUntilAllRanksHaveComputedFromTheNewest) {
  Shard shard = make();
  const std::vector<float> first = values(shard, 0, 0);
  for (const std::uint32_t rank : {0U, 1U}) EXPECT_TRUE(shard.accept(push(shard, rank, 0)).ok());
  update(shard);
  EXPECT_TRUE(*shard.available(0, 0));
  EXPECT_EQ(values(shard, 0, 0), first);
  EXPECT_TRUE(shard.accept(push(shard, 0, 1)).ok());
  EXPECT_EQ(values(shard, 0, 0), first);
  EXPECT_TRUE(shard.accept(push(shard, 1, 1)).ok());
  update(shard);
  EXPECT_FALSE(shard.available(0, 0).ok());
  EXPECT_TRUE(*shard.available(0, 1));
}

TEST_F(ShardTest, WhatIsGoneWasThereAndWhatNeverWillBeIsAFault) {
  Shard shard = make();
  for (std::uint64_t step = 0; step < 3; ++step) {
    for (const std::uint32_t rank : {0U, 1U}) EXPECT_TRUE(shard.accept(push(shard, rank, step)));
    update(shard);
  }
  EXPECT_EQ(shard.available(0, 1).error().code, Errc::not_found);
  EXPECT_EQ(shard.available(0, 101).error().code, Errc::invalid_argument);
  EXPECT_EQ(shard.available(3, 1).error().code, Errc::invalid_argument);
}

TEST_F(ShardTest, OnlyTheNewestIsThereWhereWorkersDoNotComeAgain) {
  job.restarts_workers = false;
  Shard shard = make();
  for (const std::uint32_t rank : {0U, 1U}) EXPECT_TRUE(shard.accept(push(shard, rank, 0)).ok());
  update(shard);
  EXPECT_FALSE(shard.available(0, 0).ok());
}

TEST_F(ShardTest, KnowsTheEarliestStepOfWhichAPacketOfARankIsMissing) {
  Shard shard = make();
  EXPECT_EQ(shard.first_lacking(1), 0U);
  Push part = push(shard, 1, 0);
  part.packets.pop_back();
  EXPECT_TRUE(shard.accept(part).ok());
  EXPECT_EQ(shard.first_lacking(1), 0U);
  EXPECT_TRUE(shard.accept(push(shard, 1, 0)).ok());
  EXPECT_EQ(shard.first_lacking(1), 1U);
  EXPECT_EQ(shard.first_lacking(0), 0U);
  EXPECT_TRUE(shard.accept(push(shard, 0, 0)).ok());
  // While the version is being made of them, too.
  ChunkUpdates updates = shard.take_ready(1);
  EXPECT_EQ(shard.first_lacking(1), 1U);
  updates.run();
  shard.publish(std::move(updates));
  EXPECT_EQ(shard.first_lacking(0), 1U);
}

TEST_F(ShardTest, ConcludedAreAllVersionsUpToOne) {
  job.evaluation.every = 1;
  Shard shard = make(true);
  for (std::uint64_t step = 0; step < 4; ++step) {
    for (const std::uint32_t rank : {0U, 1U}) {
      EXPECT_TRUE(shard.accept(push(shard, rank, step)).ok());
    }
    update(shard);
  }
  EXPECT_TRUE(*shard.available(2, 1));
  shard.conclude(2);
  EXPECT_FALSE(shard.available(2, 1).ok());
  EXPECT_FALSE(shard.available(2, 2).ok());
  EXPECT_TRUE(*shard.available(2, 3));
}

TEST_F(ShardTest, SnapshotsStayUntilTheyAreReleasedAndHoldTrainingBackBeforeTheyPileUp) {
  job.evaluation.every = 1;
  Shard shard = make(true);
  for (std::uint64_t step = 0; step < Shard::kMaxSnapshots; ++step) {
    for (const std::uint32_t rank : {0U, 1U}) {
      EXPECT_TRUE(shard.accept(push(shard, rank, step)).ok());
    }
    update(shard);
  }
  EXPECT_TRUE(*shard.available(2, 1));
  EXPECT_EQ(values(shard, 2, 1)[0], -0.5F);
  EXPECT_EQ(values(shard, 2, 4)[0], -2.0F);
  for (const std::uint32_t rank : {0U, 1U}) {
    EXPECT_TRUE(shard.accept(push(shard, rank, Shard::kMaxSnapshots)).ok());
  }
  update(shard);
  EXPECT_EQ(shard.version(2), Shard::kMaxSnapshots);
  EXPECT_TRUE(shard.waits_for_evaluator());
  shard.release(2);
  EXPECT_FALSE(shard.available(2, 2).ok());
  EXPECT_TRUE(*shard.available(2, 3));
  update(shard);
  EXPECT_EQ(shard.version(2), Shard::kMaxSnapshots + 1);
  EXPECT_FALSE(shard.waits_for_evaluator());
}

TEST_F(ShardTest, AVersionIsReservedForTheEvaluatorUntilAnUpdateOfAnyChunkHasBegunToMakeIt) {
  job.evaluation.every_seconds = 1;
  Shard shard = make(true);
  const auto reserved = [&](std::uint64_t version) { return shard.reserve(version)->reserved; };
  EXPECT_TRUE(reserved(1));
  for (const std::uint32_t rank : {0U, 1U}) EXPECT_TRUE(shard.accept(push(shard, rank, 0)).ok());
  ChunkUpdates first = shard.take_ready(1);
  ASSERT_EQ(first.chunks().size(), 1U);
  EXPECT_FALSE(reserved(1)) << "of one chunk it is being made";
  EXPECT_EQ(shard.reserve(1)->first, 2U);
  EXPECT_TRUE(reserved(3));
  first.run();
  shard.publish(std::move(first));
  update(shard);
  for (std::uint64_t step = 1; step < 5; ++step) {
    for (const std::uint32_t rank : {0U, 1U}) {
      EXPECT_TRUE(shard.accept(push(shard, rank, step)).ok());
    }
    update(shard);
  }
  EXPECT_EQ(shard.version(2), 5U) << "nobody waits";
  for (std::uint32_t c = 0; c < 3; ++c) {
    EXPECT_TRUE(*shard.available(c, 1));
    EXPECT_FALSE(shard.available(c, 2).ok());
    EXPECT_TRUE(*shard.available(c, 3));
  }
  shard.release(1);
  EXPECT_FALSE(shard.available(0, 1).ok());
  EXPECT_TRUE(*shard.available(0, 3)) << "only that one";
}

TEST_F(ShardTest, OfAveragesAndParametersItKeepsWhatTheEvaluatorTakes) {
  job.evaluation.every = 2;
  job.optimizer.average_decay = 0.5;
  for (const EvaluatedOf of : {EvaluatedOf::averages, EvaluatedOf::parameters, EvaluatedOf::both}) {
    job.evaluation.of = of;
    Shard shard = make(true);
    for (std::uint64_t step = 0; step < 4; ++step) {  // of 3 the version before is there anyway
      for (const std::uint32_t rank : {0U, 1U}) {
        EXPECT_TRUE(shard.accept(push(shard, rank, step)).ok());
      }
      update(shard);
    }
    EXPECT_EQ(shard.available(0, 2).ok(), of != EvaluatedOf::averages);
    EXPECT_EQ(shard.available(0, 2, PayloadKind::MOVING_AVERAGE).ok(),
              of != EvaluatedOf::parameters);
  }
}

/// A job whose workers step from sums.
class AveragingShardTest : public ShardTest {
 protected:
  AveragingShardTest() {
    job.gradient.scaler = ScalerRule::shared;
    job.gradient.down = Down::average;
    job.gradient.check_every = 7;
    job.restarts_workers = false;
  }
  void step(Shard& shard, std::uint64_t step, float value = 0.5F) const {
    for (const std::uint32_t rank : {0U, 1U}) {
      EXPECT_EQ(shard.accept(push(shard, rank, step, value))->verdicts, all(Verdict::ACCEPTED));
    }
    update(shard);
  }
};

TEST_F(AveragingShardTest, SettlesItsStepsWhereAVersionIsWantedAndIsThenWhereParametersDownAre) {
  job.evaluation.every = 5;
  Shard averages = make(true);
  job.gradient.down = Down::parameters;
  Shard parameters = make(true);
  for (std::uint64_t s = 0; s < 30; ++s) {
    const float value = 0.25F * static_cast<float>(1 + s % 3);
    step(averages, s, value);
    step(parameters, s, value);
    averages.release(s - s % 5);
    parameters.release(s - s % 5);
    for (std::uint32_t c = 0; c < 3; ++c) {
      ASSERT_TRUE(*averages.available(c, s + 1, PayloadKind::GRADIENT));
      // The last is as fp32, which leaves nothing to settle.
      const bool settled = (s + 1) % 5 == 0 || (s + 1) % 7 == 0 || c == 2 ||
                           (s + 1 + c) % Shard::kMostUnsettled == 0;
      ASSERT_EQ(averages.available(c, s + 1).ok(), settled) << s << " " << c;
      if (settled) {
        ASSERT_EQ(values(averages, c, s + 1), values(parameters, c, s + 1)) << s;
      }
    }
  }
}

/// Of a job whose workers come again.
TEST_F(AveragingShardTest, HasTheStateOfTheNewestVersionAndOfTheOneBefore) {
  job.optimizer.name = "momentum";
  job.evaluation.every = 5;
  job.optimizer.average_decay = 0.5;
  job.restarts_workers = true;
  Shard shard = make(true);
  std::vector<std::vector<float>> before(3);  // by chunk
  const auto state = [&](std::uint32_t chunk, std::uint64_t version) {
    const auto made = shard.state(chunk, version).made(kernels::Isa::scalar);
    const std::span<const float> values = made->as<float>();
    return std::vector<float>(values.begin(), values.end());
  };
  job.gradient.down = Down::parameters;
  Shard settled = make(true);  // has each version's
  for (std::uint64_t s = 0; s < 30; ++s) {
    step(shard, s, 0.25F * static_cast<float>(1 + s % 3));
    step(settled, s, 0.25F * static_cast<float>(1 + s % 3));
    shard.release(s - s % 5);
    settled.release(s - s % 5);
    for (std::uint32_t c = 0; c < 3; ++c) {
      ASSERT_TRUE(*shard.available(c, s + 1, PayloadKind::STATE));
      ASSERT_TRUE(*shard.available(c, s, PayloadKind::STATE));
      ASSERT_FALSE(*shard.available(c, s + 2, PayloadKind::STATE));
      ASSERT_EQ(s > 0 && shard.available(c, s - 1, PayloadKind::STATE).ok(), false);
      if (s > 0) {
        ASSERT_EQ(state(c, s), before[c]) << s << " " << c;
      }
      before[c] = state(c, s + 1);
      const std::vector<float> parameters = values(settled, c, s + 1);
      ASSERT_EQ(before[c].size(), 2 * parameters.size());
      ASSERT_TRUE(std::ranges::equal(std::span(before[c]).first(parameters.size()), parameters));
    }
  }
}

TEST_F(AveragingShardTest, NoWorkerGoesOnFromAStateWhereNoneComesAgain) {
  Shard shard = make(true);
  EXPECT_FALSE(shard.available(0, 0, PayloadKind::STATE).ok());
}

TEST_F(AveragingShardTest, AnEvaluatedVersionIsThereWhileTheNextIsBeingMade) {
  job.evaluation.every = 2;
  Shard shard = make(true);
  for (std::uint64_t s = 0; s < 2; ++s) step(shard, s);
  const std::vector<float> before = values(shard, 0, 2);
  for (const std::uint32_t rank : {0U, 1U}) EXPECT_TRUE(shard.accept(push(shard, rank, 2)).ok());
  ChunkUpdates updates = shard.take_ready(1U << 30);
  ASSERT_EQ(updates.chunks().size(), 3U);
  EXPECT_TRUE(*shard.available(0, 2));
  EXPECT_EQ(values(shard, 0, 2), before);
  updates.run();
  EXPECT_EQ(values(shard, 0, 2), before);
  shard.publish(std::move(updates));
  EXPECT_EQ(values(shard, 0, 2), before);
}

TEST_F(ShardTest, MovingAveragesAreWhatIsKeptForTheEvaluatorAndStepsLeaveThoseAlone) {
  job.evaluation.every = 2;
  job.optimizer.average_decay = 0.5;
  Shard shard = make(true);
  std::vector<double> expected(7);  // the bias of chunk 2, which starts at 0
  for (std::uint64_t step = 0; step < 6; ++step) {
    for (const std::uint32_t rank : {0U, 1U}) {
      EXPECT_TRUE(shard.accept(push(shard, rank, step)).ok());
    }
    update(shard);
    const auto n = static_cast<double>(step);
    const double decay = std::min(0.5, (1 + n) / (10 + n));
    expected[step + 1] = decay * expected[step] - (1 - decay) * 0.5 * (n + 1);
    EXPECT_EQ(values(shard, 2, step + 1)[0], -0.5F * static_cast<float>(step + 1));
    for (std::uint64_t v = 2; v <= step + 1; v += 2) {
      ASSERT_TRUE(*shard.available(2, v, PayloadKind::MOVING_AVERAGE));
      EXPECT_NEAR(averages(shard, 2, v)[0], expected[v], 1e-6) << v;
    }
  }
  EXPECT_FALSE(shard.available(2, 4).ok());  // nobody keeps the parameters
  EXPECT_FALSE(shard.available(2, 5, PayloadKind::MOVING_AVERAGE).ok());
  shard.release(2);
  EXPECT_FALSE(shard.available(2, 2, PayloadKind::MOVING_AVERAGE).ok());
}

TEST_F(AveragingShardTest, AVersionThatNobodyKeepsIsAnErrorWhileTheNextIsBeingMade) {
  Shard shard = make();
  for (const std::uint32_t rank : {0U, 1U}) EXPECT_TRUE(shard.accept(push(shard, rank, 0)).ok());
  const ChunkUpdates updates = shard.take_ready(1U << 30);
  EXPECT_FALSE(shard.available(0, 0).ok());
}

TEST_F(AveragingShardTest, WhatWasLentStaysAsItWas) {
  Shard shard = make();
  const ParameterChunk lent = shard.parameters(0, 0);
  const std::vector<std::byte> before(lent.payload.view().begin(), lent.payload.view().end());
  for (std::uint64_t s = 0; s < 9; ++s) step(shard, s);
  EXPECT_TRUE(std::ranges::equal(lent.payload.view(), before));
}

TEST_F(ShardTest, AdamKeepsItsSlotsAndCorrectsTheirBiasFromStepToStepUnderASchedule) {
  job.optimizer.name = "adam";
  job.optimizer.schedule = "polynomial";
  job.optimizer.numbers["power"] = 1;
  job.optimizer.learning_rate = 0.125;
  job.steps = 10;
  Shard shard = make();
  double w = values(shard, 2, 0)[9];
  double m = 0;
  double v = 0;
  for (std::uint64_t step = 0; step < 5; ++step) {
    const double g = step % 2 == 0 ? 0.5 : 0.25;
    for (const std::uint32_t rank : {0U, 1U}) {
      EXPECT_TRUE(shard.accept(push(shard, rank, step, static_cast<float>(g))).ok());
    }
    update(shard);
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    const auto t = static_cast<double>(step + 1);
    const double rate = 0.125 * (1 - static_cast<double>(step) / 10);
    w -= rate * (m / (1 - std::pow(0.9, t))) / std::sqrt(v / (1 - std::pow(0.999, t)));
    EXPECT_NEAR(values(shard, 2, step + 1)[9], w, 1e-4) << step;
  }
}

// The biases start at 0, and all numbers here are exact.
TEST_F(ShardTest, CountsVersionsStepsAndTheScheduleFromTheJobsFirstStep) {
  job.steps = 10;
  job.optimizer.schedule = "exponential";
  job.optimizer.numbers["decay_factor"] = 0.5;
  job.optimizer.numbers["epochs_per_decay"] = 1;
  job.examples = 16;  // two steps
  Shard whole = make();
  job.first_step = 5;
  job.first_position = 40;
  Shard half = make();
  EXPECT_EQ(half.version(0), 5U);
  EXPECT_EQ(values(half, 0, 5), values(whole, 0, 0));
  EXPECT_FALSE(half.available(0, 4).ok());
  EXPECT_EQ(half.accept(push(half, 0, 4))->verdicts, all(Verdict::DROPPED));
  float at_half = 0;
  for (std::uint64_t step = 0; step < 10; ++step) {
    if (step == 5) at_half = values(whole, 2, 5)[0];
    for (const std::uint32_t rank : {0U, 1U}) {
      const float value = 0.25F * static_cast<float>(1 + step % 3);
      ASSERT_TRUE(whole.accept(push(whole, rank, step, value)).ok());
      if (step < 5) continue;
      ASSERT_EQ(half.accept(push(half, rank, step, value))->verdicts, all(Verdict::ACCEPTED));
    }
    update(whole);
    update(half);
  }
  EXPECT_EQ(values(whole, 2, 10)[0] - at_half, values(half, 2, 10)[0]);
}

TEST_F(ShardTest, AnUnknownOptimizerScheduleOrInstructionSetIsAnError) {
  const auto made = [&] {
    return Shard::make(job, ParameterTable(specs(), job, 1), 0, false).ok();
  };
  EXPECT_TRUE(made());
  job.optimizer.name = "sgd";
  EXPECT_FALSE(made());
  job.optimizer.name = "momentum";
  job.optimizer.schedule = "linear";
  EXPECT_FALSE(made());
  job.optimizer.schedule = "polynomial";
  job.cpu_isa = "mmx";
  EXPECT_FALSE(made());
}

}  // namespace
}  // namespace sterna::actors
