// What leaves a device does so from pinned memory, and gradients that are given at once are encoded
// by the launches of one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "actors/encode/device_arithmetic.h"
#include "actors/encode/gradient_encoder.h"
#include "actors/encode/pinned_packets.h"
#include "kernels/device/host_device.h"
#include "runtime/base/random.h"

namespace sterna::actors {
namespace {

using kernels::EncodePass;
using testing::ElementsAre;

/// What a host device has given of the host's memory, and what it was told to encode.
class DeviceSeen final : public kernels::HostDeviceWatch {
 public:
  void launched(EncodePass pass, const kernels::EncodeLaunch& launch) override {
    const std::lock_guard lock(mutex_);
    launches_.emplace_back(pass, launch.count);
  }
  void given_on_host(const void* memory, std::size_t bytes) override {
    const std::lock_guard lock(mutex_);
    ++given_;
    pieces_[static_cast<const std::byte*>(memory)] = bytes;
  }
  void released_on_host(const void* memory) override {
    const std::lock_guard lock(mutex_);
    pieces_.erase(static_cast<const std::byte*>(memory));
  }
  bool has(ByteView bytes) const {
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(pieces_, [&](const auto& piece) {
      return bytes.data() >= piece.first &&
             bytes.data() + bytes.size() <= piece.first + piece.second;
    });
  }
  std::size_t pieces() const {
    const std::lock_guard lock(mutex_);
    return pieces_.size();
  }
  std::size_t given() const {
    const std::lock_guard lock(mutex_);
    return given_;
  }
  /// Of these since the last call, how many chunks each had.
  std::vector<std::uint32_t> take(EncodePass pass) {
    const std::lock_guard lock(mutex_);
    std::vector<std::uint32_t> chunks;
    std::erase_if(launches_, [&](const auto& launch) {
      if (launch.first == pass) chunks.push_back(launch.second);
      return launch.first == pass;
    });
    return chunks;
  }
  std::size_t launches() const {
    const std::lock_guard lock(mutex_);
    return launches_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::size_t given_ = 0;
  std::map<const std::byte*, std::size_t> pieces_;
  std::vector<std::pair<EncodePass, std::uint32_t>> launches_;
};

/// What has left in a step, by chunk.
using SentPackets = std::map<std::uint32_t, Packet>;

class DevicePacketsTest : public testing::Test {
 protected:
  static constexpr std::size_t kSizes[] = {7, 200'001, 5000, 65'537, 3};
  static constexpr std::size_t kTensors = std::size(kSizes);
  static constexpr std::uint32_t kChunks = 1 + 4 + 1 + 2 + 1;  // of the device's tables

  DevicePacketsTest() {
    job.seed = 9;
    job.gradient.min_size = 1;
  }

  void start(std::uint64_t seed = 1) {
    encoder.reset();
    there.clear();
    stream.reset();
    watch = std::make_shared<DeviceSeen>();
    device = kernels::make_host_device({.seed = seed, .watch = watch});
    std::vector<nets::ParameterSpec> specs;
    for (std::size_t i = 0; i < kTensors; ++i) {
      specs.emplace_back().name = "tensor" + std::to_string(i);
      specs.back().shape = {kSizes[i]};
    }
    table = std::make_shared<const ParameterTable>(specs, job, 2);
    std::vector<EncodeArithmetic::Expected> expected;
    stream = device->make_stream().value();
    for (std::uint32_t t = 0; t < kTensors; ++t) {
      there.push_back(kernels::DeviceArray<float>::make(*device, kSizes[t]).value());
      expected.push_back({t, {there[t].data(), there[t].size()}});
    }
    encoder = encoder_of(on_device());
    ASSERT_TRUE(encoder->expect(expected).ok());
    on_host = encoder_of(host());
    watch->take(EncodePass::measure);
  }
  std::unique_ptr<HostArithmetic> host() const {
    return std::make_unique<HostArithmetic>(job, 2, kernels::best_isa(), table);
  }
  std::unique_ptr<EncodeArithmetic> on_device() const {
    return DeviceArithmetic::make(job, 2, kernels::best_isa(), table, device, host()).value();
  }
  std::unique_ptr<GradientEncoder> encoder_of(std::unique_ptr<EncodeArithmetic> arithmetic) {
    return std::make_unique<GradientEncoder>(
        job, table, clock,
        GradientEncoder::Events{
            [this](std::uint64_t, std::uint32_t, std::vector<Packet> packets) {
              for (Packet& packet : packets) sent[packet.chunk] = std::move(packet);
            },
            [this](std::uint64_t, std::uint32_t, const std::vector<Offer::OwnScaler>& own) {
              for (const Offer::OwnScaler& one : own) offers[one.index] = one.value;
            }},
        std::move(arithmetic));
  }

  static std::vector<float> gradient(std::uint64_t step, std::size_t tensor) {
    SeededRandom random(100 * step + tensor);
    std::vector<float> values(kSizes[tensor]);
    for (float& value : values) value = static_cast<float>(random.below(2001)) * 1e-5F - 0.01F;
    return values;
  }
  /// A step, whose gradients are given one by one or at once; what left. All offers are agreed to.
  SentPackets step(GradientEncoder& of, std::uint64_t step, bool at_once) {
    sent.clear();
    offers.clear();
    std::vector<std::vector<float>> here;
    of.begin(step);
    if (at_once) of.gather();
    for (std::uint32_t t = kTensors; t-- > 0;) {
      here.push_back(gradient(step, t));
      if (&of == on_host.get()) {
        EXPECT_TRUE(of.add(t, {here.back()}).ok());
        continue;
      }
      EXPECT_TRUE(there[t].upload(*stream, here.back()).ok());
      EXPECT_TRUE(stream->finish().ok());
      const std::size_t before = watch->launches();
      EXPECT_TRUE(of.add(t, {{there[t].data(), there[t].size()}}).ok());
      if (!at_once && job.gradient.codec != "none") {
        EXPECT_GT(watch->launches(), before) << "somebody waits for the next";
      }
    }
    if (at_once) {
      EXPECT_TRUE(of.launch().ok());
    }
    EXPECT_TRUE(of.wait().ok());
    for (const auto& [index, value] : offers) of.agree(step, index, value);
    EXPECT_TRUE(of.encode_held().ok());
    of.flush();
    return std::exchange(sent, {});
  }
  static void expect_same(const SentPackets& found, const SentPackets& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (const auto& [chunk, packet] : expected) {
      EXPECT_EQ(found.at(chunk).scaler, packet.scaler) << chunk;
      EXPECT_TRUE(std::ranges::equal(found.at(chunk).payload.view(), packet.payload.view()))
          << chunk;
    }
  }
  /// Each of these passes was launched once in this step, for all tensors; no other was.
  void expect_one_launch(const std::vector<EncodePass>& passes) {
    for (const EncodePass pass : passes) {
      EXPECT_THAT(watch->take(pass), ElementsAre(kChunks)) << static_cast<int>(pass);
    }
    EXPECT_EQ(watch->launches(), 0U);
  }

  JobConfig job;
  SteadyClock clock;
  std::shared_ptr<DeviceSeen> watch;
  std::shared_ptr<kernels::Device> device;
  std::shared_ptr<const ParameterTable> table;
  std::unique_ptr<kernels::DeviceStream> stream;
  std::vector<kernels::DeviceArray<float>> there;
  std::unique_ptr<GradientEncoder> encoder;
  std::unique_ptr<GradientEncoder> on_host;
  SentPackets sent;
  std::map<std::uint32_t, float> offers;
};

TEST_F(DevicePacketsTest, ThatAreGivenAtOnceAreEncodedByTheLaunchesOfOne) {
  for (const bool error_feedback : {false, true}) {
    job.gradient.error_feedback = error_feedback;
    start();
    for (std::uint64_t of = 0; of < 3; ++of) {
      expect_same(step(*encoder, of, true), step(*on_host, of, true));
      if (error_feedback) {
        expect_one_launch({EncodePass::take_in, EncodePass::measure, EncodePass::ternarize,
                           EncodePass::keep_error});
      } else {
        expect_one_launch({EncodePass::measure, EncodePass::ternarize});
      }
    }
  }
  job.gradient.error_feedback = false;
  job.gradient.codec = "bf16";
  start();
  expect_same(step(*encoder, 0, true), step(*on_host, 0, true));
  expect_one_launch({EncodePass::measure});
}

TEST_F(DevicePacketsTest, ThoseThatComeOneByOneAreNotWaitedFor) {
  start();
  expect_same(step(*encoder, 0, false), step(*on_host, 0, false));
  EXPECT_EQ(watch->take(EncodePass::measure).size(), kTensors);
  EXPECT_EQ(watch->take(EncodePass::ternarize).size(), kTensors);
}

TEST_F(DevicePacketsTest, WhatIsHeldIsEncodedAtOnceWhereItsScalersAreAgreed) {
  job.gradient.scaler = ScalerRule::shared;
  start();
  for (std::uint64_t of = 0; of < 3; ++of) {
    expect_same(step(*encoder, of, false), step(*on_host, of, false));
    EXPECT_EQ(watch->take(EncodePass::measure).size(), kTensors);
    expect_one_launch({EncodePass::ternarize});
  }
  job.gradient.scaler = ScalerRule::last_step;
  start();
  expect_same(step(*encoder, 0, true), step(*on_host, 0, true));
  expect_one_launch({EncodePass::measure, EncodePass::ternarize});
  for (std::uint64_t of = 1; of < 3; ++of) {
    expect_same(step(*encoder, of, true), step(*on_host, of, true));
    expect_one_launch({EncodePass::ternarize_and_measure});
  }
}

TEST_F(DevicePacketsTest, ThoseOfOtherCodecsBetweenThemHaveTheirOwn) {
  job.gradient.tensors = {{"tensor2", "bf16"}, {"tensor3", "none"}, {"tensor4", "sign"}};
  start();
  expect_same(step(*encoder, 0, true), step(*on_host, 0, true));
  EXPECT_THAT(watch->take(EncodePass::ternarize), ElementsAre(1 + 4));
  EXPECT_THAT(watch->take(EncodePass::measure), testing::UnorderedElementsAre(1, 1 + 4));
}

TEST_F(DevicePacketsTest, LieInPinnedMemoryThatStaysWhileAMessageHasThem) {
  for (const char* codec : {"ternary", "bf16", "none"}) {
    job.gradient.codec = codec;
    start();
    std::vector<SentPackets> kept;
    std::vector<SentPackets> expected;
    for (std::uint64_t of = 0; of < 4; ++of) {
      kept.push_back(step(*encoder, of, of % 2 == 0));
      expected.push_back(step(*on_host, of, false));
      for (const auto& [chunk, packet] : kept.back()) {
        EXPECT_TRUE(watch->has(packet.payload.view())) << codec << ", chunk " << chunk;
        const auto at = reinterpret_cast<std::uintptr_t>(packet.payload.data());
        EXPECT_EQ(at % 8, 0U);  // as it is sent by reference
        for (std::size_t i = packet.payload.size(); i % 8 != 0; ++i) {
          EXPECT_EQ(packet.payload.data()[i], std::byte{});  // which is sent, too
        }
      }
    }
    // Nobody but the messages has any of it.
    encoder.reset();
    there.clear();
    stream.reset();
    device.reset();
    EXPECT_EQ(watch->pieces(), kept.size());
    for (std::size_t of = 0; of < kept.size(); ++of) expect_same(kept[of], expected[of]);
    kept.clear();
    EXPECT_EQ(watch->pieces(), 0U);
  }
}

TEST_F(DevicePacketsTest, TakeNoMoreThanIsInFlight) {
  start();
  std::size_t given = watch->given();
  SentPackets last;
  for (std::uint64_t of = 0; of < 6; ++of) {
    SentPackets next = step(*encoder, of, false);
    last = std::move(next);  // one step's are held while the next are made
  }
  EXPECT_EQ(watch->given(), given) << "what two steps take is made before the first";
  std::vector<SentPackets> in_flight(4);
  for (std::uint64_t of = 6; of < 30; ++of) {
    if (of == 14) given = watch->given();
    in_flight[of % 4] = {};
    in_flight[of % 4] = step(*encoder, of, false);
  }
  EXPECT_EQ(watch->given(), given);
}

TEST(PinnedPackets, ComeBackFromWhoeverHasThem) {
  const auto watch = std::make_shared<DeviceSeen>();
  std::shared_ptr<kernels::Device> device = kernels::make_host_device({.watch = watch});
  std::optional<PinnedPackets> packets(std::in_place, device, 2);
  packets->add(1, 100);
  packets->add(0, 8);
  EXPECT_EQ(packets->begin_of(0), 128U);
  ASSERT_TRUE(packets->make(1).ok());
  std::byte* const first = packets->piece().value();
  Bytes held = packets->share(0);
  packets->begin();
  std::byte* const second = packets->piece().value();
  EXPECT_NE(second, first);
  held = {};
  packets->begin();
  EXPECT_EQ(watch->given(), 2U);
  for (int i = 0; i < 2; ++i) {  // either of the two is free
    const std::byte* const again = packets->piece().value();
    EXPECT_TRUE(again == first || again == second);
    held = packets->share(1);
    packets->begin();
  }
  EXPECT_EQ(watch->given(), 2U);
  packets.reset();
  device.reset();
  EXPECT_EQ(watch->pieces(), 2U);
  held = {};
  EXPECT_EQ(watch->pieces(), 0U);
}

}  // namespace
}  // namespace sterna::actors
