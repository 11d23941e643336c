#include "nets/onednn/fastest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/isa/isa.h"
#include "nets/make_backend.h"
#include "nets/net.h"

namespace sterna::nets {
namespace {

using testing::Each;
using testing::IsEmpty;
using testing::Not;
using testing::Truly;

const Shape kImages{2, 16, 8, 8};

TEST(Fastest, NamesAnImplementationForEachPass) {
  const ConvolutionSpec convolution{
      .input = kImages, .out_channels = 24, .window = {.kernel = 3}, .groups = 2};
  const FastestPasses passes = measure_fastest(convolution, 2);
  EXPECT_GT(passes.seconds, 0);
  EXPECT_THAT(passes.forward, Not(IsEmpty()));
  EXPECT_THAT(passes.backward_data, Not(IsEmpty()));
  EXPECT_THAT(passes.backward_weights, Not(IsEmpty()));
}

TEST(Fastest, LeavesOutThePassesThatNobodyAsksFor) {
  const ConvolutionSpec first{.input = kImages,
                              .out_channels = 16,
                              .window = {.kernel = 3},
                              .bias = false,
                              .input_gradient = false};
  EXPECT_THAT(measure_fastest(first, 1).backward_data, IsEmpty());
  EXPECT_THAT(measure_fastest(MaxPoolSpec{kImages, {.kernel = 2, .stride = 2}}, 1).backward_weights,
              IsEmpty());
  EXPECT_EQ(measure_fastest(RelayoutSpec{kImages}, 1).seconds, 0);
}

TEST(Fastest, MeasuresEveryKindOfOperation) {
  for (const Operation& operation : std::vector<Operation>{
           InnerProductSpec{.batch = 2, .in = 20, .out = 30},
           MaxPoolSpec{kImages, {.kernel = 3, .stride = 2}},
           AveragePoolSpec{kImages, {.kernel = 3}},
           BatchNormSpec{.input = kImages, .scale = true, .relu = true},
           LrnSpec{.input = kImages, .radius = 2, .bias = 1, .alpha = 0.1F, .beta = 0.75F},
           EltwiseSpec{.count = 1000}, RectifiedSumSpec{.count = 1000}}) {
    EXPECT_GT(measure_fastest(operation, 1).seconds, 0) << operation.index();
  }
}

/// Of the nets that are made in a moment; the others have the same layers.
TEST(Fastest, NoNetsStepRunsAnImplementationForReference) {
  if (kernels::best_isa() == kernels::Isa::scalar) {
    GTEST_SKIP() << "this CPU has no AVX2, without which oneDNN has little else";
  }
  for (const char* name : {"lenet", "cifarnet", "resnet_20", "googlenet", "inception_v3", "mlp"}) {
    const ZooNet* net = find_net(name);
    NetOptions options{.name = name, .images = net->usual, .batch = 2};
    options.hidden.assign(net->hidden.begin(), net->hidden.end());
    for (const Element precision : {Element::fp32, Element::bf16}) {
      options.backend.precision = precision;
      if (!make_backend(options.backend)) continue;  // bf16, which this CPU does not have
      const auto made = make_net(options);
      ASSERT_TRUE(made.ok()) << made.error().message;
      EXPECT_THAT((*made)->implementations(), Not(IsEmpty()));
      EXPECT_THAT((*made)->implementations(),
                  Each(Truly([](const std::string& one) { return !is_reference(one); })))
          << name;
    }
  }
}

}  // namespace
}  // namespace sterna::nets
