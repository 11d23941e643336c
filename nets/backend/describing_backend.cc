#include "nets/backend/describing_backend.h"

#include "nets/backend/average_pool.h"
#include "nets/backend/batch_norm.h"
#include "nets/backend/convolution.h"
#include "nets/backend/eltwise.h"
#include "nets/backend/inner_product.h"
#include "nets/backend/lrn.h"
#include "nets/backend/max_pool.h"
#include "nets/backend/relayout.h"

namespace sterna::nets {

std::unique_ptr<Convolution> DescribingBackend::convolution(const ConvolutionSpec& spec) {
  const Slide down = spec.window.down(), across = spec.window.across();
  flops_ += 2 * spec.input[0] * spec.out_channels * (spec.input[1] / spec.groups) * down.kernel *
            across.kernel * down.out(spec.input[2]) * across.out(spec.input[3]);
  return nullptr;
}

std::unique_ptr<InnerProduct> DescribingBackend::inner_product(const InnerProductSpec& spec) {
  flops_ += 2 * spec.batch * spec.in * spec.out;
  return nullptr;
}

std::unique_ptr<MaxPool> DescribingBackend::max_pool(const MaxPoolSpec& /*spec*/) { return {}; }
std::unique_ptr<Eltwise> DescribingBackend::eltwise(const EltwiseSpec& /*spec*/) { return {}; }
std::unique_ptr<BatchNorm> DescribingBackend::batch_norm(const BatchNormSpec& /*spec*/) {
  return {};
}
std::unique_ptr<Lrn> DescribingBackend::lrn(const LrnSpec& /*spec*/) { return {}; }
std::unique_ptr<AveragePool> DescribingBackend::average_pool(const AveragePoolSpec& /*spec*/) {
  return {};
}
std::unique_ptr<Relayout> DescribingBackend::relayout(const RelayoutSpec& /*spec*/) { return {}; }

}  // namespace sterna::nets
