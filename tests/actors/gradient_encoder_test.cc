// One rank's encoder by itself: what leaves it is what the kernels' plain passes make.
#include "actors/encode/gradient_encoder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "actors/encode/host_arithmetic.h"
#include "kernels/trits/scaler.h"
#include "runtime/base/random.h"

namespace sterna::actors {
namespace {

constexpr std::uint32_t kRank = 3;
constexpr std::size_t kElements = 700'001;  // eleven units: several chunks, the last one short

std::vector<float> gradient(std::uint64_t seed) {
  SeededRandom random(seed);
  std::vector<float> values(kElements);
  for (float& value : values) value = static_cast<float>(random.below(2001)) * 1e-5F - 0.01F;
  return values;
}

std::vector<std::byte> copy_of(const Bytes& bytes) {
  return {bytes.view().begin(), bytes.view().end()};
}

class GradientEncoderTest : public testing::Test {
 protected:
  void start(ScalerRule rule, bool buckets) {
    job.seed = 5;
    job.gradient.scaler = rule;
    job.gradient.buckets = buckets;
    nets::ParameterSpec spec;
    spec.name = "only";
    spec.shape = {kElements};
    table = std::make_shared<const ParameterTable>(std::vector{spec}, job, 2);
    packets.clear();
    offers.clear();
    encoder.emplace(job, table, clock,
                    GradientEncoder::Events{
                        [this](std::uint64_t, std::uint32_t shard, std::vector<Packet> ready) {
                          for (Packet& packet : ready) {
                            EXPECT_EQ(table->chunks[packet.chunk].shard, shard);
                            packets.emplace(packet.chunk, std::move(packet));
                          }
                        },
                        [this](std::uint64_t, std::uint32_t, std::vector<Offer::OwnScaler> own) {
                          for (const Offer::OwnScaler& one : own)
                            offers.emplace(one.index, one.value);
                        }},
                    std::make_unique<HostArithmetic>(job, kRank, kernels::best_isa(), table));
  }

  /// The largest of the ranks' scalers of `step`, each another.
  void agree_all(std::uint64_t step) {
    for (std::uint32_t i = 0; i < table->scalers.size(); ++i) encoder->agree(step, i, shared(i));
  }
  static float shared(std::uint32_t index) { return 0.02F + 0.001F * static_cast<float>(index); }

  float own(const std::vector<float>& values, std::uint32_t index) const {
    const TableScaler& of = table->scalers[index];
    return kernels::scaler(std::span(values).subspan(of.first, of.count),
                           static_cast<float>(job.gradient.clip), kernels::Isa::scalar)
        .value();
  }

  void expect_packets(const std::vector<float>& values, std::uint32_t step) {
    ASSERT_EQ(packets.size(), table->chunks.size());
    for (const auto& [index, packet] : packets) {
      const TableChunk& chunk = table->chunks[index];
      const bool own_scaler = job.gradient.scaler == ScalerRule::own;
      EXPECT_EQ(packet.scaler, own_scaler ? own(values, chunk.scaler) : shared(chunk.scaler));
      EXPECT_EQ(packet.count, chunk.count);
      std::vector<std::byte> planes(kernels::planes_bytes(chunk.count));
      kernels::ternarize(std::span(values).subspan(chunk.first, chunk.count), packet.scaler,
                         {.seed = job.seed, .step = step, .rank = kRank, .tensor = 0}, chunk.first,
                         planes, kernels::Isa::scalar);
      EXPECT_EQ(copy_of(packet.payload), planes) << index;
    }
  }
  void expect_offers(const std::vector<float>& values) {
    ASSERT_EQ(offers.size(), table->scalers.size());
    for (const auto& [index, value] : offers) EXPECT_EQ(value, own(values, index)) << index;
  }

  JobConfig job;
  SteadyClock clock;
  std::shared_ptr<const ParameterTable> table;
  std::optional<GradientEncoder> encoder;
  std::map<std::uint32_t, Packet> packets;  // by chunk
  std::map<std::uint32_t, float> offers;    // by the table's index
};

TEST_F(GradientEncoderTest, OwnScalersNeedNobody) {
  const std::vector<float> values = gradient(1);
  for (const bool buckets : {false, true}) {
    start(ScalerRule::own, buckets);
    encoder->begin(4);
    ASSERT_TRUE(encoder->add(0, {values}).ok());
    encoder->flush();
    expect_packets(values, 4);
    EXPECT_TRUE(offers.empty());
  }
}

/// What arrives of the same gradient, step after step, must add up to it: what is left of all steps
/// is no longer than what one of them left may be.
TEST_F(GradientEncoderTest, WhatErrorFeedbackKeepsStaysBounded) {
  const std::vector<float> values = gradient(1);
  const auto norm = [](const std::vector<double>& x) {
    return std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
  };
  const double length = norm({values.begin(), values.end()});
  job.gradient.error_feedback = true;
  for (const ScalerRule rule : {ScalerRule::own, ScalerRule::shared}) {
    start(rule, false);
    std::vector<double> left(kElements);
    for (std::uint64_t step = 0; step < 40; ++step) {
      packets.clear();
      offers.clear();
      encoder->begin(step);
      ASSERT_TRUE(encoder->add(0, {values}).ok());
      for (const auto& [index, value] : offers) encoder->agree(step, index, value);
      ASSERT_TRUE(encoder->encode_held().ok());
      encoder->flush();
      for (std::size_t i = 0; i < kElements; ++i) left[i] += values[i];
      for (const auto& [index, packet] : packets) {
        const TableChunk& chunk = table->chunks[index];
        std::vector<float> arrived(chunk.count);
        const kernels::Packet one{.scaler = packet.scaler, .payload = packet.payload.view()};
        kernels::average(std::span(&one, 1), arrived, kernels::Isa::scalar);
        for (std::size_t i = 0; i < chunk.count; ++i) left[chunk.first + i] -= arrived[i];
      }
      ASSERT_LT(norm(left), 4 * length) << step;
    }
  }
}

TEST_F(GradientEncoderTest, SharedScalersHoldATensorUntilTheyAreAgreed) {
  const std::vector<float> values = gradient(2);
  for (const bool buckets : {false, true}) {
    start(ScalerRule::shared, buckets);
    encoder->begin(4);
    ASSERT_TRUE(encoder->add(0, {values}).ok());
    expect_offers(values);
    EXPECT_TRUE(encoder->holds());
    EXPECT_TRUE(packets.empty());
    agree_all(4);
    ASSERT_TRUE(encoder->encode_held().ok());
    encoder->flush();
    EXPECT_FALSE(encoder->holds());
    expect_packets(values, 4);
  }
}

TEST_F(GradientEncoderTest, TheLastStepsScalersHoldNothingAndTheNextStepsAreOffered) {
  const std::vector<float> values = gradient(3);
  for (const bool buckets : {false, true}) {
    start(ScalerRule::last_step, buckets);
    EXPECT_FALSE(encoder->may_begin(4));
    agree_all(3);
    EXPECT_TRUE(encoder->may_begin(4));
    encoder->begin(4);
    ASSERT_TRUE(encoder->add(0, {values}).ok());
    encoder->flush();
    EXPECT_FALSE(encoder->holds());
    expect_packets(values, 4);
    expect_offers(values);
  }
}

TEST_F(GradientEncoderTest, WhatIsNotFiniteIsNamedAndNeitherOfferedNorSent) {
  constexpr std::size_t bad = 600'000;
  std::vector<float> values = gradient(4);
  values[bad] = std::numeric_limits<float>::quiet_NaN();
  for (const ScalerRule rule : {ScalerRule::own, ScalerRule::shared, ScalerRule::last_step}) {
    for (const bool buckets : {false, true}) {
      start(rule, buckets);
      agree_all(3);
      encoder->begin(4);
      const Result<void> added = encoder->add(0, {values});
      ASSERT_FALSE(added.ok());
      EXPECT_EQ(added.error().code, Errc::non_finite);
      encoder->flush();
      EXPECT_TRUE(offers.empty());
      for (const auto& [index, packet] : packets) {
        const TableChunk& chunk = table->chunks[index];
        EXPECT_LE(chunk.first + chunk.count, bad);
      }
      EXPECT_NE(added.error().message.find("element 600000 "), std::string::npos)
          << added.error().message;
    }
  }
}

}  // namespace
}  // namespace sterna::actors
