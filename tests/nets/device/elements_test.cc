// What a device does to elements by themselves, where it moves them, and the loss.
#include <cmath>
#include <limits>

#include "nets/backend/decay.h"
#include "nets/backend/dropout.h"
#include "nets/backend/eltwise.h"
#include "nets/backend/loss.h"
#include "nets/backend/max_pool.h"
#include "nets/backend/rectified_sum.h"
#include "nets/layers/layers.h"
#include "tests/nets/device/operation_fixture.h"
#include "tests/nets/graph_fixture.h"

namespace sterna::nets {
namespace {

constexpr Layout kRows = Layout::row_major;

TEST_F(DeviceOperations, PassElementsAsInDoublePrecision) {
  using enum EltwiseSpec::Function;
  const Shape shape{3'000};
  Drawn drawn;
  const Values x = drawn(shape), dy = drawn(shape);
  for (const auto function : {relu, sigmoid}) {
    const bool cut = function == relu;
    expect_the_reference({.name = cut ? "ReLU" : "sigmoid",
                          .expected = {{"y", cut ? reference::relu(x) : reference::sigmoid(x)},
                                       {"dx", cut ? reference::relu_backward(x, dy)
                                                  : reference::sigmoid_backward(x, dy)}},
                          .run = [&](Side& side) -> Outputs {
                            const auto operation = side.backend->eltwise(
                                {.function = function, .count = x.size(), .element = side.element});
                            Tensor& y = side.activation(shape, kRows, x);
                            Tensor& dx = side.activation(shape, kRows, dy);
                            operation->forward(y);
                            operation->backward(y, dx);
                            return {side.read(y), side.read(dx)};
                          }});
  }
}

// Or a net whose parameters are broken has a loss as if nothing were wrong.
TEST_F(DeviceOperations, LeaveWhatIsNoNumber) {
  const Shape in{1, 3, 4, 4}, out{1, 3, 2, 2};
  const auto kept = [&](Side& side) {
    Values values(element_count(in), 1);
    for (const std::size_t place : {0U, 6U, 25U, 47U}) {  // of windows of 4: each place once
      values[place] = std::numeric_limits<double>::quiet_NaN();
    }
    Tensor& x = side.activation(in, kImages, values);
    const auto relu = side.backend->eltwise({.count = values.size(), .element = side.element});
    const auto pool = side.backend->max_pool(
        {.input = in, .window = {.kernel = 2, .stride = 2}, .element = side.element});
    Tensor& y = side.activation(out, kImages);
    relu->forward(x);
    pool->forward(x, y);
    std::vector<bool> found;
    for (const double value : side.read(y)) found.push_back(std::isnan(value));
    return found;
  };
  const std::vector<bool> expected{true, true,  false, false, false, false,
                                   true, false, false, false, false, true};
  Side cpu({});
  EXPECT_EQ(kept(cpu), expected);
  for (const Precision& precision : kPrecisions) {
    for (const bool libraries : {false, true}) {
      Side host(
          options_of(precision, kernels::make_host_device({.seed = 1, .libraries = libraries})));
      EXPECT_EQ(kept(host), expected) << precision.name;
    }
    if (demanded() == nullptr) continue;
    Side device(options_of(precision, demanded()));
    EXPECT_EQ(kept(device), expected) << precision.name;
  }
}

TEST_F(DeviceOperations, RectifySumsAsInDoublePrecision) {
  const Shape shape{3'000};
  Drawn drawn;
  const Values a = drawn.bf16s(shape), b = drawn.bf16s(shape), dy = drawn(shape),
               part = drawn(shape);
  Values sum = a, both = dy;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] += b[i];
    both[i] += part[i];
  }
  expect_the_reference({.name = "rectified sum",
                        .expected = {{"y", reference::relu(sum)},
                                     {"dx", reference::relu_backward(sum, dy)},
                                     {"dx of two parts", reference::relu_backward(sum, both)}},
                        .run = [&](Side& side) -> Outputs {
                          const auto operation = side.backend->rectified_sum(
                              {.count = a.size(), .element = side.element});
                          Tensor& y = side.activation(shape, kRows, a);
                          Tensor& alone = side.activation(shape, kRows, dy);
                          Tensor& together = side.activation(shape, kRows, dy);
                          operation->forward(y, side.activation(shape, kRows, b), y);
                          operation->backward(y, alone);
                          operation->backward(y, side.activation(shape, kRows, part), together);
                          return {side.read(y), side.read(alone), side.read(together)};
                        }});
}

TEST_F(DeviceOperations, DropWhatTheCpuDropsAndScaleTheRest) {
  const Shape shape{1301};
  Drawn drawn;
  const Values x = drawn(shape);
  for (const std::uint64_t first : {0U, 512U, 700U, 1023U}) {
    for (const float keep : {0.5F, 0.8F}) {
      const kernels::DropoutDraw draw{
          .seed = 0x123456789AB, .step = 7, .rank = 3, .layer = 1, .first = first};
      std::vector<float> kept(x.size(), 1);
      kernels::dropout(kept, keep, draw, kept);
      Values y = x;
      for (std::size_t i = 0; i < y.size(); ++i) y[i] = kept[i] > 0 ? x[i] / keep : 0;
      expect_the_reference({.name = fmt::format("dropout that keeps {}", keep),
                            .expected = {{"y", y}, {"y over x", y}},
                            .run = [&](Side& side) -> Outputs {
                              const auto operation = side.backend->dropout(
                                  {.count = x.size(), .keep = keep, .element = side.element});
                              Tensor& in = side.activation(shape, kRows, x);
                              Tensor& out = side.activation(shape, kRows);
                              operation->draw(draw);
                              operation->run(in, out);
                              operation->run(in, in);
                              return {side.read(out), side.read(in)};
                            },
                            .fp32_error = 1e-7});
    }
  }
}

TEST_F(DeviceOperations, MoveElementsAsTheyAre) {
  const kernels::Runs runs{.images = 2,
                           .rows = 3,
                           .columns = 4,
                           .length = 5,
                           .from = {.first = 2, .image = 100, .row = 30, .column = 6},
                           .to = {.first = 1, .image = 70, .row = 21, .column = 5}};
  Drawn drawn;
  const Shape shape{200};
  const Values a = drawn(shape), b = drawn(shape);
  Values moved = b;
  for (std::size_t i = 0; i < runs.elements(); ++i) {
    const std::size_t element = i % 5, column = i / 5 % 4, row = i / 20 % 3, image = i / 60;
    moved[1 + image * 70 + row * 21 + column * 5 + element] =
        a[2 + image * 100 + row * 30 + column * 6 + element];
  }
  Values sum = a, part = b;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += b[i];
  for (double& value : part) value *= double{0.3F};
  std::fill(part.begin() + 150, part.end(), 0);
  expect_the_reference(
      {.name = "moved elements",
       .expected = {{"runs", moved}, {"a sum", sum}, {"what is scaled and cleared", part}},
       .run = [&](Side& side) -> Outputs {
         Memory& memory = side.backend->memory();
         const Tensor& from = side.parameter(shape, a);
         Tensor& to = side.parameter(shape, b);
         memory.copy(from, runs, to);
         Tensor& added = side.parameter(shape);
         memory.add(from, side.parameter(shape, b), added);
         Tensor& scaled = side.parameter(shape, b);
         memory.scale(scaled, 0.3F);
         memory.clear(scaled, 150);
         return {side.read(to), side.read(added), side.read(scaled)};
       },
       .fp32_error = 1e-7});
}

/// Layers that add up or move what they are given: `build` makes them, `f` is their definition.
template <class Build>
OperationCase moved_by_layers(const std::string& name, const Shape& in, Build build,
                              const Function& f) {
  Drawn drawn;
  const Values x = drawn(in), y = f(x), dy = drawn({y.size()});
  return {.name = name,
          .expected = {{"y", y}, {"dx", finite_differences(f, x, dy)}},
          .run = [=](Side& side) -> Outputs {
            Graph graph(*side.backend, {.shares_memory = true, .element = side.element});
            Activation& half = graph.input(in, kImages);
            Activation& read = add(graph, half, half);  // which wants a gradient
            Activation& written = build(graph, read);
            graph.finish();
            Values halves = x;
            for (double& value : halves) value /= 2;
            side.write(halves, half.value());
            graph.restart({});
            EXPECT_TRUE(graph.forward(0));
            Outputs found{side.read(written.value())};
            side.write(dy, written.gradient());
            Heard heard(graph);
            graph.backward(heard);
            found.push_back(side.read(read.gradient()));
            side.backend->memory().finish();
            return found;
          },
          .fp32_error = 1e-7};
}

TEST_F(DeviceOperations, ConcatenateShortenAddAndFlattenAsDefined) {
  const Shape in{2, 3, 5, 4};
  expect_the_reference(moved_by_layers(
      "concatenation", in,
      [](Graph& graph, Activation& x) -> Activation& {
        return concat(graph, {&x, &subsample(graph, x, 5, 1), &x});
      },
      [&](const Values& x) {
        const Values two = reference::concat(x, in, reference::subsample(x, in, 5, 1), 5);
        return reference::concat(two, {2, 8, 5, 4}, x, 3);
      }));
  expect_the_reference(moved_by_layers(
      "shortcut", in,
      [](Graph& graph, Activation& x) -> Activation& { return subsample(graph, x, 6, 2); },
      [&](const Values& x) { return reference::subsample(x, in, 6, 2); }));
  expect_the_reference(moved_by_layers(
      "sum with a shortcut", in,
      [](Graph& graph, Activation& x) -> Activation& {
        return add(graph, x, subsample(graph, x, 3, 1));
      },
      [](Values x) {
        for (double& value : x) value *= 2;
        return x;
      }));
  expect_the_reference(moved_by_layers(
      "sum of which a relu follows", in,
      [](Graph& graph, Activation& x) -> Activation& {
        return rectified_sum(graph, x, subsample(graph, x, 3, 1));
      },
      [](Values x) {
        for (double& value : x) value = std::max(2 * value, 0.0);
        return x;
      }));
  expect_the_reference(moved_by_layers(
      "flattening", in,
      [](Graph& graph, Activation& x) -> Activation& { return flatten(graph, x); },
      [](const Values& x) { return x; }));
}

TEST_F(DeviceOperations, LoseAsInDoublePrecision) {
  for (const LossSpec& spec :
       {LossSpec{.batch = 5, .classes = 10},
        {.batch = 3, .classes = 1000, .cross_entropy = {.smoothing = 0.1, .weight = 0.4}}}) {
    const Shape shape{spec.batch, spec.classes};
    Drawn drawn;
    Values logits = drawn(shape);
    for (double& value : logits) value *= 4;
    std::vector<std::uint16_t> labels;
    for (std::size_t i = 0; i < spec.batch; ++i) {
      labels.push_back(static_cast<std::uint16_t>((7 * i + 9) % spec.classes));
    }
    Values gradient;
    const double loss = reference::cross_entropy(logits, labels, &gradient, spec.cross_entropy);
    expect_the_reference({.name = fmt::format("softmax of {} classes", spec.classes),
                          .expected = {{"gradient", gradient}, {"loss", {loss}}},
                          .run = [&](Side& side) -> Outputs {
                            LossSpec own = spec;
                            own.element = side.element;
                            const auto operation = side.backend->loss(own);
                            Tensor& found = side.activation(shape, kRows);
                            operation->set_labels(labels, 0);
                            operation->backward(side.activation(shape, kRows, logits), found);
                            return {side.read(found), {operation->loss(0)}};
                          }});
  }
}

TEST_F(DeviceOperations, DecayWeightsAsInDoublePrecision) {
  constexpr float kDecay = 0.004F;
  const Shape first{50, 90}, second{10'003};
  Drawn drawn;
  const Values w = drawn(first), v = drawn(second), dw = drawn(first), dv = drawn(second);
  double squares = 0;
  const auto decayed = [&](const Values& weights, Values gradient) {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      gradient[i] += double{kDecay} * weights[i];
      squares += weights[i] * weights[i];
    }
    return gradient;
  };
  const Values to_w = decayed(w, dw), to_v = decayed(v, dv);
  expect_the_reference(
      {.name = "decay",
       .expected = {{"dw", to_w}, {"dv", to_v}, {"loss", {0.5 * double{kDecay} * squares}}},
       .run = [&](Side& side) -> Outputs {
         const auto operation = side.backend->decay({.most = v.size(), .decay = kDecay});
         Tensor& of_w = side.parameter(first, dw);
         Tensor& of_v = side.parameter(second, dv);
         operation->begin();
         operation->add(side.parameter(first, w), of_w);
         operation->add(side.parameter(second, v), of_v);
         return {side.read(of_w), side.read(of_v), {operation->loss()}};
       }});
}

TEST_F(DeviceOperations, TakeBytesForWhatTheyStandFor) {
  const Shape in{2, 3, 4, 5};
  const std::vector<float> levels{0.1F, 0.2F, 0.3F, 1, 2, 3, 0.4F, 0.5F, 0.6F, 4, 5, 6};
  std::vector<std::uint8_t> pixels(element_count(in));
  Values expected(pixels.size());
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const std::size_t at = channels_last(in, i), channel = i / 20 % 3, image = i / 60;
    pixels[at] = static_cast<std::uint8_t>(at * 37);
    expected[i] = (pixels[at] / 255.0 - double{levels[6 * image + channel]}) *
                  double{levels[6 * image + 3 + channel]};
  }
  expect_the_reference(
      {.name = "images as bytes", .expected = {{"x", expected}}, .run = [&](Side& side) -> Outputs {
         Memory& memory = side.backend->memory();
         memory.expect_images(pixels.size(), levels.size());
         Tensor& x = side.activation(in, kImages);
         memory.write(PixelImages{pixels, levels}, in[0], in[1], x);
         return {side.read(x)};
       }});
}

}  // namespace
}  // namespace sterna::nets
