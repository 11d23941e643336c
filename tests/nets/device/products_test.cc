// A device's convolutions and inner products, which a precision may round, and nothing else.
#include "kernels/device/host_operations.h"
#include "nets/backend/convolution.h"
#include "nets/backend/inner_product.h"
#include "tests/nets/device/operation_fixture.h"

namespace sterna::nets {
namespace {

/// What both kinds read.
struct Operands {
  Values x, w, b, dy;
};

Shape slid(const ConvolutionSpec& spec) {
  const Shape& in = spec.input;
  return {in[0], spec.out_channels, spec.window.down().out(in[2]), spec.window.across().out(in[3])};
}
Shape weights_of(const ConvolutionSpec& spec) {
  return {spec.out_channels, spec.input[1] / spec.groups, spec.window.down().kernel,
          spec.window.across().kernel};
}

Operands operands_of(const ConvolutionSpec& spec) {
  Drawn drawn;
  return {drawn(spec.input), drawn(weights_of(spec)),
          spec.bias ? drawn({spec.out_channels}) : Values(), drawn(slid(spec))};
}
Operands operands_of(const InnerProductSpec& spec) {
  Drawn drawn;
  return {drawn({spec.batch, spec.in}), drawn({spec.out, spec.in}),
          spec.bias ? drawn({spec.out}) : Values(), drawn({spec.batch, spec.out})};
}

/// What is written: y, dw, dx, and db where there is a bias.
template <class Operation>
Outputs passed(Side& side, Operation& operation, const Tensor& x, Tensor& w, const Tensor* b,
               const Tensor& dy, Tensor& y, Tensor& dx) {
  Tensor& dw = side.parameter(w.shape());
  Tensor* const db = b != nullptr ? &side.parameter(b->shape()) : nullptr;
  // What was derived from other weights is stale.
  for (const float factor : {4.0F, 0.25F}) {
    side.backend->memory().scale(w, factor);
    operation.weights_changed();
    operation.forward(x, w, b, y);
  }
  operation.backward_parameters(x, dy, dw, db);
  operation.backward_data(dy, w, dx);
  Outputs outputs{side.read(y), side.read(dw), side.read(dx)};
  if (db != nullptr) outputs.push_back(side.read(*db));
  return outputs;
}

Outputs passed_by(Side& side, ConvolutionSpec spec, const Operands& of) {
  spec.element = side.element;
  const auto operation = side.backend->convolution(spec);
  const Tensor& x = side.activation(spec.input, kImages, of.x);
  Tensor& w = side.parameter(weights_of(spec), of.w);
  const Tensor* const b = spec.bias ? &side.parameter({spec.out_channels}, of.b) : nullptr;
  const Tensor& dy = side.activation(slid(spec), kImages, of.dy);
  return passed(side, *operation, x, w, b, dy, side.activation(slid(spec), kImages),
                side.activation(spec.input, kImages));
}
Outputs passed_by(Side& side, InnerProductSpec spec, const Operands& of) {
  constexpr Layout kRows = Layout::row_major;
  spec.element = side.element;
  const auto operation = side.backend->inner_product(spec);
  const Tensor& x = side.activation({spec.batch, spec.in}, kRows, of.x);
  Tensor& w = side.parameter({spec.out, spec.in}, of.w);
  const Tensor* const b = spec.bias ? &side.parameter({spec.out}, of.b) : nullptr;
  const Tensor& dy = side.activation({spec.batch, spec.out}, kRows, of.dy);
  return passed(side, *operation, x, w, b, dy, side.activation({spec.batch, spec.out}, kRows),
                side.activation({spec.batch, spec.in}, kRows));
}

template <class Spec>
OperationCase case_of(const std::string& name, const Spec& spec, const Operands& of,
                      const Values& y, const reference::Gradients& d) {
  OperationCase one{.name = name,
                    .expected = {{"y", y, y.size() > 1 ? Rounding::visible : Rounding::hidden},
                                 {"dw", d.w, Rounding::visible},
                                 {"dx", d.x, Rounding::visible}},
                    .run = [spec, of](Side& side) { return passed_by(side, spec, of); }};
  if (spec.bias) one.expected.push_back({"db", d.b});
  return one;
}
OperationCase case_of(const ConvolutionSpec& spec) {
  const Operands of = operands_of(spec);
  const Shape& in = spec.input;
  return case_of(
      fmt::format("convolution of {} to {} by {} x {}, stride {}, {} groups", fmt::join(in, " x "),
                  spec.out_channels, spec.window.down().kernel, spec.window.across().kernel,
                  spec.window.stride, spec.groups),
      spec, of,
      reference::convolution(of.x, in, of.w, of.b, spec.out_channels, spec.window, spec.groups),
      reference::convolution_backward(of.x, in, of.w, of.dy, spec.out_channels, spec.window,
                                      spec.groups));
}
OperationCase case_of(const InnerProductSpec& spec) {
  const Operands of = operands_of(spec);
  return case_of(fmt::format("inner product of {} x {} to {}", spec.batch, spec.in, spec.out), spec,
                 of, reference::inner_product(of.x, spec.batch, of.w, of.b),
                 reference::inner_product_backward(of.x, spec.batch, of.w, of.dy));
}

TEST_F(DeviceOperations, ConvolveAsInDoublePrecision) {
  const Window three{.kernel = 3}, halved{.kernel = 3, .stride = 2};
  for (const ConvolutionSpec& spec : {
           ConvolutionSpec{.input = {2, 5, 9, 8}, .out_channels = 20, .window = three},
           {.input = {3, 3, 8, 9}, .out_channels = 7, .window = halved, .bias = false},
           {.input = {2, 4, 9, 9},
           .out_channels = 3,
           .window = {.kernel = 1, .padding = Padding::valid, .width = 7}},
           {.input = {1, 3, 15, 15},
           .out_channels = 8,
           .window = {.kernel = 7, .stride = 2, .padding = Padding::given, .pad = 3}},
       }) {
    expect_the_reference(case_of(spec));
  }
}

// Of fewer channels and smaller images.
TEST_F(DeviceOperations, ConvolveAsTheLayersOfTheZoo) {
  const Window five{.kernel = 5}, three{.kernel = 3};
  for (const ConvolutionSpec& spec : {
           // lenet
           ConvolutionSpec{.input = {2, 1, 28, 26}, .out_channels = 20, .window = five},
           {.input = {1, 10, 14, 13}, .out_channels = 25, .window = five},
           // alexnet, alexnet_v2
           {.input = {1, 3, 39, 39}, .out_channels = 8, .window = {.kernel = 11, .stride = 4}},
           {.input = {1, 3, 39, 39},
           .out_channels = 8,
           .window = {.kernel = 11, .stride = 4, .padding = Padding::valid},
           .bias = false},
           // vgg, googlenet
           {.input = {2, 16, 14, 14}, .out_channels = 24, .window = three},
           {.input = {1, 3, 28, 28}, .out_channels = 8, .window = {.kernel = 7, .stride = 2}},
           // inception_v3
           {.input = {1, 8, 17, 17}, .out_channels = 12, .window = {.kernel = 1, .width = 7}},
           {.input = {1, 8, 17, 17}, .out_channels = 12, .window = {.kernel = 7, .width = 1}},
           {.input = {1, 8, 17, 17},
           .out_channels = 12,
           .window = {.kernel = 3, .stride = 2, .padding = Padding::valid},
           .bias = false},
           // resnet_20, resnet_50
           {.input = {2, 16, 16, 16},
           .out_channels = 32,
           .window = {.kernel = 3, .stride = 2, .padding = Padding::given, .pad = 1},
           .bias = false},
           {.input = {2, 16, 14, 14}, .out_channels = 64, .window = {}, .bias = false},
           {.input = {2, 64, 14, 14}, .out_channels = 32, .window = {.stride = 2}, .bias = false},
       }) {
    expect_the_reference(case_of(spec));
  }
}

TEST_F(DeviceOperations, ConvolveWherePaddingIsUneven) {
  for (const ConvolutionSpec& spec : {
           // As much before as after, but the last window ends before the last pixel.
           ConvolutionSpec{.input = {2, 3, 16, 16},
           .out_channels = 4,
           .window = {.kernel = 7, .stride = 2, .padding = Padding::given, .pad = 3}},
           // Laid into a larger image, which leaves pixels out.
           {.input = {2, 3, 7, 9}, .out_channels = 4, .window = {.kernel = 2, .stride = 3}},
           {.input = {1, 2, 6, 8}, .out_channels = 4, .window = {.kernel = 3, .stride = 2}},
       }) {
    expect_the_reference(case_of(spec));
  }
}

TEST_F(DeviceOperations, ConvolveSinglePixels) {
  for (const ConvolutionSpec& spec : {
           ConvolutionSpec{.input = {2, 19, 5, 6}, .out_channels = 17, .window = {}},
           {.input = {2, 19, 5, 6}, .out_channels = 17, .window = {}, .bias = false},
           {.input = {2, 6, 5, 6}, .out_channels = 9, .window = {}, .groups = 3},
           {.input = {2, 6, 5, 6}, .out_channels = 9, .window = {.stride = 2}},
           // A window of one pixel, but a frame around the image.
           {.input = {2, 3, 4, 4},
           .out_channels = 5,
           .window = {.padding = Padding::given, .pad = 1},
           .bias = false},
       }) {
    expect_the_reference(case_of(spec));
  }
}

TEST_F(DeviceOperations, ConvolveInGroups) {
  const Window three{.kernel = 3};
  for (const ConvolutionSpec& spec : {
           ConvolutionSpec{.input = {2, 6, 7, 5}, .out_channels = 34, .window = three, .groups = 2},
           {.input = {2, 8, 6, 6}, .out_channels = 8, .window = three, .groups = 8, .bias = false},
       }) {
    expect_the_reference(case_of(spec));
  }
}

TEST_F(DeviceOperations, MultiplyAsInDoublePrecision) {
  for (const InnerProductSpec& spec : {
           InnerProductSpec{.batch = 16, .in = 2450, .out = 50},
           {.batch = 16, .in = 50, .out = 10},
           {.batch = 3, .in = 63, .out = 33, .bias = false},
           {.batch = 64, .in = 256, .out = 96},
           {.batch = 1, .in = 7, .out = 1},
       }) {
    expect_the_reference(case_of(spec));
  }
}

// Sums of thousands lose no more than short ones.
TEST_F(DeviceOperations, MultiplyLongRows) {
  const InnerProductSpec spec{.batch = 3, .in = 30'000, .out = 18};
  Drawn drawn;
  const Operands of{drawn({spec.batch, spec.in}, 1), drawn({spec.out, spec.in}, 1),
                    drawn({spec.out}), drawn({spec.batch, spec.out})};
  const Values y = reference::inner_product(of.x, spec.batch, of.w, of.b);
  expect_the_reference(
      {.name = "inner product of 3 x 30000 to 18",
       .expected = {{"y", y, Rounding::hidden}},
       .run = [&](Side& side) -> Outputs { return {passed_by(side, spec, of).front()}; },
       .fp32_error = 1e-6});
}

/// Each operand as the host's device rounds it, the bias as it is.
Operands rounded(Operands of) {
  for (Values* const values : {&of.x, &of.w, &of.dy}) {
    for (double& value : *values) value = kernels::to_tf32(static_cast<float>(value));
  }
  return of;
}

template <class Spec>
void expect_tf32_of_rounded(const Spec& spec) {
  constexpr Precision kFp32{.name = "fp32"}, kTf32{.name = "tf32", .tf32 = true};
  const auto found = [&](const Precision& precision, const Operands& of) {
    Side side(options_of(precision, kernels::make_host_device({.libraries = true})));
    return passed_by(side, spec, of);
  };
  const Operands of = operands_of(spec);
  const Outputs tf32 = found(kTf32, of), fp32 = found(kFp32, rounded(of));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(tf32[i], fp32[i]) << "output " << i;
  EXPECT_NE(tf32[0], found(kFp32, of)[0]);
}

TEST(DevicePrecision, Tf32OnTheHostIsFp32OfBothOperandsRounded) {
  expect_tf32_of_rounded(InnerProductSpec{.batch = 5, .in = 40, .out = 30});
  expect_tf32_of_rounded(
      ConvolutionSpec{.input = {2, 5, 9, 8}, .out_channels = 20, .window = {.kernel = 3}});
}

// Layers so large that no library would multiply them by anything but its tensor cores, if it may.
TEST_F(DeviceOperations, AreRoundedOnAGpu) {
  if (demanded() == nullptr) GTEST_SKIP() << "no GPU is demanded";
  for (const OperationCase& one :
       {case_of(InnerProductSpec{.batch = 128, .in = 1024, .out = 256}),
        case_of(ConvolutionSpec{
            .input = {4, 64, 28, 28}, .out_channels = 64, .window = {.kernel = 3}})}) {
    for (const Precision& precision : kPrecisions) {
      const std::vector<double> errors = errors_of(one, run_on(demanded(), precision, one));
      const double worst = std::ranges::max(errors);
      EXPECT_LE(worst, precision.most) << one.name << " in " << precision.name;
      EXPECT_GE(worst, precision.least) << one.name << " in " << precision.name;
    }
  }
}

}  // namespace
}  // namespace sterna::nets
