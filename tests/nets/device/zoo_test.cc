// Each net of the zoo on a device, which the host's plays, beside the CPU: small ones as they are,
// the others on small images and with an eighth of their channels.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "nets/describe_net.h"
#include "nets/zoo/zoo.h"
#include "tests/nets/device/device_fixture.h"
#include "tests/nets/device/precisions.h"

namespace sterna::nets {
namespace {

constexpr double kShallow = 1e-5;
/// Of many layers with batch norm, each of which makes differences in a small batch larger.
constexpr double kDeep = 1e-4;
/// Among hundreds of thousands of units some are so near to 0 that the last bits decide on which
/// side of a ReLU they are, and whatever is behind one has another gradient: which layer has whose
/// gradient shows nevertheless.
constexpr double kUndecided = 0.3;
/// Of loss and logits where bf16s are multiplied, and of the cosine between all gradients: only of
/// nets without batch norm, which makes differences in a small batch as large as you like.
constexpr double kInBf16 = 0.02, kCosine = 0.99;

/// Of loss and logits where operands are rounded: so many times the bound of one operation.
constexpr double kRounded = 50;

struct SmallNet {
  const char* name;
  std::size_t rows;
  std::size_t columns;
  std::size_t batch;
  std::size_t divisor = 1;
  std::size_t micro_batch = 0;
  double tolerance = kShallow;  ///< of loss and logits
  double of_gradients = tolerance;
  std::uint64_t draw = 12;  ///< of the images: one that leaves no unit of the shallower undecided
};

void PrintTo(const SmallNet& net, std::ostream* out) { *out << net.name; }

const SmallNet kNets[] = {
    {"lenet", 28, 26, 3},
    {"mlp", 9, 7, 3},
    {"schlag", 9, 7, 3},
    {"cifarnet", 24, 21, 3},
    {"toy_ab", 2, 1, 5},
    {"toy_ab", 2, 1, 6, 1, 2},
    {"resnet_20", 17, 14, 4},
    {"resnet_20", 17, 14, 4, 1, 2},
    {"alexnet", 79, 96, 3, 8},
    {"alexnet_v2", 67, 99, 4, 8, 2},
    {"vgg_a", 33, 48, 4, 8},
    {"vgg_16", 48, 33, 4, 8, 0, kDeep},
    {"googlenet", 64, 79, 4, 8, 0, kDeep},
    {"inception_v3", 139, 155, 4, 8, 0, kDeep, kUndecided, 1},
    {"resnet_50", 64, 79, 4, 8, 0, kDeep, kUndecided, 3},
};

/// What training and an inference make of a net.
struct Found {
  Gradients gradients;  // of the last step
  std::vector<float> losses;
  std::vector<float> logits;
};

struct Input {
  Input(const NetOptions& options, std::uint64_t draw) {
    SeededRandom random(draw);
    const std::vector<double> drawn =
        random_values(options.batch * options.images.values(), 1, random);
    images.assign(drawn.begin(), drawn.end());
    for (std::size_t i = 0; i < options.batch; ++i) {
      labels.push_back(static_cast<std::uint16_t>(random.below(options.images.classes)));
    }
  }
  std::vector<float> images;
  std::vector<std::uint16_t> labels;
};

/// `sink` gets the last step's gradients. There are two where one must leave no sums to the next.
Found found_by(Net& net, const NetOptions& options, std::uint64_t draw, GradientSink& sink) {
  struct Nobody final : GradientSink {
    void gradient(std::size_t, const Gradient&) override {}
  } nobody;
  const Input input(options, draw);
  Found found;
  for (std::uint32_t step = options.micro_batch > 0 ? 0 : 1; step < 2; ++step) {
    const auto loss = net.train_step(input.images, input.labels,
                                     step == 0 ? static_cast<GradientSink&>(nobody) : sink,
                                     {.seed = 5, .step = step, .rank = 1});
    EXPECT_TRUE(loss.ok()) << loss.error().message;
    found.losses.push_back(loss->cross_entropy);
    found.losses.push_back(loss->regularization);
  }
  found.logits.resize(net.images_per_pass() * net.classes());
  const auto inferred =
      net.infer(std::span(input.images).first(net.images_per_pass() * options.images.values()),
                net.images_per_pass(), found.logits);
  EXPECT_TRUE(inferred.ok()) << inferred.error().message;
  return found;
}

Found on_cpu(const NetOptions& options, std::uint64_t draw) {
  const auto net = initialized(options);
  Recorder recorder;
  Found found = found_by(*net, options, draw, recorder);
  found.gradients = recorder.gradients;
  return found;
}

Found on_device(NetOptions options, std::uint64_t draw, std::shared_ptr<kernels::Device> device,
                const Precision& precision = kPrecisions[0]) {
  options.backend = options_of(precision, std::move(device));
  auto made = make_net(options);
  EXPECT_TRUE(made.ok()) << made.error().message;
  Net& net = **made;
  const Gradients values = initial(net);
  write_all(net, values);
  Fetched fetched(*options.backend.device, values.size());
  Found found = found_by(net, options, draw, fetched);
  fetched.wait();
  found.gradients = fetched.gradients;
  return found;
}

class ZooOnADevice : public testing::TestWithParam<SmallNet> {
 protected:
  /// Whether by a product or a convolution, which alone round.
  static bool multiplies() { return GetParam().name != std::string_view("toy_ab"); }
  static NetOptions options() {
    const SmallNet& net = GetParam();
    const ZooNet& made = *find_net(net.name);
    return {.name = net.name,
            .images = {.rows = net.rows,
                       .columns = net.columns,
                       .channels = 3,
                       .classes = made.classes > 0 ? made.classes : 10},
            .hidden = {made.hidden.begin(), made.hidden.end()},
            .batch = net.batch,
            .micro_batch = net.micro_batch,
            .weight_decay = 0.001F,
            .divisor = net.divisor};
  }
  static void expect_alike(const Found& found, const Found& expected) {
    const auto parameters = make_net(options()).value()->parameters();
    ASSERT_EQ(found.gradients.size(), expected.gradients.size());
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      EXPECT_LE(distance(found.gradients[i], expected.gradients[i]), GetParam().of_gradients)
          << parameters[i].name;
    }
    EXPECT_LE(distance(found.losses, expected.losses), GetParam().tolerance);
    EXPECT_LE(distance(found.logits, expected.logits), GetParam().tolerance);
  }
};

TEST_P(ZooOnADevice, HasTheCpusLossGradientsAndLogits) {
  const Found expected = on_cpu(options(), GetParam().draw),
              found = on_device(options(), GetParam().draw, kernels::make_host_device({.seed = 1}));
  expect_alike(found, expected);

  // Once more, with streams that run in another order, and where passes are short with memory that
  // no code of the host may look at.
  const bool hidden = GetParam().tolerance == kShallow && GetParam().micro_batch == 0;
  const Found again = on_device(options(), GetParam().draw,
                                kernels::make_host_device({.seed = 2, .hidden = hidden}));
  EXPECT_EQ(again.gradients, found.gradients);
  EXPECT_EQ(again.losses, found.losses);
  EXPECT_EQ(again.logits, found.logits);
}

TEST_P(ZooOnADevice, HasThemByLibrariesAndTwiceTheSameBits) {
  const bool demanded = gpu() != nullptr;
  const auto on_one = [&](const Precision& precision, std::uint64_t seed) {
    return on_device(
        options(), GetParam().draw,
        demanded ? gpu() : kernels::make_host_device({.seed = seed, .libraries = true}), precision);
  };
  const Found expected = on_cpu(options(), GetParam().draw);
  Gradients plain;
  for (const Precision& precision : kPrecisions) {
    if (&precision == &kBf16) continue;  // see below
    SCOPED_TRACE(precision.name);
    const Found found = on_one(precision, 1), again = on_one(precision, 2);
    EXPECT_EQ(again.gradients, found.gradients);
    EXPECT_EQ(again.losses, found.losses);
    EXPECT_EQ(again.logits, found.logits);
    if (precision.least == 0) {
      expect_alike(found, expected);
      plain = found.gradients;
      continue;
    }
    EXPECT_LE(distance(found.losses, expected.losses), kRounded * precision.most);
    EXPECT_LE(distance(found.logits, expected.logits), kRounded * precision.most);
    EXPECT_TRUE(demanded || found.gradients != plain || !multiplies()) << "nothing is rounded";
  }
}

bool has_batch_norm(const NetOptions& options) {
  const NetDescription net = describe_net(options).value();
  return net.trained < net.parameters.size();
}

TEST_P(ZooOnADevice, MultipliesBf16sTwiceWithTheSameBits) {
  const bool demanded = gpu() != nullptr;
  for (const bool libraries : {false, true}) {
    if (demanded && libraries) break;  // a card has them
    const auto device = [&](std::uint64_t seed) {
      return demanded ? gpu() : kernels::make_host_device({.seed = seed, .libraries = libraries});
    };
    const Found found = on_device(options(), GetParam().draw, device(1), kBf16);
    const Found again = on_device(options(), GetParam().draw, device(2), kBf16);
    EXPECT_EQ(again.gradients, found.gradients);
    EXPECT_EQ(again.losses, found.losses);
    EXPECT_EQ(again.logits, found.logits);
    const Found exact = on_device(options(), GetParam().draw, device(3));
    EXPECT_EQ(found.logits == exact.logits, !multiplies());
    if (has_batch_norm(options())) continue;
    EXPECT_LE(distance(found.losses, exact.losses), kInBf16);
    EXPECT_LE(distance(found.logits, exact.logits), kInBf16);
    EXPECT_GE(cosine(found.gradients, exact.gradients), kCosine);
  }
}

/// Parameters as they start, times `factor`.
Gradients scaled(const Net& net, float factor) {
  Gradients values = initial(net);
  for (auto& tensor : values) {
    for (float& value : tensor) value *= factor;
  }
  return values;
}

TEST_P(ZooOnADevice, RepeatsPassesWithOtherImagesLabelsParametersAndDraws) {
  if (GetParam().tolerance != kShallow || GetParam().micro_batch > 0) return;
  constexpr float kLast = 1.25F;
  const std::uint64_t draw = GetParam().draw;
  const auto cpu = make_net(options()).value();
  const Gradients last = scaled(*cpu, kLast);
  for (std::size_t i = 0; i < last.size(); ++i) {
    std::ranges::copy(last[i], cpu->parameter(i).begin());
    cpu->parameters_changed(i);
  }
  Recorder recorder;
  Found expected = found_by(*cpu, options(), draw, recorder);
  expected.gradients = recorder.gradients;
  Gradients in_bf16;
  for (const auto& [precision, fails_recording] : {std::pair(Element::fp32, false),
                                                   {Element::fp32, true},
                                                   {Element::bf16, false},
                                                   {Element::bf16, true}}) {
    NetOptions on_it = options();
    on_it.backend = {.name = "device",
                     .precision = precision,
                     .device = kernels::make_host_device(
                         {.seed = 4, .libraries = true, .fails_recording = fails_recording})};
    const auto net = make_net(on_it).value();
    for (std::uint32_t step = 0; step < 4; ++step) {
      const Gradients values = scaled(*net, step == 3 ? kLast : 0.5F + 0.1F * step);
      write_all(*net, values);
      Fetched fetched(*on_it.backend.device, values.size());
      if (step < 3) {
        const Input input(on_it, draw + 100 + step);
        const StepDraw other{.seed = 5, .step = 100 + step, .rank = 1};
        ASSERT_TRUE(net->train_step(input.images, input.labels, fetched, other).ok());
        fetched.wait();
        continue;
      }
      Found found = found_by(*net, on_it, draw, fetched);
      fetched.wait();
      found.gradients = fetched.gradients;
      if (precision == Element::fp32) {
        expect_alike(found, expected);
      } else if (!fails_recording) {
        in_bf16 = found.gradients;
      } else {
        EXPECT_EQ(found.gradients, in_bf16);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Nets, ZooOnADevice, testing::ValuesIn(kNets));

TEST(ZooOnADevice, IsTheWholeZoo) {
  for (const std::string_view name : trainable_names()) {
    EXPECT_TRUE(std::ranges::any_of(kNets, [&](const SmallNet& net) { return net.name == name; }))
        << name;
  }
}

}  // namespace
}  // namespace sterna::nets
