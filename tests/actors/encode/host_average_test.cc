// The average of a worker's ranks by itself: what leaves it is what one rank would send whose
// gradient is that average.
#include "actors/encode/host_average.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <thread>

#include "actors/encode/device_arithmetic.h"
#include "actors/encode/device_sums.h"
#include "actors/encode/host_arithmetic.h"
#include "kernels/device/host_device.h"
#include "kernels/sums/aggregate.h"
#include "runtime/base/random.h"

namespace sterna::actors {
namespace {

constexpr std::uint32_t kFirst = 8;  // of the ranks
constexpr std::uint32_t kRanks = 4;
const std::vector<std::size_t> kElements = {70'001, 600, 1};  // two chunks; less than a block

using Sent = std::map<std::pair<std::uint64_t, std::uint32_t>, std::vector<std::byte>>;

class HostAverageTest : public testing::Test {
 protected:
  void start() {
    job.ranks = 3 * kRanks;
    job.averaged_ranks = kRanks;
    job.gradient.host = HostRule::average;
    std::vector<nets::ParameterSpec> specs;
    for (const std::size_t count : kElements) {
      nets::ParameterSpec& spec = specs.emplace_back();
      spec.name = "t" + std::to_string(specs.size());
      spec.shape = {count};
    }
    table = std::make_shared<const ParameterTable>(specs, job, 2U);
    average.emplace(job, *table, std::make_unique<HostSums>(specs.size()), encoder(sent));
  }

  std::unique_ptr<GradientEncoder> encoder(Sent& into) {
    return encoder(into, std::make_unique<HostArithmetic>(job, kFirst, kernels::best_isa(), table));
  }
  std::unique_ptr<GradientEncoder> encoder(Sent& into,
                                           std::unique_ptr<EncodeArithmetic> arithmetic) {
    GradientEncoder::Events events;
    events.packets = [&into](std::uint64_t step, std::uint32_t, std::vector<Packet> packets) {
      for (const Packet& packet : packets) {
        auto& bytes = into[{step, packet.chunk}];
        EXPECT_TRUE(bytes.empty());
        bytes.assign(packet.payload.view().begin(), packet.payload.view().end());
        const auto scaler = std::as_bytes(std::span(&packet.scaler, 1));
        bytes.insert(bytes.end(), scaler.begin(), scaler.end());
      }
    };
    events.offers = [](std::uint64_t, std::uint32_t, const std::vector<Offer::OwnScaler>&) {};
    return std::make_unique<GradientEncoder>(job, table, clock, std::move(events),
                                             std::move(arithmetic));
  }

  static std::vector<float> gradient(std::uint64_t step, std::uint32_t rank, std::uint32_t tensor) {
    SeededRandom random(1 + step * 100 + std::uint64_t{rank} * 10 + tensor);
    std::vector<float> values(kElements[tensor]);
    for (float& value : values) value = static_cast<float>(random.below(2001)) * 1e-5F - 0.01F;
    return values;
  }

  /// All that a rank adds, last layers first.
  void add_all(std::uint64_t step, std::uint32_t rank) {
    for (auto tensor = static_cast<std::uint32_t>(kElements.size()); tensor-- > 0;) {
      EXPECT_TRUE(average->add(kFirst + rank, tensor, {gradient(step, rank, tensor)}).ok());
    }
    EXPECT_TRUE(average->end().ok());
  }

  /// Of one rank's encoder, which gets the averages as servers would make them.
  Sent expected(std::uint64_t steps) {
    Sent all;
    const std::unique_ptr<GradientEncoder> one = encoder(all);
    for (std::uint64_t step = 0; step < steps; ++step) {
      one->begin(step);
      for (std::uint32_t tensor = 0; tensor < kElements.size(); ++tensor) {
        std::vector<std::vector<float>> gradients;
        std::vector<kernels::Packet> packets;
        gradients.reserve(kRanks);
        packets.reserve(kRanks);
        for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
          gradients.push_back(gradient(step, rank, tensor));
        }
        for (const std::vector<float>& values : gradients) {
          packets.push_back({kernels::Packing::fp32, 1, std::as_bytes(std::span(values))});
        }
        std::vector<float> values(kElements[tensor]);
        kernels::average(packets, values, kernels::best_isa());
        EXPECT_TRUE(one->add(tensor, {values}).ok());
      }
      EXPECT_TRUE(one->encode_held().ok());
      one->flush();
    }
    return all;
  }

  JobConfig job;
  SteadyClock clock;
  std::shared_ptr<const ParameterTable> table;
  std::optional<HostAverage> average;
  Sent sent;
};

TEST_F(HostAverageTest, InEveryOrderOfTheRanksTheSamePacketsLeave) {
  for (const char* codec : {"ternary", "none", "topk"}) {
    job.gradient.codec = codec;
    job.gradient.error_feedback = codec != std::string("none");
    std::vector<std::uint32_t> order = {0, 1, 2, 3};
    do {
      sent.clear();
      start();
      for (std::uint64_t step = 0; step < 2; ++step) {
        average->begin(step);
        for (const std::uint32_t rank : order) {
          EXPECT_EQ(sent.size(), step * table->chunks.size());  // nothing leaves before the last
          add_all(step, rank);
        }
      }
      ASSERT_EQ(sent, expected(2)) << codec;
    } while (std::ranges::next_permutation(order).found && order[0] < 3);
  }
}

TEST_F(HostAverageTest, FromManyThreadsAtOnceToo) {
  start();
  const Sent wanted = expected(8);
  for (std::uint64_t step = 0; step < 8; ++step) {
    average->begin(step);
    std::vector<std::thread> threads;
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      threads.emplace_back([this, step, rank] { add_all(step, rank); });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(sent, wanted);
}

TEST_F(HostAverageTest, WhatIsNotFiniteOfOneRankIsFoundInTheAverage) {
  start();
  average->begin(0);
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    std::vector<float> values = gradient(0, rank, 1);
    if (rank == 2) values[7] = std::numeric_limits<float>::infinity();
    const Result<void> added = average->add(kFirst + rank, 1, {values});
    ASSERT_EQ(added.ok(), rank + 1 < kRanks);
    if (!added) {
      EXPECT_EQ(added.error().code, Errc::non_finite);
    }
  }
}

// ---- on devices ----

/// Of ranks on so many logical devices, which are one of the host's.
class DeviceAverageTest : public HostAverageTest {
 protected:
  void start_on(std::uint64_t seed, std::uint32_t devices) {
    average.reset();
    there_.clear();
    start();
    device_ = kernels::make_host_device({.seed = seed});
    auto arithmetic = DeviceArithmetic::make(
                          job, kFirst, kernels::best_isa(), table, device_,
                          std::make_unique<HostArithmetic>(job, kFirst, kernels::best_isa(), table))
                          .value();
    average.emplace(job, *table, DeviceSums::make(std::vector(devices, device_), kElements).value(),
                    encoder(sent, std::move(arithmetic)));
    for (std::uint32_t device = 0; device < devices; ++device) {
      There& there = there_.emplace_back();
      there.stream = device_->make_stream().value();
      for (const std::size_t elements : kElements) {
        there.gradients.push_back(kernels::DeviceArray<float>::make(*device_, elements).value());
        there.complete.push_back(device_->make_event(kernels::EventUse::streams).value());
      }
    }
  }
  /// As a rank's backward pass does, which leaves nothing of its gradients to who reads them late.
  void add_all_there(std::uint64_t step, std::uint32_t rank) {
    There& there = there_[rank % there_.size()];
    std::vector<std::vector<float>> values;
    for (std::uint32_t tensor = 0; tensor < kElements.size(); ++tensor) {
      values.push_back(gradient(step, rank, tensor));
    }
    for (auto tensor = static_cast<std::uint32_t>(kElements.size()); tensor-- > 0;) {
      const kernels::DeviceArray<float>& at = there.gradients[tensor];
      EXPECT_TRUE(there.gradients[tensor].upload(*there.stream, values[tensor]).ok());
      EXPECT_TRUE(there.stream->record(*there.complete[tensor]).ok());
      EXPECT_TRUE(
          average
              ->add(kFirst + rank, tensor, {{at.data(), at.size()}, there.complete[tensor].get()})
              .ok());
    }
    EXPECT_TRUE(average->wait(kFirst + rank).ok());
    for (std::uint32_t tensor = 0; tensor < kElements.size(); ++tensor) {
      std::ranges::fill(values[tensor], std::numeric_limits<float>::quiet_NaN());
      EXPECT_TRUE(there.gradients[tensor].upload(*there.stream, values[tensor]).ok());
    }
    EXPECT_TRUE(there.stream->finish().ok());
    EXPECT_TRUE(average->end().ok());
  }

 private:
  struct There {
    std::unique_ptr<kernels::DeviceStream> stream;
    std::vector<kernels::DeviceArray<float>> gradients;
    std::vector<std::unique_ptr<kernels::DeviceEvent>> complete;
  };
  std::shared_ptr<kernels::Device> device_;
  std::deque<There> there_;
};

TEST_F(DeviceAverageTest, InEveryOrderOfTheRanksTheSamePacketsLeave) {
  start();
  const Sent wanted = expected(2);
  std::uint64_t seed = 0;
  std::vector<std::uint32_t> order = {0, 1, 2, 3};
  do {
    // On two devices nobody's second turn comes before all have had their first.
    const bool by_turns = order[0] + order[1] == 1;
    for (const std::uint32_t devices : {4U, by_turns ? 2U : 4U}) {
      sent.clear();
      start_on(++seed, devices);
      for (std::uint64_t step = 0; step < 2; ++step) {
        average->begin(step);
        for (const std::uint32_t rank : order) add_all_there(step, rank);
      }
      ASSERT_EQ(sent, wanted) << seed;
    }
  } while (std::ranges::next_permutation(order).found);
}

TEST_F(DeviceAverageTest, FromManyThreadsAtOnceToo) {
  start();
  const Sent wanted = expected(8);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    sent.clear();
    start_on(seed, kRanks);
    for (std::uint64_t step = 0; step < 8; ++step) {
      average->begin(step);
      std::vector<std::thread> threads;
      for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
        threads.emplace_back([this, step, rank] { add_all_there(step, rank); });
      }
      for (std::thread& thread : threads) thread.join();
    }
    ASSERT_EQ(sent, wanted) << seed;
  }
}

}  // namespace
}  // namespace sterna::actors
