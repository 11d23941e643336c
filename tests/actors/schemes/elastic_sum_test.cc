// Elastic averaging with real trits: what ranks and servers have together changes by the ranks' own
// steps only, because a rank takes off what the servers add, the packet as it arrives.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "actors/encode/gradient_encoder.h"
#include "actors/encode/host_arithmetic.h"
#include "actors/schemes/scheme.h"
#include "actors/server/shard.h"
#include "runtime/base/clock.h"
#include "runtime/base/random.h"

namespace sterna::actors {
namespace {

constexpr std::size_t kElements = 5000;

class ElasticSum : public testing::TestWithParam<const char*> {
 protected:
  struct Rank {
    std::vector<float> w = std::vector<float>(kElements);
    std::unique_ptr<LocalSteps> local;
    std::unique_ptr<GradientEncoder> encoder;
    std::vector<Packet> packets;
  };

  ElasticSum() {
    job.net = "mlp";
    job.steps = 1000;
    job.ranks = 2;
    job.batch = 4;
    job.scheme.name = GetParam();
    job.scheme.moving_rate = 0.3;
    job.local_optimizer.name = "gd";
    job.local_optimizer.learning_rate = 0.5;
    job.gradient.codec = "ternary";
    job.gradient.min_size = 1;
    job.gradient.logits = true;
    nets::ParameterSpec spec;
    spec.name = "t";
    spec.shape = {kElements};
    spec.stddev = 0.5F;
    table = std::make_shared<const ParameterTable>(std::vector{spec}, job, 1);
    shard.emplace(Shard::make(job, *table, 0, false).value());
    shard->start();
    for (std::uint32_t r = 0; r < ranks.size(); ++r) {
      Rank& rank = ranks[r];
      rank.local = find_scheme(GetParam()).value().local_steps(job, r, table).value();
      GradientEncoder::Events events;
      events.packets = [&rank](std::uint64_t, std::uint32_t, std::vector<Packet> packets) {
        for (Packet& packet : packets) rank.packets.push_back(std::move(packet));
      };
      const auto sent = [&rank](const TableChunk& place, std::span<const float> decoded) {
        rank.local->sent(place, decoded, rank.w);
      };
      rank.encoder = std::make_unique<GradientEncoder>(
          job, table, clock, std::move(events),
          std::make_unique<HostArithmetic>(job, r, kernels::best_isa(), table, false, Residuals(),
                                           sent));
      rank.local->came(table->chunks[0], center(), rank.w);
    }
  }

  std::vector<float> center() {
    const Bytes bytes = shard->parameters(0, shard->version(0)).payload;
    std::vector<float> values(kElements);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  /// Of the rank's own; nothing is exchanged.
  void step_alone(Rank& rank, std::uint64_t step, const std::vector<float>& gradient) {
    rank.local->begin({.step = step, .pushes = false});
    rank.local->gradient(0, gradient, rank.w);
  }

  void meet(std::uint32_t number, std::uint64_t push) {
    Rank& rank = ranks[number];
    rank.local->came(table->chunks[0], center(), rank.w);
    rank.local->begin({.step = 100 + push, .push = push});
    const std::span<const float> e = rank.local->gradient(0, std::vector<float>(kElements), rank.w);
    rank.encoder->begin(push);
    ASSERT_TRUE(rank.encoder->add(0, {e}).ok());
    rank.encoder->flush();
    ASSERT_EQ(rank.packets.size(), 1U);
    ASSERT_EQ(rank.packets.front().codec, Codec::TERNARY);
    rank.packets.front().base_version = shard->version(0);
    Push message{.rank = number,
                 .step = push,
                 .examples = job.batch,
                 .kind = PayloadKind::DIFFERENCE,
                 .packets = std::move(rank.packets)};
    rank.packets.clear();
    ASSERT_TRUE(shard->accept(std::move(message)).ok());
    ChunkUpdates updates = shard->take_ready(1);
    ASSERT_FALSE(updates.empty());
    updates.run();
    shard->publish(std::move(updates));
  }

  double sum() {
    double sum = 0;
    for (const float value : center()) sum += value;
    for (const Rank& rank : ranks) {
      for (const float value : rank.w) sum += value;
    }
    return sum;
  }

  JobConfig job;
  SteadyClock clock;
  std::shared_ptr<const ParameterTable> table;
  std::optional<Shard> shard;
  std::vector<Rank> ranks = std::vector<Rank>(2);
};

TEST_P(ElasticSum, ChangesByTheRanksOwnStepsOnly) {
  const std::vector<float> start = center();
  SeededRandom random(7);
  for (Rank& rank : ranks) {
    std::vector<float> gradient(kElements);
    for (float& value : gradient) value = static_cast<float>(random.below(2001)) * 1e-3F - 0.8F;
    step_alone(rank, 0, gradient);
    // aeamsgd's net has x + delta v: its velocity comes to rest first.
    for (std::uint64_t step = 1; step < 400; ++step) {
      step_alone(rank, step, std::vector<float>(kElements));
    }
  }
  const double before = sum();
  for (std::uint64_t push = 0; push < 40; ++push) meet(push % 2, push / 2);
  double magnitude = 0;
  double moved = 0;
  const std::vector<float> end = center();
  for (std::size_t i = 0; i < kElements; ++i) {
    magnitude += std::abs(double{end[i]});
    moved += std::abs(double{end[i]} - double{start[i]});
  }
  EXPECT_NEAR(sum(), before, 1e-6 * magnitude);
  EXPECT_GT(moved, 0.1 * magnitude) << "nothing was exchanged";
}

INSTANTIATE_TEST_SUITE_P(Schemes, ElasticSum, testing::Values("aeasgd", "aeamsgd"));

}  // namespace
}  // namespace sterna::actors
