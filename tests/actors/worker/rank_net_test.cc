// One rank's computing by itself: what it needs to begin, and what leaves it.
#include "actors/worker/ranks/rank_net.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "actors/parameters/parameter_hash.h"
#include "kernels/device/host_device.h"

namespace sterna::actors {
namespace {

class RankNetTest : public testing::Test {
 protected:
  void start(const std::string& codec = "none") {
    job.net = "mlp";
    job.hidden = {8};
    job.batch = 2;
    job.optimizer.weight_decay = 0;
    job.gradient.codec = codec;
    replica = Replica::make(job).value();
    table = std::make_shared<const ParameterTable>(replica->parameters(), job, 1U);
    tensors = static_cast<std::uint32_t>(table->tensors.size());
    replica->set_table(table, clock, [this] { settled.push_back(replica->settled()); });
    net = rank(3);
    batch.pixels = share(make_buffer(2 * 28 * 28));
    batch.levels = share(make_buffer(2 * 2 * sizeof(float)));
    batch.labels = share(make_buffer(2 * sizeof(std::uint16_t)));
  }

  std::shared_ptr<RankNet> rank(std::uint32_t number, bool shares = false) {
    GradientEncoder::Events events;
    events.packets = [this, number](std::uint64_t, std::uint32_t, std::vector<Packet> packets) {
      for (Packet& packet : packets) {
        pushed.insert(packet.chunk);
        packets_of[number].push_back(std::move(packet));
      }
    };
    events.offers = [this, number](std::uint64_t, std::uint32_t,
                                   const std::vector<Offer::OwnScaler>& scalers) {
      for (const Offer::OwnScaler& one : scalers) offered[number].push_back(one);
    };
    return RankNet::make(job, number, replica, shares, table, clock, std::move(events)).value();
  }

  /// The next loss is not a number.
  void break_the_batch() {
    const auto levels = make_buffer(2 * 2 * sizeof(float));
    levels->as<float>()[0] = std::numeric_limits<float>::quiet_NaN();
    batch.levels = share(levels);
  }

  JobConfig job;
  SteadyClock clock;
  std::shared_ptr<Replica> replica;
  std::shared_ptr<RankNet> net;
  std::shared_ptr<const ParameterTable> table;
  std::uint32_t tensors = 0;
  Batch batch;
  std::vector<std::uint32_t> settled;
  std::set<std::uint32_t> pushed;  // chunks
  std::map<std::uint32_t, std::vector<Packet>> packets_of;
  std::map<std::uint32_t, std::vector<Offer::OwnScaler>> offered;
};

TEST_F(RankNetTest, TheForwardPassGoesAsFarAsParametersHaveCome) {
  start();
  EXPECT_FALSE(*net->forward(0, batch, 1));
  EXPECT_TRUE(*net->forward(0, batch, tensors));
}

TEST_F(RankNetTest, EveryChunkOfAStepIsPushedAndLaterLayersSettleFirst) {
  start();
  ASSERT_TRUE(*net->forward(0, batch, tensors));
  const Result<nets::Net::Loss> loss = net->backward({.step = 0});
  ASSERT_TRUE(loss.ok()) << loss.error().message;
  EXPECT_NEAR(loss->cross_entropy, std::log(10.0), 1e-5);  // all parameters are 0
  EXPECT_EQ(pushed.size(), table->chunks.size());
  ASSERT_FALSE(settled.empty());
  EXPECT_GT(settled.front(), 0U);
  EXPECT_LT(settled.front(), tensors + 1);
  EXPECT_EQ(replica->settled(), 0U);
  EXPECT_FALSE(net->computing());
}

// Rank 5's turn overwrites the gradients of rank 3, which wait for scalers that come later.
TEST_F(RankNetTest, WhatARankHoldsOutlivesTheTurnsOfOthers) {
  const auto trained = [&](bool both) {
    packets_of.clear(), offered.clear();
    job.gradient.scaler = ScalerRule::shared;
    start("ternary");
    for (std::uint32_t t = 0; t < tensors; ++t) {
      const std::span<float> values = replica->values(t);
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = 0.01F * static_cast<float>(static_cast<int>(i % 7) - 3);
      }
    }
    const auto pixels = make_buffer(2 * 28 * 28), levels = make_buffer(4 * sizeof(float));
    for (std::size_t i = 0; i < pixels->size(); ++i) {
      pixels->as<std::uint8_t>()[i] = static_cast<std::uint8_t>(i % 251);
    }
    levels->as<float>()[1] = levels->as<float>()[3] = 1;
    batch.pixels = share(pixels), batch.levels = share(levels);
    const std::shared_ptr<RankNet> first = rank(3, true), second = rank(5, true);
    EXPECT_TRUE(*first->forward(0, batch, tensors));
    EXPECT_TRUE(first->backward({.step = 0}).ok());
    EXPECT_TRUE(first->holds());
    if (both) {
      const auto labels = make_buffer(2 * sizeof(std::uint16_t));
      labels->as<std::uint16_t>()[1] = 7;
      batch.labels = share(labels);
      EXPECT_TRUE(*second->forward(0, batch, tensors));
      EXPECT_TRUE(second->backward({.step = 0}).ok());
    }
    for (const Offer::OwnScaler& one : offered[3]) first->agree(0, one.index, one.value);
    EXPECT_TRUE(first->encode_held().ok());
    EXPECT_FALSE(first->holds());
    std::map<std::uint32_t, std::string> payloads;
    for (const Packet& packet : packets_of[3]) {
      const ByteView bytes = packet.payload.view();
      payloads[packet.chunk] = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
    return payloads;
  };
  const auto alone = trained(false);
  EXPECT_EQ(alone.size(), table->chunks.size());
  EXPECT_EQ(trained(true), alone);
}

TEST_F(RankNetTest, TakesParametersAsTheyAre) {
  start();
  const TableChunk& place = table->chunks.front();
  const auto values = make_buffer(place.count * sizeof(float));
  for (float& value : values->as<float>()) value = 0.25F;
  Parameters answer;
  answer.chunks.push_back({.chunk = 0, .payload = share(values)});
  replica->take(answer, 0);
  EXPECT_EQ(replica->hashes().value().front(), hash_of(values->bytes()));
}

TEST_F(RankNetTest, TakesParametersToADeviceFromWhereverTheyLie) {
  start();
  for (const std::size_t behind : {0, 1, 4}) {  // the address of a float
    const auto there = Replica::make(job, kernels::make_host_device({.seed = behind})).value();
    there->set_table(table, clock, [] {});
    std::vector<Hash> expected;
    for (std::uint32_t c = 0; c < table->chunks.size(); ++c) {
      const std::size_t bytes = table->chunks[c].count * sizeof(float);
      const auto payload = make_buffer(behind + bytes);
      for (std::size_t i = 0; i < bytes; ++i) {
        payload->data()[behind + i] = static_cast<std::byte>((i * 13 + c) % 61);
      }
      Parameters answer;
      answer.chunks.push_back({.chunk = c, .payload = share(payload).part(behind, bytes)});
      expected.push_back(hash_of(answer.chunks.front().payload.view()));
      there->take(answer, 0);
      std::ranges::fill(payload->bytes(), std::byte{0xff});  // it need not stay
    }
    EXPECT_EQ(there->hashes().value(), expected) << behind;
  }
}

TEST_F(RankNetTest, StepsFromAveragesByTheJobsOptimizer) {
  job.optimizer.name = "momentum";
  job.optimizer.learning_rate = 1;
  job.optimizer.numbers["momentum"] = 0.5;
  start();
  const TableChunk& place = table->chunks.front();
  const auto average = make_buffer(place.count * sizeof(float));
  for (float& value : average->as<float>()) value = 1;
  const kernels::StepConstants constants = UpdateRule::make(job).value().constants(0);
  Parameters answer;
  answer.kind = PayloadKind::GRADIENT;
  answer.ranks = 1;
  answer.constants.assign(std::begin(constants.value), std::end(constants.value));
  answer.chunks.push_back({.chunk = 0, .payload = share(average)});
  replica->take(answer, 0);
  replica->take(answer, 0);  // 1, then 1 + 0.5
  const std::vector<float> expected(place.count, -2.5F);
  EXPECT_EQ(replica->hashes().value().front(), hash_of(std::as_bytes(std::span(expected))));
}

TEST_F(RankNetTest, ALossThatIsNotANumberNamesRankAndStep) {
  start();
  break_the_batch();
  ASSERT_TRUE(*net->forward(7, batch, tensors));
  const Result<nets::Net::Loss> loss = net->backward({.step = 7, .push = 7});
  ASSERT_FALSE(loss.ok());
  EXPECT_EQ(loss.error().code, Errc::non_finite);
  EXPECT_EQ(loss.error().message.find("rank 3, step 7"), 0U) << loss.error().message;
  EXPECT_EQ(loss.error().message.find("after"), std::string::npos) << "there was none before";
}

// Its first layer has no weights yet, so that its input, however large, changes no loss.
TEST_F(RankNetTest, AGradientThatIsNotFiniteNamesTheLossThatWas) {
  start("ternary");
  for (std::uint32_t t = 0; t < tensors; ++t) {
    const std::span<float> values = replica->values(t);
    if (values.size() > 80) continue;
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7);
  }
  const auto pixels = make_buffer(2 * 28 * 28), levels = make_buffer(4 * sizeof(float));
  std::ranges::fill(pixels->as<std::uint8_t>(), std::uint8_t{1});
  levels->as<float>()[1] = levels->as<float>()[3] = 3e38F;
  batch.pixels = share(pixels), batch.levels = share(levels);
  ASSERT_TRUE(*net->forward(4, batch, tensors));
  const Result<nets::Net::Loss> loss = net->backward({.step = 4});
  ASSERT_FALSE(loss.ok());
  EXPECT_EQ(loss.error().code, Errc::non_finite);
  EXPECT_TRUE(loss.error().message.starts_with("rank 3, step 4, with a loss of "))
      << loss.error().message;
}

TEST_F(RankNetTest, ALossThatIsNotANumberNamesTheLastThatWasOne) {
  start();
  ASSERT_TRUE(*net->forward(6, batch, tensors));
  const Result<nets::Net::Loss> finite = net->backward({.step = 6, .push = 6});
  ASSERT_TRUE(finite.ok()) << finite.error().message;
  break_the_batch();
  ASSERT_TRUE(*net->forward(7, batch, tensors));
  const Result<nets::Net::Loss> loss = net->backward({.step = 7, .push = 7});
  ASSERT_FALSE(loss.ok());
  const std::string said = fmt::format(", after a loss of {:.4g} at step 6; lower",
                                       finite->cross_entropy + finite->regularization);
  EXPECT_NE(loss.error().message.find(said), std::string::npos) << loss.error().message;
}

}  // namespace
}  // namespace sterna::actors
