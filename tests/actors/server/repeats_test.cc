// Whatever comes twice, or late, over many steps: the parameters are those of a shard to which all
// came once, each repeat is known as one, and what is kept to know them does not grow. As many
// steps as STERNA_STEPS says.
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "actors/codecs/codec.h"
#include "actors/server/scaler_board.h"
#include "actors/server/shard.h"

namespace sterna::actors {
namespace {

constexpr std::uint32_t kRanks = 4;
constexpr std::uint64_t kEvaluatedEvery = 50;
/// By then all has been once.
constexpr std::uint64_t kWarm = 1000;
/// What queues and hash tables hold varies by a few of their blocks. Less than a byte in 20 steps.
constexpr std::size_t kBlocks = 4096;

std::uint64_t steps() {
  const char* given = std::getenv("STERNA_STEPS");
  return given == nullptr ? 100000 : std::stoull(given);
}

std::size_t heap_bytes() { return mallinfo2().uordblks; }

class Repeats : public ::testing::Test {
 protected:
  Repeats() {
    job.steps = steps() + 1;
    job.batch = 1;
    job.ranks = kRanks;
    job.seed = 7;
    job.optimizer.name = "momentum";
    job.optimizer.learning_rate = 0.001;
    job.evaluation.every = 0;
    job.evaluation.every_seconds = 1;  // a version is named when one is wanted
    job.gradient.min_size = 100;
    job.cpu_isa = "scalar";
  }

  Shard make() const {
    nets::ParameterSpec tensor;
    tensor.name = "small";
    tensor.shape = {10};
    tensor.stddev = 0.1F;
    auto shard = Shard::make(job, ParameterTable({tensor}, job, 1), 0, true);
    EXPECT_TRUE(shard.ok());
    shard->start();
    return std::move(shard).value();
  }
  static Push push(std::uint32_t rank, std::uint64_t step) {
    const auto buffer = make_buffer(10 * sizeof(float));
    for (float& x : buffer->as<float>()) {
      x = 0.01F * static_cast<float>((step * kRanks + rank) % 97) - 0.5F;
    }
    Packet packet{
        .chunk = 0, .codec = Codec::FP32, .scaler = 1, .count = 10, .payload = share(buffer)};
    packet.base_version = step;
    Push push;
    push.rank = rank;
    push.step = step;
    push.examples = 1;
    push.packets.push_back(std::move(packet));
    return push;
  }
  static void update(Shard& shard) {
    ChunkUpdates updates = shard.take_ready(1);
    ASSERT_FALSE(updates.empty());
    updates.run();
    shard.publish(std::move(updates));
  }
  void push_and_count(Shard& shard, std::uint32_t rank, std::uint64_t step) {
    const Result<PushReply> reply = shard.accept(push(rank, step));
    ASSERT_TRUE(reply.ok()) << reply.error().message;
    for (const Verdict verdict : reply->verdicts) ++counted[verdict];
  }

  JobConfig job;
  std::map<Verdict, std::uint64_t> counted;
};

TEST_F(Repeats, OfPushesPullsAndReleasesAreKnownAndChangeNothing) {
  Shard calm = make();
  Shard hit = make();
  std::size_t warm = 0;
  for (std::uint64_t step = 0; step < steps(); ++step) {
    const bool evaluated = (step + 1) % kEvaluatedEvery == 0;
    if (evaluated) {
      for (Shard* shard : {&calm, &hit}) ASSERT_TRUE(shard->reserve(step + 1)->reserved);
      ASSERT_TRUE(hit.reserve(step + 1).ok());
    }
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      ASSERT_TRUE(calm.accept(push(rank, step)).ok());
      push_and_count(hit, rank, step);
      push_and_count(hit, rank, step);                       // twice
      if (step >= 1) push_and_count(hit, rank, step - 1);    // late
      if (step >= 40) push_and_count(hit, rank, step - 40);  // so late that nobody remembers
    }
    update(calm);
    update(hit);
    const Bytes once = hit.parameters(0, step + 1).payload;
    EXPECT_EQ(once.view().data(), hit.parameters(0, step + 1).payload.view().data());
    if (evaluated) {
      for (int i = 0; i < 2; ++i) hit.release(step + 1);
      calm.release(step + 1);
      if (step >= kEvaluatedEvery) hit.release(step + 1 - kEvaluatedEvery);
    }
    if (step + 1 == kWarm) warm = heap_bytes();
  }
  const std::size_t last = heap_bytes();
  const Bytes expected = calm.parameters(0, steps()).payload;
  const Bytes got = hit.parameters(0, steps()).payload;
  ASSERT_EQ(got.size(), expected.size());
  EXPECT_EQ(std::memcmp(got.data(), expected.data(), got.size()), 0);
  EXPECT_EQ(counted[Verdict::ACCEPTED], kRanks * steps());
  EXPECT_EQ(counted[Verdict::DUPLICATE], kRanks * (2 * steps() - 1));
  EXPECT_EQ(counted[Verdict::DROPPED], kRanks * (steps() - 40));
  std::printf(
      "%llu steps of %u ranks: pushes counted %llu, known as repeated %llu, as too late %llu; "
      "heap in use after step %llu: %zu bytes, after the last: %zu\n",
      static_cast<unsigned long long>(steps()), kRanks,
      static_cast<unsigned long long>(counted[Verdict::ACCEPTED]),
      static_cast<unsigned long long>(counted[Verdict::DUPLICATE]),
      static_cast<unsigned long long>(counted[Verdict::DROPPED]),
      static_cast<unsigned long long>(kWarm), warm, last);
  EXPECT_LE(last, warm + kBlocks);
}

TEST_F(Repeats, OfOffersAreKnownAndChangeNothing) {
  ParameterTable table;
  table.scalers = {{.tensor = 0, .count = 8, .shard = 0}};
  job.gradient.scaler = ScalerRule::shared;
  ScalerBoard board(table, 0, job);
  const auto offer = [](std::uint32_t rank, std::uint64_t step) {
    return Offer{.rank = rank,
                 .step = step,
                 .scalers = {{0, 0.5F + static_cast<float>((step * kRanks + rank) % 97)}}};
  };
  std::size_t warm = 0;
  std::uint64_t agreed = 0;
  for (std::uint64_t step = 0; step < steps(); ++step) {
    float largest = 0;
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      largest = std::max(largest, offer(rank, step).scalers[0].value);
      const Result<bool> first = board.offer(offer(rank, step));
      ASSERT_TRUE(first.ok()) << first.error().message;
      agreed += *first ? 1 : 0;
      ASSERT_FALSE(*board.offer(offer(rank, step))) << "twice";
      const bool late = step >= 1 && *board.offer(offer(rank, step - 1));
      ASSERT_FALSE(late);
      const bool gone = step < 40 || !board.offer(offer(rank, step - 40)).ok();
      ASSERT_TRUE(gone);
    }
    ASSERT_EQ(board.agreed(step, 0), largest);
    if (step + 1 == kWarm) warm = heap_bytes();
  }
  const std::size_t last = heap_bytes();
  EXPECT_EQ(agreed, steps());
  std::printf(
      "%llu steps of %u ranks: scalers agreed %llu times; heap in use after step %llu: "
      "%zu bytes, after the last: %zu\n",
      static_cast<unsigned long long>(steps()), kRanks, static_cast<unsigned long long>(agreed),
      static_cast<unsigned long long>(kWarm), warm, last);
  EXPECT_LE(last, warm + kBlocks);
}

}  // namespace
}  // namespace sterna::actors
