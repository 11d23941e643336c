// Nets on a device, which the host's plays: its memory cannot be looked at, its streams run late.
#include "nets/device/device_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <variant>

#include "nets/describe_net.h"
#include "tests/nets/device/device_fixture.h"

namespace sterna::nets {
namespace {

using kernels::HostDeviceOptions;
using testing::HasSubstr;

NetOptions small_mlp(const HostDeviceOptions& options) {
  return {.name = "mlp",
          .hidden = {20, 12},
          .batch = 6,
          .weight_decay = 0.01F,
          .backend = {.name = "device", .device = kernels::make_host_device(options)}};
}

/// Plain descent, whose next version is written as soon as a gradient is known; the parameters.
Gradients descended(const NetOptions& options, int steps) {
  const auto net = make_net(options).value();
  EXPECT_FALSE(net->on_host());
  Gradients values = initial(*net);
  for (int step = 0; step < steps; ++step) {
    write_all(*net, values);
    const Batch batch(options.batch, 50 + step);
    Fetched fetched(*options.backend.device, values.size());
    EXPECT_TRUE(net->begin_step(batch.images, batch.labels).ok());
    EXPECT_TRUE(*net->forward(values.size()));
    EXPECT_TRUE(net->backward(fetched).ok());
    fetched.wait();
    EXPECT_TRUE(net->step_loss().ok());
    for (std::size_t i = 0; i < values.size(); ++i) {
      for (std::size_t j = 0; j < values[i].size(); ++j) {
        values[i][j] -= 0.05F * fetched.gradients[i][j];
      }
    }
  }
  write_all(*net, values);
  Gradients read = values;
  for (std::size_t i = 0; i < read.size(); ++i) {
    std::ranges::fill(read[i], 0.0F);
    EXPECT_TRUE(net->read_parameter(i, 0, read[i]).ok());
  }
  EXPECT_EQ(read, values);
  return read;
}

void expect_the_reference(const NetOptions& options, const ReferenceNet& reference) {
  const auto net = make_net(options).value();
  const Gradients values = initial(*net);
  write_all(*net, values);
  const Batch batch(options.batch);
  Fetched fetched(*options.backend.device, values.size());
  const auto loss = net->train_step(batch.images, batch.labels, fetched);
  fetched.wait();
  ASSERT_TRUE(loss.ok()) << loss.error().message;
  std::vector<reference::Values> parameters, expected;
  for (const std::vector<float>& one : values) parameters.emplace_back(one.begin(), one.end());
  const reference::Values images(batch.images.begin(), batch.images.end());
  EXPECT_NEAR(loss->cross_entropy, reference(parameters, images, batch.labels, &expected), 1e-5);
  double decayed = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    double error = 0, size = 0;
    for (std::size_t j = 0; j < expected[i].size(); ++j) {
      if (net->parameters()[i].decay) {
        expected[i][j] += 0.01 * parameters[i][j];
        decayed += 0.005 * parameters[i][j] * parameters[i][j];
      }
      error = std::max(error, std::abs(fetched.gradients[i][j] - expected[i][j]));
      size = std::max(size, std::abs(expected[i][j]));
    }
    EXPECT_LT(error, 2e-5 * size) << net->parameters()[i].name;
  }
  EXPECT_NEAR(loss->regularization, decayed, 1e-5 * decayed);
}

TEST(DeviceBackend, GradientsAndLossAreThoseOfTheReference) {
  expect_the_reference(small_mlp({.seed = 3, .hidden = true}), reference::mlp);
  NetOptions lenet = small_mlp({.seed = 4, .hidden = true});
  lenet.name = "lenet";
  lenet.hidden.clear();
  lenet.batch = 3;
  expect_the_reference(lenet, reference::lenet);
}

TEST(DeviceBackend, WhateverOrderStreamsRunInTheBitsAreTheSame) {
  const Gradients expected = descended(small_mlp({.late = false}), 4);
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    EXPECT_EQ(descended(small_mlp({.seed = seed}), 4), expected) << seed;
  }
  EXPECT_EQ(descended(small_mlp({.seed = 7, .hidden = true}), 4), expected);
}

/// Writes the next version of a parameter the moment that one below hands out its gradient, as the
/// thread does that receives it.
class WritingAhead final : public GradientSink {
 public:
  WritingAhead(Net& net, GradientSink& sink, std::vector<float> next)
      : net_(net), sink_(sink), next_(std::move(next)), lowest_(net.parameters().size()) {}
  void gradient(std::size_t index, const Gradient& gradient) override {
    if (index < lowest_) {
      for (std::size_t i = lowest_; i < settled_; ++i) {
        const auto count = net_.parameters()[i].count();
        ASSERT_TRUE(net_.write_parameter(i, 0, std::span(next_).first(count)).ok());
      }
      settled_ = std::exchange(lowest_, index);
    }
    sink_.gradient(index, gradient);
  }

 private:
  Net& net_;
  GradientSink& sink_;
  std::vector<float> next_;
  std::size_t lowest_;
  std::size_t settled_ = lowest_;
};

TEST(DeviceBackend, ANextVersionThatIsWrittenMeanwhileDisturbsNoPass) {
  const auto gradients = [](std::uint64_t seed, bool ahead) {
    const NetOptions options = small_mlp({.seed = seed});
    const auto net = make_net(options).value();
    write_all(*net, initial(*net));
    Fetched fetched(*options.backend.device, net->parameters().size());
    WritingAhead writing(*net, fetched, std::vector<float>(20 * 784, 0.5F));
    const Batch batch(options.batch);
    EXPECT_TRUE(net->begin_step(batch.images, batch.labels).ok());
    EXPECT_TRUE(*net->forward(net->parameters().size()));
    EXPECT_TRUE(net->backward(ahead ? static_cast<GradientSink&>(writing) : fetched).ok());
    fetched.wait();
    EXPECT_TRUE(net->step_loss().ok());
    if (ahead) {  // it has come
      std::vector<float> logits_biases(10);
      EXPECT_TRUE(net->read_parameter(5, 0, logits_biases).ok());
      EXPECT_EQ(logits_biases, std::vector<float>(10, 0.5F));
    }
    return fetched.gradients;
  };
  const Gradients expected = gradients(0, false);
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    EXPECT_EQ(gradients(seed, true), expected) << seed;
  }
}

TEST(DeviceBackend, AddsTheGradientsOfMicroBatches) {
  NetOptions whole = small_mlp({.seed = 1});
  NetOptions parts = small_mlp({.seed = 2, .hidden = true});
  parts.micro_batch = 2;
  const Gradients expected = descended(whole, 2), found = descended(parts, 2);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    for (std::size_t j = 0; j < expected[i].size(); ++j) {
      EXPECT_NEAR(found[i][j], expected[i][j], 1e-6);
    }
  }
}

/// A batch of bytes, other ones for each seed.
struct Pixels {
  Pixels(std::size_t count, std::uint64_t seed) : pixels(784 * count) {
    SeededRandom random(seed);
    for (auto& byte : pixels) byte = static_cast<std::uint8_t>(random.below(256));
    for (std::size_t i = 0; i < count; ++i) {
      const auto center = static_cast<float>(random.below(10)) / 10;
      levels.insert(levels.end(), {center, 1 + center});
      labels.push_back(static_cast<std::uint16_t>(random.below(10)));
    }
  }
  PixelImages images() const { return {pixels, levels}; }
  std::vector<std::uint8_t> pixels;
  std::vector<float> levels;
  std::vector<std::uint16_t> labels;
};

/// The gradients of steps on batches of bytes, each of which is sent while the pass before it goes
/// on, if `ahead`; else as its step begins.
std::vector<Gradients> steps_on_bytes(const NetOptions& options, bool ahead) {
  const auto net = make_net(options).value();
  write_all(*net, initial(*net));
  const std::size_t parameters = net->parameters().size();
  std::vector<Gradients> found;
  for (std::uint64_t step = 0; step < 5; ++step) {
    for (std::size_t i = 0; i < parameters; ++i) net->parameters_changed(i);
    const Pixels batch(options.batch, step);
    EXPECT_TRUE((ahead && step > 0 ? net->begin_step(batch.labels)
                                   : net->begin_step(batch.images(), batch.labels))
                    .ok());
    Fetched fetched(*options.backend.device, parameters);
    EXPECT_TRUE(*net->forward(parameters));
    EXPECT_TRUE(net->backward(fetched).ok());
    const Pixels next(options.batch, step + 1);
    EXPECT_TRUE(!ahead || net->stage(next.images()).ok());
    EXPECT_TRUE(net->step_loss().ok());
    fetched.wait();
    found.push_back(fetched.gradients);
  }
  return found;
}

TEST(DeviceBackend, ImagesThatTravelBesideAPassDisturbNone) {
  const auto expected = steps_on_bytes(small_mlp({.late = false}), false);
  EXPECT_NE(expected[0], expected[1]);
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    for (const bool fails_recording : {false, true}) {
      const HostDeviceOptions on{.seed = seed, .fails_recording = fails_recording};
      EXPECT_EQ(steps_on_bytes(small_mlp(on), true), expected) << seed;
      EXPECT_EQ(steps_on_bytes(small_mlp(on), false), expected) << seed;
    }
  }
  EXPECT_EQ(steps_on_bytes(small_mlp({.seed = 7, .hidden = true}), true), expected);
}

TEST(DeviceBackend, NorDoThoseOfTheNextMicroBatch) {
  const auto in_parts = [](const HostDeviceOptions& on) {
    NetOptions options = small_mlp(on);
    options.micro_batch = 2;
    return steps_on_bytes(options, false);
  };
  const auto expected = in_parts({.late = false});
  for (std::uint64_t seed = 0; seed < 30; ++seed) EXPECT_EQ(in_parts({.seed = seed}), expected);
}

TEST(DeviceBackend, TakesOnlyImagesAheadThatFitAndAreTheNextStepsWholeBatch) {
  const NetOptions options = small_mlp({.seed = 1});
  const auto net = make_net(options).value();
  const Pixels batch(options.batch, 1), larger(options.batch + 1, 1);
  const auto begins = [&] { return net->begin_step(batch.labels).ok(); };
  EXPECT_FALSE(begins());
  EXPECT_EQ(net->stage(larger.images()).error().code, Errc::invalid_argument);
  EXPECT_FALSE(begins());
  ASSERT_TRUE(net->stage(batch.images()).ok());
  EXPECT_EQ(net->begin_step(larger.labels).error().code, Errc::invalid_argument);
  EXPECT_TRUE(begins());
  EXPECT_FALSE(begins());  // they are taken
  ASSERT_TRUE(net->stage(batch.images()).ok());
  std::vector<float> logits(10 * options.batch);
  ASSERT_TRUE(net->infer(batch.images(), options.batch, logits).ok());
  EXPECT_FALSE(begins());  // others came in their place
  NetOptions in_parts = options;
  in_parts.micro_batch = 2;
  const auto parts = make_net(in_parts).value();
  EXPECT_FALSE(parts->stages());
  EXPECT_EQ(parts->stage(batch.images()).error().code, Errc::invalid_argument);
}

/// How often the loss of a pass has been computed.
class LossesComputed final : public kernels::HostDeviceWatch {
 public:
  void computes(const kernels::LayerLaunch& launch) override {
    if (std::holds_alternative<kernels::LossLaunch>(launch)) ++count;
  }
  int count = 0;
};

TEST(DeviceBackend, PutsAMicroBatchOnItsWayBeforeTheLossOfTheOneBeforeIsKnown) {
  const auto loss = [](HostDeviceOptions on, int before_backward_returns) {
    const auto watch = std::make_shared<LossesComputed>();
    on.watch = watch;
    NetOptions options = small_mlp(on);
    options.micro_batch = 3;
    const auto net = make_net(options).value();
    write_all(*net, initial(*net));
    const Batch batch(options.batch);
    Fetched fetched(*options.backend.device, net->parameters().size());
    EXPECT_TRUE(net->begin_step(batch.images, batch.labels).ok());
    EXPECT_TRUE(*net->forward(net->parameters().size()));
    EXPECT_TRUE(net->backward(fetched).ok());
    EXPECT_EQ(watch->count, before_backward_returns);
    const Result<Net::Loss> found = net->step_loss();
    EXPECT_TRUE(found.ok());
    EXPECT_EQ(watch->count, 2);
    fetched.wait();
    return found->cross_entropy;
  };
  const float expected = loss({.late = false}, 2);
  EXPECT_GT(expected, 1.0F);
  for (std::uint64_t seed = 0; seed < 10; ++seed) EXPECT_EQ(loss({.seed = seed}, 0), expected);
}

TEST(DeviceBackend, HasActivationsOfHalfTheSizeInBf16) {
  const NetOptions fp32 = small_mlp({});
  NetOptions bf16 = fp32;
  bf16.backend.precision = Element::bf16;
  const std::size_t bytes = make_net(bf16).value()->activation_memory().bytes;
  EXPECT_NEAR(static_cast<double>(bytes),
              static_cast<double>(make_net(fp32).value()->activation_memory().bytes) / 2, 512);
  EXPECT_EQ(describe_net(bf16)->activations.bytes, bytes);
}

TEST(DeviceBackend, InfersWhatTheCpuDoesFromBytes) {
  const NetOptions options = small_mlp({.seed = 5, .hidden = true});
  NetOptions on_cpu = options;
  on_cpu.backend = {};
  const auto net = make_net(options).value(), cpu = initialized(on_cpu);
  write_all(*net, initial(*net));
  std::vector<std::uint8_t> pixels(4 * 784);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * 7);
  const std::vector<float> levels{0.1F, 1, 0.2F, 2, 0.3F, 1, 0.4F, 2};
  std::vector<float> found(40), expected(40);
  ASSERT_TRUE(net->infer(PixelImages{pixels, levels}, 4, found).ok());
  ASSERT_TRUE(cpu->infer(PixelImages{pixels, levels}, 4, expected).ok());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5);
}

TEST(DeviceBackend, SquaredErrorsAndTheirGradientsHaveTheCpusBits) {
  NetOptions options = small_mlp({.seed = 6, .hidden = true});
  options.name = "toy_ab";
  options.hidden.clear();
  options.images.classes = 2;
  options.batch = 67;
  NetOptions on_cpu = options;
  on_cpu.backend = {};
  const auto net = make_net(options).value(), cpu = make_net(on_cpu).value();
  const Batch batch(options.batch);
  for (const float start : {0.1F, 99.7F, 3e37F}) {
    write_all(*net, {{start, -start}, {7 * start, 0.3F}});
    write_all(*cpu, {{start, -start}, {7 * start, 0.3F}});
    Fetched fetched(*options.backend.device, 2);
    Recorder recorder;
    const std::vector<std::uint16_t> labels(options.batch);
    const auto found = net->train_step(batch.images, labels, fetched);
    const auto expected = cpu->train_step(batch.images, labels, recorder);
    fetched.wait();
    ASSERT_TRUE(found.ok() && expected.ok());
    EXPECT_EQ(found->cross_entropy, expected->cross_entropy) << start;
    EXPECT_EQ(fetched.gradients, recorder.gradients) << start;
  }
}

TEST(DeviceBackend, SaysWhatTheDeviceLacksMemoryFor) {
  const auto made = make_net(small_mlp({.memory = 50'000}));
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, Errc::overloaded);
  EXPECT_THAT(made.error().message, HasSubstr("that the host device has free"));
}

// Whatever piece of work it fails at, somebody hears of it, and nothing hangs.
TEST(DeviceBackend, AFailureOfTheDeviceIsAnErrorOfTheStep) {
  const auto step = [](std::uint64_t fails_after) -> Result<Net::Loss> {
    const NetOptions options = small_mlp({.seed = 9, .fails_after = fails_after});
    STERNA_ASSIGN(const auto net, make_net(options));
    const Gradients values = initial(*net);
    for (std::size_t i = 0; i < values.size(); ++i) {
      STERNA_TRY(net->write_parameter(i, 0, values[i]));
      net->parameters_changed(i);
    }
    const Batch batch(options.batch);
    struct Nobody final : GradientSink {
      void gradient(std::size_t, const Gradient&) override {}
    } nobody;
    return net->train_step(batch.images, batch.labels, nobody);
  };
  ASSERT_TRUE(step(0).ok());
  int failed = 0;
  for (std::uint64_t after = 1; after < 40; after += 3) {
    const auto loss = step(after);
    if (loss.ok()) continue;
    ++failed;
    EXPECT_THAT(loss.error().message, HasSubstr("the host device has failed")) << after;
  }
  EXPECT_GE(failed, 8);
}

}  // namespace
}  // namespace sterna::nets
