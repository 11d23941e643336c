// What a CPU takes says nothing of a card; that all of it is measured, and that what is measured
// makes the CPU's bits, does.
#include "launcher/bench/codec/device/device_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "kernels/device/host_device.h"
#include "kernels/optimizer/optimizer.h"
#include "kernels/sums/sums.h"
#include "kernels/trits/scaler.h"
#include "kernels/trits/ternary.h"
#include "launcher/bench/codec/device/device_encoding.h"
#include "launcher/bench/codec/device/device_server.h"
#include "launcher/bench/codec/device/packets_to_host.h"
#include "tests/gpu/speed_goals.h"

namespace sterna::launcher {
namespace {

using kernels::EncodePass;
using testing::HasSubstr;

using Bytes = std::vector<std::byte>;

DeviceCodecSetup tiny() {
  return {.elements = 66'000, .net = {1000, 64, 513}, .rounds = 1, .least_cache = 0};
}

class DeviceCodec : public testing::Test {
 protected:
  Result<Figures> bench(const std::string& only) { return bench_on(*device_, only); }
  Result<Figures> bench_on(kernels::Device& device, const std::string& only) {
    said_.clear();
    return bench_device_codec(device, tiny(), only,
                              [this](std::string_view part) { said_.emplace_back(part); });
  }
  /// Once, on each buffer.
  void run(const DeviceContender& contender) {
    for (const auto& pass : contender.passes) ASSERT_TRUE(pass().ok());
  }
  template <class T>
  std::vector<T> fetch(const kernels::DeviceArray<T>& from) {
    std::vector<T> values(from.size());
    EXPECT_TRUE(from.download(*stream_, values).ok());
    EXPECT_TRUE(stream_->finish().ok());
    return values;
  }
  /// The CPU's planes of a tensor that is encoded by itself; and its scaler.
  static Bytes trits_of(std::span<const float> gradient, std::uint32_t tensor, float& scaler) {
    constexpr auto kDraw = DeviceEncoding::kDraw;
    const kernels::Isa isa = kernels::best_isa();
    scaler = kernels::scaler(gradient, DeviceEncoding::kClip, isa).value();
    Bytes planes(kernels::planes_bytes(gradient.size()));
    kernels::ternarize(gradient, scaler, {kDraw.seed, kDraw.step, kDraw.rank, tensor}, 0, planes,
                       isa);
    return planes;
  }

  // Late: nothing is done before somebody waits for it.
  std::unique_ptr<kernels::Device> device_ = kernels::make_host_device({.seed = 3});
  std::unique_ptr<kernels::DeviceStream> stream_ = device_->make_stream().value();
  std::vector<std::string> said_;
};

TEST_F(DeviceCodec, MeasuresEveryFigureThatHasAGoal) {
  const Result<Figures> figures = bench("");
  ASSERT_TRUE(figures.ok()) << figures.error().message;
  for (const kernels::SpeedGoal& goal : kernels::kSpeedGoals) {
    EXPECT_TRUE(figures->contains(goal.figure)) << goal.figure;
  }
  EXPECT_TRUE(figures->contains("read_gbps"));
  EXPECT_EQ(figures->at("elements"), 66'000);
  for (const auto& [name, value] : *figures) {
    EXPECT_TRUE(std::isfinite(value) && value > 0) << name << " is " << value;
  }
  EXPECT_THAT(said_, testing::ElementsAre("encode", "net", "host", "sums"));
}

TEST_F(DeviceCodec, MeasuresOnlyThePartsThatAreWanted) {
  const Result<Figures> figures = bench("h");
  ASSERT_TRUE(figures.ok()) << figures.error().message;
  EXPECT_THAT(*figures, testing::UnorderedElementsAre(testing::Key("elements"),
                                                      testing::Key("host_over_pinned_copy")));
  EXPECT_THAT(said_, testing::ElementsAre("host"));
  const Result<Figures> none = bench("entropy");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, Errc::invalid_argument);
  EXPECT_THAT(none.error().message, HasSubstr("begins with 'entropy': encode, net, host, sums"));
}

TEST_F(DeviceCodec, SaysWhatTheDeviceSays) {
  const auto failing = kernels::make_host_device({.fails_after = 40});
  const Result<Figures> failed = bench_on(*failing, "");
  ASSERT_FALSE(failed.ok());
  EXPECT_THAT(failed.error().message, HasSubstr("the host device has failed"));
  const auto small = kernels::make_host_device({.memory = 100'000});
  const Result<Figures> full = bench_on(*small, "encode");
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().code, Errc::overloaded);
}

TEST_F(DeviceCodec, EncodesEachBufferToTheBitsOfTheCpu) {
  const std::vector<std::size_t> tensors{1000, 64, 66'000};
  const auto encoding = DeviceEncoding::make(*device_, *stream_, tiny(), tensors);
  ASSERT_TRUE(encoding.ok()) << encoding.error().message;
  EXPECT_EQ(encoding->bytes(), 4 * 67'064U);
  EXPECT_EQ(encoding->buffers(), 2U);
  run(encoding->contender("encode", {EncodePass::measure, EncodePass::ternarize}));
  for (std::size_t buffer = 0; buffer < encoding->buffers(); ++buffer) {
    const std::vector<float> gradients = fetch(encoding->gradients(buffer));
    Bytes expected;
    std::vector<float> scalers;
    const float* from = gradients.data();
    for (std::uint32_t i = 0; i < tensors.size(); ++i) {
      const Bytes planes = trits_of({from, tensors[i]}, i, scalers.emplace_back());
      expected.insert(expected.end(), planes.begin(), planes.end());
      from += (tensors[i] + 63) / 64 * 64;
    }
    EXPECT_EQ(fetch(encoding->planes(buffer)), expected);
    EXPECT_EQ(fetch(encoding->scalers(buffer)), scalers);
    EXPECT_GT(scalers.front(), 0);
  }
}

TEST_F(DeviceCodec, BringsTheSamePacketsToTheHost) {
  const auto net = PacketsToHost::make(*device_, *stream_, tiny());
  ASSERT_TRUE(net.ok()) << net.error().message;
  run(net->to_host());
  ASSERT_TRUE(stream_->finish().ok());
  ASSERT_EQ(net->groups().size(), 2U);
  Bytes expected;
  for (const DeviceEncoding& group : net->groups()) {
    const Bytes planes = fetch(group.planes(0));
    expected.insert(expected.end(), planes.begin(), planes.end());
  }
  EXPECT_EQ(Bytes(net->packets().begin(), net->packets().end()), expected);
  // The first group is a tensor by itself.
  float scaler = 0;
  const std::vector<float> gradient = fetch(net->groups().front().gradients(0));
  const Bytes first = trits_of(std::span(gradient).first(1000), 0, scaler);
  EXPECT_TRUE(std::equal(first.begin(), first.end(), expected.begin()));
}

TEST_F(DeviceCodec, SumsAndStepsToTheBitsOfTheCpu) {
  constexpr std::uint32_t kRanks = DeviceServer::kRanks;
  const auto server = DeviceServer::make(*device_, *stream_, tiny());
  ASSERT_TRUE(server.ok()) << server.error().message;
  const std::vector<float> gradient = fetch(server->ranks().gradients(0));
  const std::span<const float> elements = std::span(gradient).first(tiny().elements);
  float scaler = 0;
  const Bytes planes = trits_of(elements, 0, scaler);
  Bytes all;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    all.insert(all.end(), planes.begin(), planes.end());
  }
  EXPECT_EQ(fetch(server->planes()), all);

  const std::vector<kernels::Packet> packets(kRanks, {kernels::Packing::planes, scaler, planes});
  const kernels::Isa isa = kernels::best_isa();
  Bytes sums(kernels::sum_bytes(elements.size(), kRanks));
  kernels::sum_trits(packets, sums, isa);
  run(server->aggregate());
  EXPECT_EQ(fetch(server->sums()), sums);

  // One way after the other, from what the first has left as momentum.
  kernels::UpdateOptions options{.optimizer = kernels::find_optimizer("momentum").value()};
  std::ranges::copy(DeviceServer::kStep.value, options.constants.value);
  const std::vector<float> current(elements.size());
  std::vector<float> next(elements.size());
  std::vector<float> slot(elements.size());
  const std::array slots{std::span(slot)};
  const kernels::Parameters parameters{.current = current, .slots = slots, .next = next};
  kernels::update(packets, options, parameters, isa);
  run(server->fused());
  EXPECT_EQ(fetch(server->stepped()), next);
  EXPECT_NE(next.front(), next.back());
  const kernels::Packet plain{kernels::Packing::fp32, 0, std::as_bytes(elements)};
  kernels::update(std::span(&plain, 1), options, parameters, isa);
  run(server->momentum());
  EXPECT_EQ(fetch(server->stepped()), next);
}

TEST(NetTensors, AreThoseOfTheirNets) {
  const auto all = [](const std::vector<std::size_t>& tensors) {
    return std::accumulate(tensors.begin(), tensors.end(), std::size_t{0});
  };
  EXPECT_EQ(resnet50_tensors().size(), 161U);
  EXPECT_EQ(all(resnet50_tensors()), 25'557'032U);
  EXPECT_EQ(lenet_tensors().size(), 8U);
  EXPECT_EQ(all(lenet_tensors()), 431'080U);
}

}  // namespace
}  // namespace sterna::launcher
