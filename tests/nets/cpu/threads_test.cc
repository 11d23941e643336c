// Operations of our own, of tensors that are large enough to be shared among threads.
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "kernels/isa/isa.h"
#include "nets/backend/batch_norm.h"
#include "nets/backend/eltwise.h"
#include "nets/backend/lrn.h"
#include "nets/backend/max_pool.h"
#include "nets/backend/rectified_sum.h"
#include "nets/make_backend.h"
#include "tests/nets/random_values.h"

namespace sterna::nets {
namespace {

using Bytes = std::vector<std::byte>;

const Shape kImage{8, 48, 41, 44};  // 690,000 numbers

class OwnOperations : public testing::TestWithParam<Element> {
 protected:
  void SetUp() override {
    if (const auto made = make_backend({.precision = GetParam()}); !made)
      GTEST_SKIP() << made.error().message;
  }
  static Tensor empty(const Shape& shape = kImage) {
    return Tensor(shape, Layout::channels_last, GetParam());
  }
  static Tensor drawn(std::uint64_t seed, const Shape& shape = kImage) {
    SeededRandom random(seed);
    return tensor(shape, Layout::channels_last, random_values(element_count(shape), 1, random),
                  GetParam());
  }
  static void note(const Tensor& tensor, Bytes& bits) {
    bits.insert(bits.end(), tensor.memory(), tensor.memory() + tensor.bytes());
  }
  /// run(backend, what it wrote)
  template <class Run>
  static void expect_the_bits_of_one_thread(Run run) {
    Bytes expected;
    for (const int threads : {1, 2, 5}) {
      Bytes bits;
      run(*make_backend({.threads = threads, .precision = GetParam()}).value(), bits);
      if (threads == 1) expected = bits;
      EXPECT_TRUE(bits == expected) << threads << " threads";
    }
  }
};

TEST_P(OwnOperations, RectifyOnManyThreads) {
  expect_the_bits_of_one_thread([](Backend& backend, Bytes& bits) {
    const auto relu = backend.eltwise({.count = element_count(kImage), .element = GetParam()});
    Tensor y = drawn(1), dy = drawn(2);
    relu->forward(y);
    relu->backward(y, dy);
    note(y, bits);
    note(dy, bits);
  });
}

TEST_P(OwnOperations, RectifySumsOnManyThreads) {
  expect_the_bits_of_one_thread([](Backend& backend, Bytes& bits) {
    const auto sum = backend.rectified_sum({.count = element_count(kImage), .element = GetParam()});
    Tensor y = empty(), alone = drawn(2), together = drawn(3);
    sum->forward(drawn(1), drawn(4), y);
    sum->backward(y, alone);
    sum->backward(y, drawn(5), together);
    for (const Tensor* of : {&y, &alone, &together}) note(*of, bits);
  });
}

TEST_P(OwnOperations, PoolOnManyThreads) {
  for (const Window& window : {Window{.kernel = 2, .stride = 2, .padding = Padding::same},
                               Window{.kernel = 3, .stride = 2, .padding = Padding::same},
                               Window{.kernel = 3, .stride = 1, .padding = Padding::same}}) {
    expect_the_bits_of_one_thread([&](Backend& backend, Bytes& bits) {
      Shape in = kImage;
      if (window.kernel == 2) in[2] = 42;  // halves
      const auto pool = backend.max_pool({.input = in, .window = window, .element = GetParam()});
      const Shape out{in[0], in[1], window.down().out(in[2]), window.across().out(in[3])};
      Tensor y = empty(out), dx = empty(in);
      pool->forward(drawn(1, in), y);
      pool->backward(drawn(2, out), dx);
      note(y, bits);
      note(dx, bits);
    });
  }
}

TEST_P(OwnOperations, NormalizeResponsesOnManyThreads) {
  expect_the_bits_of_one_thread([](Backend& backend, Bytes& bits) {
    const auto lrn = backend.lrn({.input = kImage,
                                  .radius = 4,
                                  .bias = 1,
                                  .alpha = 0.1F,
                                  .beta = 0.75F,
                                  .element = GetParam()});
    const Tensor x = drawn(1);
    Tensor y = empty(), dx = empty();
    lrn->forward(x, y);
    lrn->backward(x, drawn(2), dx);
    note(y, bits);
    note(dx, bits);
  });
}

TEST_P(OwnOperations, NormalizeBatchesOnManyThreads) {
  if (kernels::best_isa() != kernels::Isa::avx512) GTEST_SKIP() << "oneDNN's, without AVX-512";
  expect_the_bits_of_one_thread([](Backend& backend, Bytes& bits) {
    const auto norm =
        backend.batch_norm({.input = kImage, .scale = true, .relu = true, .element = GetParam()});
    const Shape channels{kImage[1]};
    const auto of_channels = [&](std::uint64_t seed) {
      SeededRandom random(seed);
      return tensor(channels, Layout::row_major, random_values(channels[0], 1, random));
    };
    const Tensor x = drawn(1), scale = of_channels(3), shift = of_channels(4);
    Tensor y = empty(), dx = empty();
    Tensor mean(channels), variance(channels), dscale(channels), dshift(channels);
    norm->forward(x, &scale, shift, mean, variance, y);
    norm->backward(x, drawn(2), &scale, shift, mean, variance, dx, &dscale, dshift);
    for (const Tensor* of : {&y, &mean, &variance, &dx, &dscale, &dshift}) note(*of, bits);
    norm->infer(x, &scale, shift, mean, variance, y);
    note(y, bits);
  });
}

INSTANTIATE_TEST_SUITE_P(Of, OwnOperations, testing::Values(Element::fp32, Element::bf16),
                         [](const auto& element) {
                           return element.param == Element::fp32 ? "Fp32s" : "Bf16s";
                         });

}  // namespace
}  // namespace sterna::nets
