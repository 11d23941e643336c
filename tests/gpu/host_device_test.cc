// A device's kernels, run by the CPU: their arithmetic is the CPU's own, bit for bit, in whatever
// order the streams run.
#include "kernels/device/host_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>

#include "codec_checks.h"
#include "kernels/device/device_exchange.h"
#include "kernels/device/tables.h"
#include "kernels/random/philox.h"
#include "kernels/sums/sums.h"
#include "kernels/trits/ternary_device.h"
#include "tests/kernels/gradients.h"
#include "tests/kernels/page.h"

namespace sterna::kernels {
namespace {

using testing::HasSubstr;

class CodecOnTheHost : public testing::TestWithParam<std::size_t> {};

TEST_P(CodecOnTheHost, HasTheBitsOfTheCpu) {
  const DeviceCheck check = codec_checks()[GetParam()];
  const auto device = make_host_device({.seed = GetParam()});
  const Result<void> held = check.run(*device, Thoroughness::quick);
  EXPECT_TRUE(held.ok()) << check.name << ": " << held.error().message;
}

INSTANTIATE_TEST_SUITE_P(Checks, CodecOnTheHost, testing::Range<std::size_t>(0, 13));

TEST(CodecOnTheHost, HasAsManyChecksAsAreRunHere) { EXPECT_EQ(codec_checks().size(), 13U); }

std::vector<Vector> vectors(const std::string& name) { return vectors_of(STERNA_TRITS_PAGE, name); }

/// A tensor's part [first, first + n) through the tables, as a chunk of its own.
class PageTensor {
 public:
  PageTensor(std::vector<float> g, std::uint64_t first, float scaler, const TernaryDraw& draw,
             float clip = 2.5F)
      : g_(std::move(g)), planes_(planes_bytes(g_.size())), step_{draw.seed, draw.step, draw.rank} {
    tensor_.elements = g_.size();
    tensor_.tensor = draw.tensor;
    tensor_.found = &found_;
    tensor_.scaler = &scaler_;
    scaler_ = scaler;
    for (std::size_t at = 0; at < g_.size(); at += kChunkElements) {
      ChunkWork chunk;
      chunk.values = g_.data() + at;
      chunk.planes = planes_.data() + planes_bytes(at);
      chunk.first = first + at;
      chunk.count = static_cast<std::uint32_t>(std::min(kChunkElements, g_.size() - at));
      chunk.chunk = tensor_.chunks++;
      chunks_.push_back(chunk);
    }
    measured_.resize(chunks_.size());
    tensor_.measured = measured_.data();
    launch_ = {chunks_.data(), static_cast<std::uint32_t>(chunks_.size()), &tensor_, &step_, clip};
  }
  PageTensor(const PageTensor&) = delete;
  PageTensor& operator=(const PageTensor&) = delete;

  void run(EncodePass pass) {
    const auto device = make_host_device({});
    const auto stream = std::move(device->make_stream()).value();
    ASSERT_TRUE(stream->encode(pass, launch_).ok());
    ASSERT_TRUE(stream->finish().ok());
  }
  std::span<const std::byte> planes() const { return planes_; }
  const TensorMeasured& found() const { return found_; }

 private:
  std::vector<float> g_;
  std::vector<std::byte> planes_;
  StepOfRank step_;
  float scaler_ = 0;
  TensorWork tensor_;
  TensorMeasured found_;
  std::vector<ChunkMeasured> measured_;
  std::vector<ChunkWork> chunks_;
  EncodeLaunch launch_;
};

TernaryDraw page_draw(const Vector& v, std::size_t at) {
  return {v.hex(at), static_cast<std::uint32_t>(v.number(at + 1)),
          static_cast<std::uint32_t>(v.number(at + 2)),
          static_cast<std::uint32_t>(v.number(at + 3))};
}

TEST(TritsPageOnTheHost, ElementsHaveTheWordsOfThePage) {
  for (const Vector& v : vectors("word")) {
    const TernaryDraw draw = page_draw(v, 0);
    const std::uint64_t index = v.number(4);
    const BlockDraw block = draw_of({draw.seed, draw.step, draw.rank}, draw.tensor, index);
    const auto column = static_cast<std::uint32_t>(index % kWarpLanes);
    const auto row = static_cast<std::uint32_t>(index % kPlaneBlock / kWarpLanes);
    EXPECT_EQ(hex(draw_column(block, column, Stream::ternary).of_row(row), 8), v.expected[0]);
  }
}

TEST(TritsPageOnTheHost, ScalersAreThePages) {
  for (const Vector& v : vectors("scaler")) {
    PageTensor tensor(page_gradient(0, v.number(0)), 0, 0, {}, v.real(1));
    tensor.run(EncodePass::measure);
    EXPECT_EQ(tensor.found().non_finite, 0U);
    EXPECT_EQ(hex(std::bit_cast<std::uint32_t>(tensor.found().scaler), 8), v.expected[0]);
  }
}

TEST(TritsPageOnTheHost, SumsAreGroupedAsThePageSays) {
  for (const Vector& v : vectors("sigma_sums")) {
    std::vector<float> gradient = page_gradient(0, v.number(0));
    shrink_by_blocks(gradient);
    for (const EncodePass pass : {EncodePass::measure, EncodePass::ternarize_and_measure}) {
      PageTensor tensor(gradient, 0, 0.1F, {});
      tensor.run(pass);
      EXPECT_EQ(hex(std::bit_cast<std::uint64_t>(tensor.found().sums.sum), 16), v.expected[0]);
      EXPECT_EQ(hex(std::bit_cast<std::uint64_t>(tensor.found().sums.squares), 16), v.expected[1]);
    }
  }
}

std::vector<std::byte> page_planes(const Vector& v, EncodePass pass) {
  const auto g = page_gradient(v.number(1), v.number(0));
  PageTensor tensor(g, v.number(1), v.real(2), page_draw(v, 3));
  tensor.run(pass);
  return {tensor.planes().begin(), tensor.planes().end()};
}

TEST(TritsPageOnTheHost, PlanesAreThePages) {
  for (const EncodePass pass : {EncodePass::ternarize, EncodePass::ternarize_and_measure}) {
    for (const Vector& v : vectors("planes")) {
      const auto planes = page_planes(v, pass);
      const std::string rest(112, '0');
      EXPECT_EQ(hex(std::span(planes).first(64)), std::string(v.expected[0]).append(rest));
      EXPECT_EQ(hex(std::span(planes).last(64)), std::string(v.expected[1]).append(rest));
    }
    for (const Vector& v : vectors("hash")) {
      EXPECT_EQ(hex(fnv1a(page_planes(v, pass)), 16), v.expected[0]);
    }
  }
}

TEST(TritsPageOnTheHost, SumsOfRanksAreThePages) {
  for (Vector v : vectors("sums")) {
    const auto ranks = static_cast<std::uint32_t>(v.number(5));
    std::vector<std::vector<std::byte>> planes;
    std::vector<DevicePacket> packets;
    const float scaler = v.real(2);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      v.given[5] = std::to_string(rank);
      planes.push_back(page_planes(v, EncodePass::ternarize));
    }
    const auto device = make_host_device({});
    const auto stream = std::move(device->make_stream()).value();
    std::vector<DeviceArray<std::byte>> payloads;
    for (const auto& payload : planes) {
      payloads.push_back(std::move(uploaded<std::byte>(*device, *stream, payload)).value());
      packets.push_back({payloads.back().data(), &scaler, Packing::planes});
    }
    auto sums =
        std::move(DeviceArray<std::byte>::make(*device, sum_bytes(v.number(0), ranks))).value();
    std::vector<SumWork> work;
    append_sums(packets.data(), v.number(0), ranks, sums.data(), work);
    ASSERT_TRUE(
        stream->sum_trits({work.data(), static_cast<std::uint32_t>(work.size()), ranks}).ok());
    ASSERT_TRUE(stream->finish().ok());
    const std::span<const std::byte> found(sums.data(), sums.size());
    for (std::size_t plane = 0; plane < sum_planes(ranks); ++plane) {
      EXPECT_EQ(hex(found.subspan(plane * 64, 8)), v.expected[plane]);
    }
    EXPECT_EQ(hex(fnv1a(found), 16), v.expected.back());
  }
}

// Two streams: what one makes, the other reads once it has waited for the event, and the first may
// overwrite it only once it has waited for the second's.
int handed_over(std::uint64_t seed, bool waits) {
  const auto device = make_host_device({.seed = seed});
  const auto writer = std::move(device->make_stream()).value();
  const auto reader = std::move(device->make_stream()).value();
  const auto written = std::move(device->make_event(EventUse::host)).value();
  const auto read = std::move(device->make_event(EventUse::host)).value();
  std::array<int, 8> from{};
  std::array<int, 8> to{};
  std::iota(from.begin(), from.end(), 1);
  int between = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (waits && i > 0) {
      EXPECT_TRUE(writer->wait_for(*read).ok());
    }
    EXPECT_TRUE(writer->copy(&between, &from[i], sizeof(int)).ok());
    EXPECT_TRUE(writer->record(*written).ok());
    if (waits) {
      EXPECT_TRUE(reader->wait_for(*written).ok());
    }
    EXPECT_TRUE(reader->copy(&to[i], &between, sizeof(int)).ok());
    EXPECT_TRUE(reader->record(*read).ok());
  }
  EXPECT_TRUE(reader->finish().ok());
  EXPECT_TRUE(writer->finish().ok());
  return to == from ? 1 : 0;
}

TEST(HostDevice, RunsLateAndInEveryOrderThatTheEventsAllow) {
  int without = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_EQ(handed_over(seed, true), 1) << seed;
    without += handed_over(seed, false);
  }
  EXPECT_LT(without, 5);  // who does not wait is found out
}

TEST(HostDevice, RunsInTheOrderOfTheCallsWhereItIsNotLate) {
  const auto device = make_host_device({.late = false});
  const auto stream = std::move(device->make_stream()).value();
  int from = 1;
  int to = 0;
  ASSERT_TRUE(stream->copy(&to, &from, sizeof to).ok());
  EXPECT_EQ(to, 1);
}

TEST(HostDevice, HidesItsMemoryFromWhoeverIsNotItsWork) {
  const auto device = make_host_device({.hidden = true});
  const auto stream = std::move(device->make_stream()).value();
  const std::vector<int> sent{1, 2, 3};
  const auto there = std::move(uploaded<int>(*device, *stream, sent)).value();
  std::vector<int> found(sent.size());
  ASSERT_TRUE(there.download(*stream, found).ok());
  ASSERT_TRUE(stream->finish().ok());
  EXPECT_EQ(found, sent);
  EXPECT_DEATH(static_cast<void>(static_cast<volatile int*>(there.data())[0]), "");
}

TEST(HostDevice, WaitsForAnEventAndForNoMore) {
  const auto device = make_host_device({.seed = 2});
  const auto stream = std::move(device->make_stream()).value();
  const auto event = std::move(device->make_event(EventUse::host)).value();
  std::array<int, 2> from{1, 2};
  std::array<int, 2> to{};
  ASSERT_TRUE(stream->copy(&to[0], &from[0], sizeof(int)).ok());
  ASSERT_TRUE(stream->record(*event).ok());
  ASSERT_TRUE(stream->copy(&to[1], &from[1], sizeof(int)).ok());
  ASSERT_TRUE(event->wait().ok());
  EXPECT_THAT(to, testing::ElementsAre(1, 0));
}

TEST(HostDevice, SaysThatAnEventHasPassedOnlyWhenItHas) {
  const auto device = make_host_device({.seed = 4});
  const auto stream = std::move(device->make_stream()).value();
  const auto event = std::move(device->make_event(EventUse::host)).value();
  EXPECT_TRUE(*event->passed());  // nothing was recorded
  int from = 1;
  int to = 0;
  ASSERT_TRUE(stream->copy(&to, &from, sizeof to).ok());
  ASSERT_TRUE(stream->record(*event).ok());
  EXPECT_EQ(to, 0);
  for (;;) {
    const Result<bool> passed = event->passed();
    ASSERT_TRUE(passed.ok());
    EXPECT_EQ(to, *passed ? 1 : to);
    if (*passed) break;
  }
}

TEST(HostDevice, FailsOnDemandAndFromThenOn) {
  const auto device = make_host_device({.fails_after = 2});
  const auto stream = std::move(device->make_stream()).value();
  std::array<int, 3> from{1, 2, 3};
  std::array<int, 3> to{};
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(stream->copy(&to[i], &from[i], sizeof(int)).ok());
  }
  const Result<void> finished = stream->finish();
  ASSERT_FALSE(finished.ok());
  EXPECT_THAT(finished.error().message, HasSubstr("has failed"));
  EXPECT_THAT(to, testing::ElementsAre(1, 2, 0));
  EXPECT_FALSE(stream->copy(&to[2], &from[2], sizeof(int)).ok());
}

TEST(HostDevice, FailsSoonWhereThatIsWantedInTheMiddleOfItsWork) {
  const auto device = make_host_device({});
  const auto stream = std::move(device->make_stream()).value();
  std::array<int, 4> from{1, 2, 3, 4};
  std::array<int, 4> to{};
  ASSERT_TRUE(stream->copy(to.data(), from.data(), sizeof(int)).ok());
  ASSERT_TRUE(stream->finish().ok());
  for (std::size_t i = 1; i < to.size(); ++i) {
    if (i == 2) device->fail_soon();
    ASSERT_TRUE(stream->copy(&to[i], &from[i], sizeof(int)).ok());
  }
  EXPECT_FALSE(stream->finish().ok());
  EXPECT_THAT(to, testing::ElementsAre(1, 2, 0, 0));
  EXPECT_FALSE(stream->finish().ok());
}

TEST(HostDevice, SaysWhatIsFreeWhenMemoryIsShort) {
  const auto device = make_host_device({.memory = 4096});
  const auto kept = DeviceArray<std::byte>::make(*device, 3000);
  ASSERT_TRUE(kept.ok());
  const auto more = DeviceArray<std::byte>::make(*device, 2000);
  ASSERT_FALSE(more.ok());
  EXPECT_THAT(more.error().message, HasSubstr("2000 bytes are more than the 1024"));
  { const auto fits = DeviceArray<std::byte>::make(*device, 1000); }
  EXPECT_TRUE(DeviceArray<std::byte>::make(*device, 1024).ok());
}

// Behind it a device may write its next part, whether or not the others' streams have come that
// far.
TEST(DeviceExchange, BringsAllPartsToAllDevicesBeforeTheyAreWrittenAnew) {
  constexpr std::size_t kDevices = 3;
  constexpr std::size_t kRounds = 4;
  for (std::uint64_t seed = 0; seed < 200 && !testing::Test::HasFailure(); ++seed) {
    const std::shared_ptr<Device> device = make_host_device({.seed = seed});
    const auto exchange = make_copying_exchange({device, device, device}).value();
    std::array<std::array<std::uint32_t, kDevices>, kDevices> parts{};
    std::array<std::array<std::uint32_t, kRounds>, kDevices> own{};
    std::array<std::array<std::array<std::uint32_t, kDevices>, kRounds>, kDevices> found{};
    std::vector<std::unique_ptr<DeviceStream>> streams;
    std::vector<DeviceExchange::Place> places;
    for (std::size_t d = 0; d < kDevices; ++d) {
      streams.push_back(device->make_stream().value());
      places.push_back({streams.back().get(), reinterpret_cast<std::byte*>(parts[d].data())});
    }
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      for (std::size_t d = 0; d < kDevices; ++d) {
        own[d][round] = 10 * round + static_cast<std::uint32_t>(d);
        ASSERT_TRUE(streams[d]->copy(&parts[d][d], &own[d][round], sizeof(std::uint32_t)).ok());
      }
      ASSERT_TRUE(exchange->gather(places, sizeof(std::uint32_t)).ok());
      for (std::size_t d = 0; d < kDevices; ++d) {
        ASSERT_TRUE(
            streams[d]->copy(found[d][round].data(), parts[d].data(), sizeof(parts[d])).ok());
      }
    }
    for (std::size_t d = 0; d < kDevices; ++d) {
      ASSERT_TRUE(streams[d]->finish().ok());
      for (std::uint32_t round = 0; round < kRounds; ++round) {
        EXPECT_THAT(found[d][round],
                    testing::ElementsAre(10 * round, 10 * round + 1, 10 * round + 2))
            << "device " << d << ", seed " << seed;
      }
    }
  }
}

TEST(DeviceExchange, ScattersToEachDeviceItsSlicesOfTheOthersBeforeTheyAreWrittenAnew) {
  constexpr std::size_t kDevices = 3;
  constexpr std::size_t kPackets = 2;
  constexpr std::uint32_t kRounds = 4;
  const auto number = [](std::uint32_t round, std::size_t device, std::size_t packet,
                         std::size_t slice) {
    return static_cast<std::uint32_t>(1000 * round + 100 * device + 10 * packet + slice);
  };
  for (std::uint64_t seed = 0; seed < 200 && !testing::Test::HasFailure(); ++seed) {
    const std::shared_ptr<Device> device = make_host_device({.seed = seed});
    const auto exchange = make_copying_exchange({device, device, device}).value();
    using Packets = std::array<std::array<std::uint32_t, kDevices>, kPackets>;
    using Slices = std::array<std::array<std::uint32_t, kPackets>, kDevices - 1>;
    std::array<Packets, kDevices> packets{};
    std::array<Slices, kDevices> slices{};
    std::array<std::array<Packets, kRounds>, kDevices> own{};
    std::array<std::array<Slices, kRounds>, kDevices> found{};
    std::vector<std::unique_ptr<DeviceStream>> streams;
    std::vector<DeviceExchange::Scattered> ends;
    for (std::size_t d = 0; d < kDevices; ++d) {
      streams.push_back(device->make_stream().value());
      ends.push_back({streams.back().get(), reinterpret_cast<const std::byte*>(&packets[d]),
                      reinterpret_cast<std::byte*>(&slices[d])});
    }
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      for (std::size_t d = 0; d < kDevices; ++d) {
        for (std::size_t p = 0; p < kPackets; ++p) {
          for (std::size_t s = 0; s < kDevices; ++s) own[d][round][p][s] = number(round, d, p, s);
        }
        ASSERT_TRUE(streams[d]->copy(&packets[d], &own[d][round], sizeof(Packets)).ok());
      }
      ASSERT_TRUE(exchange
                      ->scatter(ends, {.count = kPackets,
                                       .stride = kDevices * sizeof(std::uint32_t),
                                       .slice = sizeof(std::uint32_t)})
                      .ok());
      for (std::size_t d = 0; d < kDevices; ++d) {
        ASSERT_TRUE(streams[d]->copy(&found[d][round], &slices[d], sizeof(Slices)).ok());
      }
    }
    for (std::size_t d = 0; d < kDevices; ++d) {
      ASSERT_TRUE(streams[d]->finish().ok());
      for (std::uint32_t round = 0; round < kRounds; ++round) {
        for (std::size_t from = 0; from < kDevices; ++from) {
          if (from == d) continue;
          EXPECT_THAT(found[d][round][DeviceExchange::place_of(from, d)],
                      testing::ElementsAre(number(round, from, 0, d), number(round, from, 1, d)))
              << "device " << d << ", seed " << seed;
        }
      }
    }
  }
}

TEST(DeviceExchange, WantsAPlaceForEachDevice) {
  const std::shared_ptr<Device> device = make_host_device({});
  const auto exchange = make_copying_exchange({device, device}).value();
  EXPECT_EQ(exchange->gather({}, 4).error().code, Errc::invalid_argument);
  EXPECT_EQ(exchange->scatter({}, {1, 8, 4}).error().code, Errc::invalid_argument);
}

TEST(EncodePlan, OfAnEmptyTensorHasAScalerOfZero) {
  const auto device = make_host_device({});
  const auto stream = std::move(device->make_stream()).value();
  const EncodedTensor empty;
  const auto plan = EncodePlan::make(*device, *stream, {&empty, 1}, nullptr, 2.5F);
  ASSERT_TRUE(plan.ok());
  ASSERT_TRUE(stream->encode(EncodePass::measure, plan->launch()).ok());
  ASSERT_TRUE(stream->finish().ok());
  EXPECT_EQ(plan->found().data()->non_finite, 0U);
  EXPECT_EQ(plan->found().data()->scaler, 0);
}

}  // namespace
}  // namespace sterna::kernels
