// When the devices of a worker make a version of what its ranks have put there, and who gets it.
#include "actors/worker/exchanged_versions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "actors/worker/ranks/rank_net.h"
#include "kernels/device/host_device.h"
#include "tests/actors/worker/worker_parts.h"

namespace sterna::actors {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::StartsWith;

/// Counts, and fails when it is told to.
class CountedExchange final : public kernels::DeviceExchange {
 public:
  CountedExchange(std::unique_ptr<kernels::DeviceExchange> inner, std::size_t& gathered,
                  const bool& fails)
      : inner_(std::move(inner)), gathered_(gathered), fails_(fails) {}
  std::string name() const noexcept override { return inner_->name(); }
  Result<void> gather(std::span<const Place> places, std::size_t bytes) noexcept override {
    if (fails_) return Error{Errc::unavailable, "the link between them is broken"};
    ++gathered_;
    return inner_->gather(places, bytes);
  }
  Result<void> scatter(std::span<const Scattered> all, const Packets& packets) noexcept override {
    return inner_->scatter(all, packets);
  }

 private:
  std::unique_ptr<kernels::DeviceExchange> inner_;
  std::size_t& gathered_;
  const bool& fails_;
};

class ExchangedVersionsTest : public WorkerParts {
 protected:
  ExchangedVersionsTest() {
    job.net = "mlp";
    job.hidden = {8};
    job.batch = 2;
    job.steps = 9;
    job.ranks = kRanks;
    job.gradient.exchange = ExchangeRule::nccl;
    job.gradient.codec = "ternary";
    job.gradient.min_size = 1;
    job.optimizer.learning_rate = 0.1;
    job.evaluation.every = 3;
    args.ranks = kRanks;
  }
  /// A worker of two ranks on two devices, with the job's first version.
  void begin_on_devices() {
    begin();
    const std::shared_ptr<kernels::Device> device = kernels::make_host_device({.late = false});
    for (std::uint32_t i = 0; i < kRanks; ++i) {
      auto replica = Replica::make(job, device).value();
      if (!table) {
        table = std::make_shared<const ParameterTable>(replica->parameters(), job, 1U);
      }
      replica->set_table(table, loop, [] {});
      ASSERT_TRUE(replica->exchange(i, kRanks).ok());
      nets.push_back(RankNet::make(job, i, replica, false, table, loop, events_of(i)).value());
      incoming.emplace_back(replica, table, loop, WorkerTrace(), 0, [] {});
      each.push_back(&incoming.back());
    }
    shard.emplace(Shard::make(job, *table, 0, true).value());
    shard->start();
    served.shard = &*shard;
    served.changed = [this] { ++changes; };
    begin_from_the_first_version();
    versions = &make<ExchangedVersions>(
        *context, table, served, each,
        std::make_unique<CountedExchange>(
            kernels::make_exchange(std::vector(kRanks, device)).value(), gathered, fails));
    worker->run(versions->make_all());
  }
  /// A rank's step, whose packets are on its device then: their tensors.
  std::vector<std::uint32_t> compute(std::uint32_t rank, std::uint64_t step) {
    packets[rank].clear();
    EXPECT_EQ(incoming[rank].readable(), table->tensors.size());
    EXPECT_TRUE(*nets[rank]->forward(step, batch(rank), incoming[rank].readable()));
    incoming[rank].expect(Pulled::changing);
    EXPECT_TRUE(nets[rank]->backward({.step = step, .push = step, .version = step}).ok());
    EXPECT_EQ(packets[rank].size(), table->tensors.size());
    return packets[rank];
  }
  void tell(const std::vector<std::uint32_t>& tensors) {
    for (const std::uint32_t tensor : tensors) versions->packet_is_there(tensor);
    settle();
  }
  void make_version(std::uint64_t version) {
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) tell(compute(rank, version - 1));
  }
  /// Of all chunks at the shard.
  std::vector<std::uint64_t> given() const {
    std::vector<std::uint64_t> all;
    for (std::uint32_t c = 0; c < table->chunks.size(); ++c) all.push_back(shard->version(c));
    return all;
  }

  static constexpr std::uint32_t kRanks = 2;
  std::shared_ptr<const ParameterTable> table;
  std::vector<std::shared_ptr<RankNet>> nets;
  std::deque<IncomingVersion> incoming;  // by device
  std::vector<IncomingVersion*> each;
  std::optional<Shard> shard;
  ServedShard served;
  ExchangedVersions* versions = nullptr;
  std::map<std::uint32_t, std::vector<std::uint32_t>> packets;
  std::size_t gathered = 0;  // tensors
  bool fails = false;
  int changes = 0;

 private:
  GradientEncoder::Events events_of(std::uint32_t rank) {
    GradientEncoder::Events events;
    events.packets = [this, rank](std::uint64_t, std::uint32_t, const std::vector<Packet>& made) {
      for (const Packet& packet : made) {
        EXPECT_EQ(packet.payload.size(), 0U) << "it stays on the device";
        packets[rank].push_back(table->chunks[packet.chunk].tensor);
      }
    };
    events.offers = [](std::uint64_t, std::uint32_t, const std::vector<Offer::OwnScaler>&) {};
    return events;
  }
  void begin_from_the_first_version() {
    const auto first = std::make_shared<Parameters>();
    for (std::uint32_t c = 0; c < table->chunks.size(); ++c) {
      first->chunks.push_back(shard->parameters(c, 0));
    }
    for (IncomingVersion& one : incoming) {
      one.expect(Pulled::trained);
      one.take(first);
    }
  }
  Batch batch(std::uint32_t rank) const {
    const auto pixels = make_buffer(job.batch * job.picture.bytes());
    std::ranges::fill(pixels->bytes(), std::byte{static_cast<unsigned char>(rank + 1)});
    const auto levels = make_buffer(job.batch * 2 * sizeof(float));
    std::ranges::fill(levels->as<float>(), 1.0F);
    return {.step = 0,
            .rank = rank,
            .pixels = share(pixels),
            .levels = share(levels),
            .labels = share(make_buffer(job.batch * sizeof(std::uint16_t)))};
  }
};

TEST_F(ExchangedVersionsTest, ATensorIsExchangedOnceTheLastRanksPacketIsThere) {
  begin_on_devices();
  tell(compute(0, 0));
  EXPECT_EQ(gathered, 0U);
  const std::vector<std::uint32_t> others = compute(1, 0);
  for (std::size_t i = 0; i < others.size(); ++i) {
    tell({others[i]});
    EXPECT_EQ(gathered, i + 1);
  }
  for (const IncomingVersion& one : incoming) EXPECT_EQ(one.readable(), table->tensors.size());
}

TEST_F(ExchangedVersionsTest, AVersionIsGivenOnceAllOfItsTensorsAreExchanged) {
  begin_on_devices();
  tell(compute(0, 0));
  std::vector<std::uint32_t> others = compute(1, 0);
  const std::uint32_t last = others.back();
  others.pop_back();
  tell(others);
  EXPECT_THAT(given(), Each(0U));
  EXPECT_EQ(changes, 0);
  tell({last});
  EXPECT_THAT(given(), Each(1U));
  EXPECT_EQ(changes, 1);
}

TEST_F(ExchangedVersionsTest, WhatAnEvaluatorTakesIsWhatTheDevicesHave) {
  begin_on_devices();
  for (const std::uint64_t version : {1, 2, 3}) make_version(version);
  ASSERT_THAT(given(), Each(3U));
  for (std::uint32_t c = 0; c < table->chunks.size(); ++c) {
    const Bytes bytes = shard->parameters(c, 3).payload;
    for (const IncomingVersion& one : incoming) {
      std::vector<float> there(table->chunks[c].count);
      ASSERT_TRUE(one.replica()->read(table->chunks[c], there).ok());
      EXPECT_TRUE(std::ranges::equal(std::as_bytes(std::span(there)), bytes.view())) << c;
    }
  }
}

TEST_F(ExchangedVersionsTest, OneThatTheEvaluatorHasNoRoomForWaitsUntilItHas) {
  job.evaluation.every = 1;
  begin_on_devices();
  for (std::uint64_t version = 1; version <= Shard::kMaxSnapshots; ++version) make_version(version);
  ASSERT_THAT(given(), Each(Shard::kMaxSnapshots));
  const std::size_t before = gathered;
  make_version(Shard::kMaxSnapshots + 1);
  EXPECT_EQ(gathered, before);
  EXPECT_TRUE(shard->waits_for_evaluator());
  served.released.notify_all();
  settle();
  EXPECT_EQ(gathered, before) << "nothing is released";
  shard->release(1);
  served.released.notify_all();
  settle();
  EXPECT_THAT(given(), Each(Shard::kMaxSnapshots + 1));
}

TEST_F(ExchangedVersionsTest, AnExchangeThatFailsEndsTheWorkerWithItsStep) {
  begin_on_devices();
  make_version(1);
  fails = true;
  tell(compute(0, 1));
  tell({compute(1, 1).front()});
  EXPECT_THAT(deaths, ElementsAre(StartsWith("step 1, exchange: ")));
}

}  // namespace
}  // namespace sterna::actors
