// The module's own sources, kernels and all, compiled for the host with headers that play CUDA's:
// which block and thread does what, who waits for whom, and who makes a tensor's scaler.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "cuda_watch.h"
#include "encode_case.h"
#include "kernels/device/cuda/cuda_device.h"
#include "kernels/device/device_exchange.h"
#include "kernels/device/host_device.h"
#include "kernels/device/tables.h"
#include "kernels/trits/statistics.h"
#include "kernels/trits/ternary.h"
#include "layer_case.h"
#include "nets/net.h"
#include "norm_case.h"
#include "quad_case.h"
#include "rounding_case.h"
#include "step_case.h"
#include "tests/kernels/gradients.h"

namespace sterna::kernels {
namespace {

class EmulatedCuda : public testing::Test {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<Device>> opened = open_cuda_device(0);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    device_ = std::move(opened).value();
  }
  static void expect(const Result<void>& held) { EXPECT_TRUE(held.ok()) << held.error().message; }

  std::unique_ptr<Device> device_;
};

EncodeCase some_tensors(float clip) {
  EncodeCase what{.clip = clip, .draw = {77, 5, 3}, .first_tensor = 9};
  for (const std::size_t n : {0, 1, 33, 511, 512, 513, 4097, 8193}) {
    what.tensors.push_back(gaussian(n, 0.1F, n));
  }
  return what;
}

TEST_F(EmulatedCuda, EncodesLikeTheCpu) {
  for (const float clip : {2.5F, 0.0F}) {
    EncodeCase what = some_tensors(clip);
    if (clip > 0) what.tensors.push_back(gaussian(kChunkElements + 10'001, 0.1F, 4));
    expect(encodes_like_the_cpu(*device_, what));
  }
}

TEST_F(EmulatedCuda, FeedsErrorsBackAndEncodesBf16LikeTheCpu) {
  expect(feeds_errors_back_like_the_cpu(*device_, some_tensors(2.5F)));
  expect(encodes_bf16_like_the_cpu(*device_, some_tensors(2.5F)));
}

TEST_F(EmulatedCuda, SumsAndStepsLikeTheCpu) {
  using enum Packing;
  for (const std::size_t ranks : {1, 3, 8, 17}) {
    expect(sums_like_the_cpu(
        *device_,
        {{0, 1, 513, 4100, kChunkElements + 700}, std::vector<Packing>(ranks, planes), ranks}));
  }
  expect(steps_like_the_cpu(*device_, {{0, 1, 513, 4100}, {planes, bf16, fp32}, 1}));
  expect(steps_like_the_cpu(*device_, {{700, kChunkElements + 700}, {planes, planes}, 2}));
  expect(averages_from_fp32_sums_like_the_cpu(
      *device_, {{1, 513, kChunkElements + 700}, {fp32, fp32, fp32}, 3}));
}

// More chunks than a block has threads, each of a few elements: the last one's block adds them up.
TEST_F(EmulatedCuda, AddsUpTheChunksOfATensorInOrderWhateverOrderTheyAreDoneIn) {
  constexpr std::size_t kChunks = 260;
  constexpr std::uint32_t kEach = 5;
  auto g = gaussian(kChunks * kEach, 1.0F, 8);
  for (std::size_t i = 0; i < g.size(); ++i) {
    g[i] = std::ldexp(g[i], -static_cast<int>(i / kEach % 32));
  }
  GradientStatistics expected;
  std::vector<ChunkMeasured> measured(kChunks);
  TensorMeasured found;
  TensorWork tensor;
  tensor.elements = g.size();
  tensor.chunks = kChunks;
  tensor.measured = measured.data();
  tensor.found = &found;
  std::vector<ChunkWork> chunks(kChunks);
  for (std::uint32_t c = 0; c < kChunks; ++c) {
    chunks[c].values = g.data() + c * kEach;
    chunks[c].count = kEach;
    chunks[c].chunk = c;
    expected.fold(measure_chunk(std::span(g).subspan(c * kEach, kEach), 2.5F, Isa::scalar));
  }
  const auto stream = std::move(device_->make_stream()).value();
  for (int launch = 0; launch < 2; ++launch) {
    expect(stream->encode(EncodePass::measure, {chunks.data(), kChunks, &tensor, nullptr, 2.5F}));
    EXPECT_EQ(found.sums.sum, expected.sum());
    EXPECT_EQ(found.sums.squares, expected.squares());
    EXPECT_EQ(found.scaler, *expected.scaler(2.5F, g));
    EXPECT_EQ(tensor.arrived, 0U);
    found = {};
  }
}

TEST_F(EmulatedCuda, ComputesLayersLikeTheCpu) {
  expect(computes_layers_like_the_cpu(*device_));
  expect(normalizes_as_defined(*device_));
  expect(takes_quads_like_single_numbers(*device_));
  expect(rounds_layers_like_the_cpu(*device_));
}

/// The gradients of the last of some steps of a net, copied once they are complete.
std::vector<std::vector<float>> gradients_on(std::shared_ptr<Device> device, const char* name,
                                             std::uint32_t steps,
                                             nets::Element precision = nets::Element::fp32) {
  struct Fetched final : nets::GradientSink {
    explicit Fetched(Device& device) : stream(std::move(device.make_stream()).value()) {}
    void gradient(std::size_t index, const nets::Gradient& gradient) override {
      if (gradients.size() <= index) gradients.resize(index + 1);
      gradients[index].resize(gradient.values.size());
      ASSERT_TRUE(stream->wait_for(*gradient.complete).ok());
      ASSERT_TRUE(
          stream
              ->copy(gradients[index].data(), gradient.values.data(), gradient.values.size_bytes())
              .ok());
    }
    std::unique_ptr<DeviceStream> stream;
    std::vector<std::vector<float>> gradients;
  } fetched(*device);
  auto made = nets::make_net(
      {.name = name,
       .images = {.rows = 12, .columns = 12, .channels = 3, .classes = 10},
       .batch = 3,
       .weight_decay = 0.01F,
       .divisor = 10,
       .backend = {.name = "device", .precision = precision, .device = std::move(device)}});
  EXPECT_TRUE(made.ok()) << made.error().message;
  nets::Net& net = **made;
  for (std::uint32_t i = 0; i < net.parameters().size(); ++i) {
    std::vector<float> values(net.parameters()[i].count());
    nets::initialize(values, net.parameters()[i], {123, i});
    EXPECT_TRUE(net.write_parameter(i, 0, values).ok());
    net.parameters_changed(i);
  }
  std::vector<std::uint8_t> pixels(std::size_t{3} * 12 * 12 * 3);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * 7);
  const std::vector<float> levels(18, 0.5F);
  const std::vector<std::uint16_t> labels{1, 7, 3};
  for (std::uint32_t step = 0; step < steps; ++step) {
    const nets::StepDraw draw{.seed = 5, .step = step, .rank = 1};
    const nets::PixelImages images{pixels, levels};
    EXPECT_TRUE(net.train_step(images, labels, fetched, draw).ok());
    EXPECT_TRUE(fetched.stream->finish().ok());
  }
  EXPECT_THAT(net.implementations(), testing::IsEmpty());  // nor any pass that is not recorded
  return fetched.gradients;
}

// Each kernel's own grid and threads, through a whole step.
TEST_F(EmulatedCuda, TrainsNetsWithTheBitsOfTheHostDevice) {
  const std::shared_ptr<Device> cuda = std::move(device_);
  for (const char* name : {"mlp", "lenet", "cifarnet", "resnet_20", "googlenet"}) {
    // With dropout: of a pass that is repeated then, with other draws.
    const std::uint32_t steps = name == std::string("googlenet") ? 3 : 1;
    const auto found = gradients_on(cuda, name, steps);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found, gradients_on(make_host_device({.seed = 3}), name, steps)) << name;
  }
  for (const char* name : {"lenet", "resnet_20", "googlenet"}) {
    EXPECT_EQ(gradients_on(cuda, name, 1, nets::Element::bf16),
              gradients_on(make_host_device({.seed = 4}), name, 1, nets::Element::bf16))
        << name;
  }
}

/// Whether `device` has been given access to the memory of `peer`; it has from now on.
bool reached(int device, int peer) {
  cudaSetDevice(device);
  return cudaDeviceEnablePeerAccess(peer, 0) == cudaErrorPeerAccessAlreadyEnabled;
}

TEST_F(EmulatedCuda, CopiesStraightBetweenDevicesThatReachEachOther) {
  const std::shared_ptr<Device> zero = std::move(device_);
  const std::shared_ptr<Device> one = open_cuda_device(1).value();
  const std::shared_ptr<Device> two = open_cuda_device(2).value();
  const std::shared_ptr<Device> apart = open_cuda_device(7).value();
  for (int again = 0; again < 2; ++again) {
    EXPECT_TRUE(make_copying_exchange({zero, one, apart, zero}).ok());
    EXPECT_EQ(zero->reach(*two).value(), true);
    EXPECT_EQ(zero->reach(*zero).value(), true);
    EXPECT_EQ(zero->reach(*apart).value(), false);
  }
  EXPECT_TRUE(reached(0, 1));
  EXPECT_TRUE(reached(1, 0));
  EXPECT_TRUE(reached(0, 2));
  EXPECT_FALSE(reached(2, 0));
}

// A graph takes no waiting, no memory, and of events those that are for others: a real stream that
// is captured would say so, and the pass would be launched piece by piece for ever.
TEST_F(EmulatedCuda, RecordsWhatAStreamIsToldAndSaysOfWhatNoGraphTakes) {
  const auto stream = device_->make_stream().value();
  const auto other = device_->make_stream().value();
  const auto event = device_->make_event(EventUse::host).value();
  auto values = DeviceArray<float>::make(*device_, 5).value();
  const ElementLaunch add_up{.pass = ElementPass::add,
                             .a = values.data(),
                             .b = values.data(),
                             .out = values.data(),
                             .count = values.size()};
  std::fill_n(values.data(), values.size(), 1.0F);
  expect(stream->begin_recording());
  expect(stream->layer(add_up));
  expect(stream->record(*event));
  expect(other->wait_for(*event));
  const auto recording = stream->end_recording();
  ASSERT_TRUE(recording.ok()) << recording.error().message;
  EXPECT_EQ(values.data()[4], 1);
  for (const float expected : {2.0F, 4.0F}) {
    expect(stream->repeat(**recording));
    expect(event->wait());
    expect(other->wait_for(*event));
    EXPECT_EQ(values.data()[4], expected);
  }
  const std::function<bool()> refused[] = {
      [&] { return device_->allocate(1).ok(); }, [&] { return device_->allocate_on_host(1).ok(); },
      [&] { return event->wait().ok(); },        [&] { return event->passed().ok(); },
      [&] { return other->finish().ok(); },
  };
  for (const auto& done : refused) {
    expect(stream->begin_recording());
    EXPECT_FALSE(done());
    EXPECT_FALSE(stream->end_recording().ok());
    expect(stream->layer(add_up));  // as before
  }
  EXPECT_EQ(values.data()[4], 4 << std::size(refused));
}

/// Steps of a small net on a device of its own, the first of whose gradients are encoded: the
/// second is recorded, later ones repeat it. `calls`: how many of CUDA's they took, before anything
/// of it is given back. `before`: what happens to the device just before the last step.
Result<void> some_steps(const CudaWatch& watch, std::uint64_t& calls, std::uint32_t steps = 1,
                        const std::function<void(Device& device)>& before = nullptr) {
  struct Encodes final : nets::GradientSink {
    Encodes(Device& on, DeviceStream& of, const StepOfRank* at)
        : device(on), stream(of), draw(at) {}
    void gradient(std::size_t index, const nets::Gradient& gradient) override {
      if (encodes && done) done = encode(index, gradient);
    }
    Result<void> encode(std::size_t index, const nets::Gradient& gradient) {
      const std::size_t bytes = planes_bytes(gradient.values.size());
      STERNA_ASSIGN(planes.emplace_back(), DeviceArray<std::byte>::make(device, bytes));
      const EncodedTensor what{.tensor = static_cast<std::uint32_t>(index),
                               .elements = gradient.values.size(),
                               .values = const_cast<float*>(gradient.values.data()),
                               .planes = planes.back().data()};
      STERNA_ASSIGN(EncodePlan plan, EncodePlan::make(device, stream, {&what, 1}, draw, 2.5F));
      const EncodeLaunch launch = plan.launch();
      plans.push_back(std::move(plan));
      STERNA_TRY(stream.wait_for(*gradient.complete));
      STERNA_TRY(stream.encode(EncodePass::measure, launch));
      return stream.encode(EncodePass::ternarize, launch);
    }
    Device& device;
    DeviceStream& stream;
    const StepOfRank* draw;
    std::vector<DeviceArray<std::byte>> planes;
    std::vector<EncodePlan> plans;
    bool encodes = true;
    Result<void> done;
  };
  STERNA_ASSIGN(std::unique_ptr<Device> opened, open_cuda_device(0));
  const std::shared_ptr<Device> device = std::move(opened);
  STERNA_ASSIGN(const auto stream, device->make_stream());
  STERNA_ASSIGN(const auto draw, DeviceArray<StepOfRank>::make(*device, 1));
  Encodes sink(*device, *stream, draw.data());
  STERNA_ASSIGN(const auto net,
                nets::make_net({.name = "mlp",
                                .images = {.rows = 4, .columns = 4, .channels = 1, .classes = 3},
                                .hidden = {5},
                                .batch = 2,
                                .weight_decay = 0.01F,
                                .backend = {.name = "device", .device = device}}));
  for (std::uint32_t i = 0; i < net->parameters().size(); ++i) {
    const std::vector<float> values(net->parameters()[i].count(), 0.1F);
    STERNA_TRY(net->write_parameter(i, 0, values));
    net->parameters_changed(i);
  }
  const std::vector<std::uint8_t> pixels(32, 7);
  const std::vector<float> levels(4, 0.5F);
  const std::vector<std::uint16_t> labels{1, 2};
  for (std::uint32_t step = 1; step <= steps; ++step) {
    if (before && step == steps) before(*device);
    STERNA_TRY(net->train_step(nets::PixelImages{pixels, levels}, labels, sink));
    STERNA_TRY(sink.done);
    STERNA_TRY(stream->finish());
    sink.encodes = false;
  }
  calls = watch.calls();
  return {};
}

TEST(EmulatedCudaFaults, WhicheverCallFailsIsOneLineWithWhatToDoAndLeavesNothing) {
  std::uint64_t calls = 0;
  {
    const CudaWatch watch;
    const Result<void> done = some_steps(watch, calls);
    ASSERT_TRUE(done.ok()) << done.error().message;
    EXPECT_EQ(watch.live(), LiveCuda());
  }
  ASSERT_GT(calls, 100U);
  const std::uint64_t of_first = calls;
  {  // and of passes that are recorded, and repeated
    const CudaWatch watch;
    ASSERT_TRUE(some_steps(watch, calls, 3).ok());
    EXPECT_EQ(watch.live(), LiveCuda());
  }
  for (std::uint64_t fails_at = 1; fails_at <= calls; ++fails_at) {
    const CudaWatch watch(fails_at);
    std::uint64_t unused = 0;
    const Result<void> done = some_steps(watch, unused, fails_at <= of_first ? 1 : 3);
    ASSERT_FALSE(done.ok()) << "call " << fails_at;
    EXPECT_EQ(done.error().code, Errc::unavailable) << "call " << fails_at;
    EXPECT_THAT(done.error().message,
                testing::MatchesRegex("device 0: [a-zA-Z0-9 ]+: an illegal memory access was "
                                      "encountered .cudaErrorIllegalAddress.; see the kernel's log "
                                      ".dmesg. for NVRM: Xid"))
        << "call " << fails_at;
    EXPECT_EQ(watch.live(), LiveCuda()) << "call " << fails_at;
  }
}

// So that whoever made it can say what would have fitted, and try it.
TEST(EmulatedCudaFaults, WhicheverCallLacksMemoryIsOverloadedAndTheNextOneSucceeds) {
  std::uint64_t calls = 0;
  {
    const CudaWatch watch;
    ASSERT_TRUE(some_steps(watch, calls).ok());
  }
  const std::uint64_t of_first = calls;
  {
    const CudaWatch watch;
    ASSERT_TRUE(some_steps(watch, calls, 3).ok());
  }
  std::uint64_t refused = 0;
  for (std::uint64_t fails_at = 1; fails_at <= calls; ++fails_at) {
    const CudaWatch watch(fails_at, cudaErrorMemoryAllocation);
    std::uint64_t unused = 0;
    const Result<void> done = some_steps(watch, unused, fails_at <= of_first ? 1 : 3);
    EXPECT_EQ(watch.left_behind(), cudaSuccess) << "call " << fails_at;
    EXPECT_EQ(watch.live(), LiveCuda()) << "call " << fails_at;
    if (done.ok()) continue;  // what lets go of something does not look; no pass must be recorded
    ++refused;
    EXPECT_EQ(done.error().code, Errc::overloaded) << "call " << fails_at;
  }
  EXPECT_GT(refused, of_first / 2);
}

TEST_F(EmulatedCuda, ChoosesItsDeviceOnWhicheverThreadLetsGoOfWhatIsThere) {
  const auto other = open_cuda_device(3).value();
  std::unique_ptr<DeviceEvent> from = other->make_event(EventUse::timing).value();
  std::unique_ptr<DeviceEvent> to = other->make_event(EventUse::timing).value();
  std::unique_ptr<DeviceStream> stream = other->make_stream().value();
  void* const memory = other->allocate(1).value();
  void* const pinned = other->allocate_on_host(1).value();
  const std::function<void()> uses[] = {
      [&] { EXPECT_TRUE(to->passed().ok()); },
      [&] { EXPECT_TRUE(other->seconds(*from, *to).ok()); },
      [&] { EXPECT_TRUE(other->reach(*device_).ok()); },
      [&] { other->release(memory); },
      [&] { other->release_on_host(pinned); },
      [&] { to.reset(); },
      [&] { stream.reset(); },
  };
  for (const auto& use : uses) {
    std::thread([&] {
      const CudaWatch watch;
      use();
      EXPECT_EQ(watch.astray(), 0U);
    }).join();
  }
}

TEST(EmulatedCudaFaults, AFaultThatIsWantedIsATrapInMidStepAfterWhichNothingSucceeds) {
  for (const std::uint32_t steps : {1, 2, 3}) {  // also where they are recorded, and repeated
    const CudaWatch watch;
    std::uint64_t calls = 0;
    std::uint64_t calls_before = 0;
    const Result<void> done = some_steps(watch, calls, steps, [&](Device& device) {
      calls_before = watch.calls();
      device.fail_soon();
      EXPECT_TRUE(device.make_event(EventUse::host).ok());  // nothing computes
    });
    ASSERT_FALSE(done.ok()) << steps;
    EXPECT_THAT(done.error().message,
                testing::MatchesRegex("device 0: [a-zA-Z0-9 ]+: unspecified launch failure "
                                      ".cudaErrorLaunchFailure.; see the kernel's log .dmesg. for "
                                      "NVRM: Xid"))
        << steps;
    EXPECT_GT(watch.calls(), calls_before + 3) << steps;
    EXPECT_EQ(watch.live(), LiveCuda()) << steps;
  }
}

TEST_F(EmulatedCuda, SaysWhatDoesNotFit) {
  const Result<void*> memory = device_->allocate(std::size_t{1} << 40U);
  ASSERT_FALSE(memory.ok());
  EXPECT_NE(memory.error().message.find("1099511627776 bytes do not fit into the 1073741824"),
            std::string::npos);
}

}  // namespace
}  // namespace sterna::kernels
