// One rank's computing by itself: what it needs to begin, and what leaves it.
#include "actors/worker/rank_net.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "actors/parameters/parameter_hash.h"

namespace sterna::actors {
namespace {

class RankNetTest : public testing::Test {
 protected:
  void start() {
    job.net = "mlp";
    job.hidden = {8};
    job.batch = 2;
    job.optimizer.weight_decay = 0;
    job.gradient.codec = "none";
    net = RankNet::make(job, 3).value();
    table = std::make_shared<const ParameterTable>(net->parameters(), job, 1U);
    tensors = static_cast<std::uint32_t>(table->tensors.size());
    RankNet::Events events;
    events.settled = [this] { settled.push_back(net->settled()); };
    events.encoder.packets = [this](std::uint64_t, std::uint32_t, std::vector<Packet> packets) {
      for (const Packet& packet : packets) pushed.insert(packet.chunk);
    };
    EXPECT_TRUE(net->set_table(table, clock, std::move(events)).ok());
    batch.pixels = share(make_buffer(2 * 28 * 28));
    batch.levels = share(make_buffer(2 * 2 * sizeof(float)));
    batch.labels = share(make_buffer(2 * sizeof(std::uint16_t)));
  }

  JobConfig job;
  SteadyClock clock;
  std::shared_ptr<RankNet> net;
  std::shared_ptr<const ParameterTable> table;
  std::uint32_t tensors = 0;
  Batch batch;
  std::vector<std::uint32_t> settled;
  std::set<std::uint32_t> pushed;  // chunks
};

TEST_F(RankNetTest, TheForwardPassGoesAsFarAsParametersHaveCome) {
  start();
  EXPECT_FALSE(*net->forward(0, batch, 1));
  EXPECT_TRUE(*net->forward(0, batch, tensors));
}

TEST_F(RankNetTest, EveryChunkOfAStepIsPushedAndLaterLayersSettleFirst) {
  start();
  ASSERT_TRUE(*net->forward(0, batch, tensors));
  const Result<double> loss = net->backward({.step = 0});
  ASSERT_TRUE(loss.ok()) << loss.error().message;
  EXPECT_NEAR(*loss, std::log(10.0), 1e-5);  // all parameters are 0
  EXPECT_EQ(pushed.size(), table->chunks.size());
  ASSERT_FALSE(settled.empty());
  EXPECT_GT(settled.front(), 0U);
  EXPECT_LT(settled.front(), tensors + 1);
  EXPECT_EQ(net->settled(), 0U);
  EXPECT_FALSE(net->computing());
}

TEST_F(RankNetTest, TakesParametersAsTheyAre) {
  start();
  const TableChunk& place = table->chunks.front();
  const auto values = make_buffer(place.count * sizeof(float));
  for (float& value : values->as<float>()) value = 0.25F;
  Parameters answer;
  answer.chunks.push_back({.chunk = 0, .payload = share(values)});
  net->take(answer, 0);
  EXPECT_EQ(net->hashes().front(), hash_of(values->bytes()));
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
  net->take(answer, 0);
  net->take(answer, 0);  // 1, then 1 + 0.5
  const std::vector<float> expected(place.count, -2.5F);
  EXPECT_EQ(net->hashes().front(), hash_of(std::as_bytes(std::span(expected))));
}

TEST_F(RankNetTest, ALossThatIsNotANumberNamesRankAndStep) {
  start();
  const auto levels = make_buffer(2 * 2 * sizeof(float));
  levels->as<float>()[0] = std::numeric_limits<float>::quiet_NaN();
  batch.levels = share(levels);
  ASSERT_TRUE(*net->forward(7, batch, tensors));
  const Result<double> loss = net->backward({.step = 7, .push = 7});
  ASSERT_FALSE(loss.ok());
  EXPECT_EQ(loss.error().code, Errc::non_finite);
  EXPECT_EQ(loss.error().message.find("rank 3, step 7"), 0U) << loss.error().message;
}

}  // namespace
}  // namespace sterna::actors
