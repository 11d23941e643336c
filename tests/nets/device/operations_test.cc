// Each operation of a device beside the CPU's: the same in the norm, and the same bits in whatever
// order the device's streams run.
#include <gtest/gtest.h>

#include <deque>
#include <functional>

#include "nets/backend/average_pool.h"
#include "nets/backend/batch_norm.h"
#include "nets/backend/convolution.h"
#include "nets/backend/dropout.h"
#include "nets/backend/eltwise.h"
#include "nets/backend/inner_product.h"
#include "nets/backend/lrn.h"
#include "nets/backend/max_pool.h"
#include "nets/backend/memory.h"
#include "nets/backend/relayout.h"
#include "nets/make_backend.h"
#include "tests/nets/device/device_fixture.h"

namespace sterna::nets {
namespace {

constexpr double kTolerance = 1e-5;
/// Of what is multiplied in bf16: nearer than that, and not so near that nothing was rounded.
constexpr double kNear = 1e-2, kRounded = 1e-4;
constexpr Layout kImages = Layout::channels_last;

/// A backend, and tensors in its memory, whose numbers are the same wherever they are drawn.
class Side {
 public:
  explicit Side(const BackendOptions& options) : backend(make_backend(options).value()) {}
  ~Side() { backend->memory().finish(); }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  Tensor& drawn(const Shape& shape, Layout layout = Layout::row_major, float center = 0) {
    Tensor& tensor = tensors_.emplace_back(Tensor::unbound(shape, layout));
    tensor.bind(backend->memory().allocate(tensor.bytes()));
    const std::vector<double> drawn = random_values(tensor.size(), 1, random_);
    std::vector<float> values(drawn.begin(), drawn.end());
    for (float& value : values) value += center;
    backend->memory().write(values, tensor, 0);
    return tensor;
  }
  std::vector<float> read(const Tensor& tensor) const {
    std::vector<float> values(tensor.size());
    backend->memory().read(tensor, 0, values);
    return values;
  }

  std::unique_ptr<Backend> backend;

 private:
  SeededRandom random_{11};
  std::deque<Tensor> tensors_;
};

using Outputs = std::vector<std::vector<float>>;
using Passes = std::function<Outputs(Side&)>;

/// `run` on the CPU and on devices.
void expect_alike(const Passes& run, double tolerance = kTolerance) {
  Side cpu({});
  const Outputs expected = run(cpu);
  for (const bool libraries : {false, true}) {
    Outputs first;
    for (kernels::HostDeviceOptions options :
         {kernels::HostDeviceOptions{.late = false}, {.seed = 1}, {.seed = 2, .hidden = true}}) {
      options.libraries = libraries;
      Side device({.name = "device", .device = kernels::make_host_device(options)});
      const Outputs found = run(device);
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_LE(distance(found[i], expected[i]), tolerance)
            << "output " << i << (libraries ? " by libraries" : "");
      }
      if (first.empty()) first = found;
      EXPECT_EQ(found, first) << "seed " << options.seed;
    }
  }
  const std::shared_ptr<kernels::Device> card = gpu();
  if (card == nullptr) return;
  Outputs first;
  for (int time = 0; time < 2; ++time) {
    Side device({.name = "device", .device = card});
    const Outputs found = run(device);
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_LE(distance(found[i], expected[i]), tolerance) << "output " << i << " on a GPU";
    }
    if (first.empty()) first = found;
    EXPECT_EQ(found, first) << "on a GPU";
  }
}

/// `run` on devices that multiply bf16s beside the CPU in fp32: near it, but the first `multiplied`
/// of its outputs not as near as without; the others are sums, and as in fp32.
void expect_bf16s_to_be_multiplied(const Passes& run, std::size_t multiplied) {
  Side cpu({});
  const Outputs expected = run(cpu);
  const auto expect_on = [&](const std::shared_ptr<kernels::Device>& card, Outputs& first) {
    Side device({.name = "device", .precision = Element::bf16, .device = card});
    const Outputs found = run(device);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const double off = distance(found[i], expected[i]);
      EXPECT_LE(off, i < multiplied ? kNear : kTolerance) << "output " << i;
      EXPECT_GE(off, i < multiplied ? kRounded : 0) << "output " << i;
    }
    if (first.empty()) first = found;
    EXPECT_EQ(found, first);
  };
  for (const bool libraries : {false, true}) {
    Outputs first;
    for (const bool hidden : {false, true}) {
      const kernels::HostDeviceOptions options{
          .seed = 1U + hidden, .hidden = hidden, .libraries = libraries};
      expect_on(kernels::make_host_device(options), first);
    }
  }
  Outputs first;
  for (int time = 0; time < 2 && gpu() != nullptr; ++time) expect_on(gpu(), first);
}

/// Of an image batch after a window has slid over it.
Shape slid(const Shape& in, const Window& window, std::size_t channels) {
  return {in[0], channels, window.down().out(in[2]), window.across().out(in[3])};
}

void expect_convolution(const ConvolutionSpec& spec) {
  const Passes run = [&](Side& side) -> Outputs {
    const auto operation = side.backend->convolution(spec);
    const Tensor& x = side.drawn(spec.input, kImages);
    const Tensor& w = side.drawn({spec.out_channels, spec.input[1] / spec.groups,
                                  spec.window.down().kernel, spec.window.across().kernel});
    const Tensor* b = spec.bias ? &side.drawn({spec.out_channels}) : nullptr;
    Tensor& y = side.drawn(slid(spec.input, spec.window, spec.out_channels), kImages);
    const Tensor& dy = side.drawn(y.shape(), kImages);
    Tensor& dw = side.drawn(w.shape());
    Tensor& db = side.drawn({spec.out_channels});
    Tensor& dx = side.drawn(spec.input, kImages);
    operation->forward(x, w, b, y);
    operation->backward_parameters(x, dy, dw, spec.bias ? &db : nullptr);
    operation->backward_data(dy, w, dx);
    return {side.read(y), side.read(dw), side.read(dx), side.read(db)};
  };
  expect_alike(run);
  expect_bf16s_to_be_multiplied(run, 3);
}

TEST(DeviceOperations, ConvolveAsTheCpuDoes) {
  const Window three{.kernel = 3}, halved{.kernel = 3, .stride = 2};
  expect_convolution({.input = {2, 5, 9, 8}, .out_channels = 20, .window = three});
  expect_convolution({.input = {3, 3, 8, 9}, .out_channels = 7, .window = halved, .bias = false});
  expect_convolution({.input = {2, 4, 9, 9},
                      .out_channels = 3,
                      .window = {.kernel = 1, .padding = Padding::valid, .width = 7}});
  expect_convolution({.input = {1, 3, 15, 15},
                      .out_channels = 8,
                      .window = {.kernel = 7, .stride = 2, .padding = Padding::given, .pad = 3}});
}

TEST(DeviceOperations, ConvolveWherePaddingIsUneven) {
  // As much before as after, but the last window ends before the last pixel.
  expect_convolution({.input = {2, 3, 16, 16},
                      .out_channels = 4,
                      .window = {.kernel = 7, .stride = 2, .padding = Padding::given, .pad = 3}});
  // Laid into a larger image, which leaves pixels out.
  expect_convolution(
      {.input = {2, 3, 7, 9}, .out_channels = 4, .window = {.kernel = 2, .stride = 3}});
  expect_convolution(
      {.input = {1, 2, 6, 8}, .out_channels = 4, .window = {.kernel = 3, .stride = 2}});
}

TEST(DeviceOperations, ConvolveSinglePixels) {
  for (const bool bias : {true, false}) {
    expect_convolution({.input = {2, 19, 5, 6}, .out_channels = 17, .window = {}, .bias = bias});
  }
  expect_convolution({.input = {2, 6, 5, 6}, .out_channels = 9, .window = {}, .groups = 3});
  expect_convolution({.input = {2, 6, 5, 6}, .out_channels = 9, .window = {.stride = 2}});
  // A window of one pixel, but a frame around the image.
  expect_convolution({.input = {2, 3, 4, 4},
                      .out_channels = 5,
                      .window = {.padding = Padding::given, .pad = 1},
                      .bias = false});
}

TEST(DeviceOperations, ConvolveInGroups) {
  const Window three{.kernel = 3};
  expect_convolution({.input = {2, 6, 7, 5}, .out_channels = 34, .window = three, .groups = 2});
  expect_convolution(
      {.input = {2, 8, 6, 6}, .out_channels = 8, .window = three, .groups = 8, .bias = false});
}

// Sums of thousands lose no more than short ones.
TEST(DeviceOperations, MultiplyLongRows) {
  expect_alike(
      [](Side& side) -> Outputs {
        const InnerProductSpec spec{.batch = 3, .in = 30'000, .out = 18};
        const auto operation = side.backend->inner_product(spec);
        const Tensor& x = side.drawn({spec.batch, spec.in}, Layout::row_major, 1);
        const Tensor& w = side.drawn({spec.out, spec.in}, Layout::row_major, 1);
        const Tensor& b = side.drawn({spec.out});
        Tensor& y = side.drawn({spec.batch, spec.out});
        operation->forward(x, w, &b, y);
        return {side.read(y)};
      },
      1e-6);
}

TEST(DeviceOperations, MultiplyRowsByWeightsAsTheCpuDoes) {
  for (const bool bias : {true, false}) {
    const Passes run = [&](Side& side) -> Outputs {
      const InnerProductSpec spec{.batch = 5, .in = 75, .out = 18, .bias = bias};
      const auto operation = side.backend->inner_product(spec);
      const Tensor& x = side.drawn({spec.batch, spec.in});
      Tensor& w = side.drawn({spec.out, spec.in});
      const Tensor& b = side.drawn({spec.out});
      Tensor& y = side.drawn({spec.batch, spec.out});
      const Tensor& dy = side.drawn({spec.batch, spec.out});
      Tensor& dw = side.drawn({spec.out, spec.in});
      Tensor& db = side.drawn({spec.out});
      Tensor& dx = side.drawn({spec.batch, spec.in});
      operation->forward(x, w, bias ? &b : nullptr, y);
      side.backend->memory().scale(w, 0.7F);
      operation->weights_changed();
      operation->forward(x, w, bias ? &b : nullptr, y);
      operation->backward_parameters(x, dy, dw, bias ? &db : nullptr);
      operation->backward_data(dy, w, dx);
      return {side.read(y), side.read(dw), side.read(dx), side.read(db)};
    };
    expect_alike(run);
    expect_bf16s_to_be_multiplied(run, 3);
  }
}

/// A pool's forward and backward pass.
template <class Operation>
Outputs pooled(Side& side, Operation& operation, const Shape& in, const Window& window) {
  const Tensor& x = side.drawn(in, kImages);
  Tensor& y = side.drawn(slid(in, window, in[1]), kImages);
  const Tensor& dy = side.drawn(y.shape(), kImages);
  Tensor& dx = side.drawn(in, kImages);
  operation.forward(x, y);
  operation.backward(dy, dx);
  return {side.read(y), side.read(dx)};
}

TEST(DeviceOperations, PoolAsTheCpuDoes) {
  const Shape in{2, 5, 8, 7};
  for (const Window& window : {Window{.kernel = 3, .stride = 2},
                               {.kernel = 3, .stride = 2, .padding = Padding::valid},
                               {.kernel = 3, .stride = 2, .padding = Padding::given, .pad = 1},
                               {.kernel = 3},
                               {.kernel = 2, .stride = 3},
                               {.kernel = 8, .padding = Padding::valid, .width = 7}}) {
    expect_alike([&](Side& side) {
      return pooled(side, *side.backend->max_pool({.input = in, .window = window}), in, window);
    });
    for (const bool counts : {false, true}) {
      expect_alike([&](Side& side) {
        const auto operation =
            side.backend->average_pool({.input = in, .window = window, .counts_padding = counts});
        return pooled(side, *operation, in, window);
      });
    }
  }
}

TEST(DeviceOperations, NormalizeLocallyAsTheCpuDoes) {
  for (const LrnSpec& spec :
       {LrnSpec{.input = {2, 64, 3, 3}, .radius = 4, .bias = 1, .alpha = 0.3F, .beta = 0.75F},
        {.input = {2, 3, 4, 2}, .radius = 2, .bias = 2, .alpha = 0.5F, .beta = 0.75F},
        {.input = {1, 10, 2, 2}, .radius = 2, .bias = 1, .alpha = 0.3F, .beta = 0.5F},
        {.input = {1, 1, 5, 5}, .radius = 3, .bias = 1, .alpha = 0.3F, .beta = 1}}) {
    expect_alike([&](Side& side) -> Outputs {
      const auto operation = side.backend->lrn(spec);
      const Tensor& x = side.drawn(spec.input, kImages);
      const Tensor& dy = side.drawn(spec.input, kImages);
      Tensor& y = side.drawn(spec.input, kImages);
      Tensor& dx = side.drawn(spec.input, kImages);
      operation->forward(x, y);
      operation->backward(x, dy, dx);
      return {side.read(y), side.read(dx)};
    });
  }
}

void expect_batch_norm(const BatchNormSpec& spec, bool over) {
  expect_alike([&](Side& side) -> Outputs {
    const auto operation = side.backend->batch_norm(spec);
    const Shape channels{spec.input[1]};
    const Tensor& x = side.drawn(spec.input, kImages, 3);  // far from 0
    const Tensor* scale = spec.scale ? &side.drawn(channels, Layout::row_major, 2) : nullptr;
    const Tensor& shift = side.drawn(channels);
    Tensor& mean = side.drawn(channels);
    Tensor& variance = side.drawn(channels);
    Tensor& y = side.drawn(spec.input, kImages);
    Tensor& dy = side.drawn(spec.input, kImages);
    Tensor& dx = over ? dy : side.drawn(spec.input, kImages);
    Tensor& dscale = side.drawn(channels);
    Tensor& dshift = side.drawn(channels);
    operation->forward(x, scale, shift, mean, variance, y);
    operation->backward(x, dy, scale, shift, mean, variance, dx, spec.scale ? &dscale : nullptr,
                        dshift);
    Outputs outputs{side.read(y),      side.read(mean),   side.read(variance),
                    side.read(dshift), side.read(dscale), side.read(dx)};
    const Tensor& moved = side.drawn(channels, Layout::row_major, 3);
    const Tensor& spread = side.drawn(channels, Layout::row_major, 2);
    operation->infer(x, scale, shift, moved, spread, y);
    outputs.push_back(side.read(y));
    return outputs;
  });
}

TEST(DeviceOperations, NormalizeBatchesAsTheCpuDoes) {
  for (const bool scale : {false, true}) {
    for (const bool relu : {false, true}) {
      // Of less than a block of pixels, and of several.
      expect_batch_norm({.input = {2, 20, 3, 4}, .scale = scale, .relu = relu}, relu);
      expect_batch_norm({.input = {3, 17, 16, 12}, .scale = scale, .relu = relu}, scale);
    }
  }
}

TEST(DeviceOperations, DropWhatTheCpuDrops) {
  for (const std::uint64_t first : {0U, 512U, 700U, 1023U}) {
    for (const float keep : {0.5F, 0.8F}) {
      const kernels::DropoutDraw draw{
          .seed = 0x123456789AB, .step = 7, .rank = 3, .layer = 1, .first = first};
      expect_alike(
          [&](Side& side) -> Outputs {
            const auto operation = side.backend->dropout({.count = 1301, .keep = keep});
            Tensor& x = side.drawn({1301});
            Tensor& y = side.drawn({1301});
            operation->draw(draw);
            operation->run(x, y);
            operation->run(x, x);
            return {side.read(y), side.read(x)};
          },
          0);
    }
  }
}

TEST(DeviceOperations, PassElementsAsTheCpuDoes) {
  using enum EltwiseSpec::Function;
  for (const auto function : {relu, sigmoid}) {
    expect_alike([&](Side& side) -> Outputs {
      const auto operation = side.backend->eltwise({.function = function, .count = 3'000});
      Tensor& y = side.drawn({3'000});
      Tensor& dy = side.drawn({3'000});
      operation->forward(y);
      operation->backward(y, dy);
      return {side.read(y), side.read(dy)};
    });
  }
}

TEST(DeviceOperations, MoveElementsAsTheCpuDoes) {
  const kernels::Runs runs{.images = 2,
                           .rows = 3,
                           .columns = 4,
                           .length = 5,
                           .from = {.first = 2, .image = 100, .row = 30, .column = 6},
                           .to = {.first = 1, .image = 70, .row = 21, .column = 5}};
  expect_alike(
      [&](Side& side) -> Outputs {
        Memory& memory = side.backend->memory();
        const Tensor& a = side.drawn({200});
        Tensor& b = side.drawn({200});
        memory.copy(a, runs, b);
        Tensor& c = side.drawn({200});
        memory.copy(b, runs.turned(), c);
        memory.scale(c, 0.3F);
        return {side.read(b), side.read(c)};
      },
      0);
}

}  // namespace
}  // namespace sterna::nets
