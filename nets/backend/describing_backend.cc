#include "nets/backend/describing_backend.h"

#include "nets/backend/decay.h"
#include "nets/backend/dropout.h"
#include "nets/backend/loss.h"
#include "nets/backend/parameter_versions.h"
#include "nets/backend/repeated_pass.h"

namespace sterna::nets {
namespace {

std::uint64_t flops_of(const ConvolutionSpec& spec) {
  const Slide down = spec.window.down(), across = spec.window.across();
  return 2 * spec.input[0] * spec.out_channels * (spec.input[1] / spec.groups) * down.kernel *
         across.kernel * down.out(spec.input[2]) * across.out(spec.input[3]);
}

std::uint64_t flops_of(const InnerProductSpec& spec) { return 2 * spec.batch * spec.in * spec.out; }

template <class Other>
std::uint64_t flops_of(const Other& /*spec*/) {
  return 0;
}

}  // namespace

std::uint64_t DescribingBackend::flops() const {
  std::uint64_t flops = 0;
  for (const Operation& one : operations_) {
    flops += std::visit([](const auto& spec) { return flops_of(spec); }, one);
  }
  return flops;
}

std::unique_ptr<Convolution> DescribingBackend::convolution(const ConvolutionSpec& spec) {
  operations_.emplace_back(spec);
  return nullptr;
}
std::unique_ptr<InnerProduct> DescribingBackend::inner_product(const InnerProductSpec& spec) {
  operations_.emplace_back(spec);
  return nullptr;
}
std::unique_ptr<MaxPool> DescribingBackend::max_pool(const MaxPoolSpec& spec) {
  operations_.emplace_back(spec);
  return nullptr;
}
std::unique_ptr<Eltwise> DescribingBackend::eltwise(const EltwiseSpec& spec) {
  operations_.emplace_back(spec);
  return nullptr;
}
std::unique_ptr<RectifiedSum> DescribingBackend::rectified_sum(const RectifiedSumSpec& spec) {
  operations_.emplace_back(spec);
  return nullptr;
}
std::unique_ptr<BatchNorm> DescribingBackend::batch_norm(const BatchNormSpec& spec) {
  operations_.emplace_back(spec);
  return nullptr;
}
std::unique_ptr<Lrn> DescribingBackend::lrn(const LrnSpec& spec) {
  operations_.emplace_back(spec);
  return nullptr;
}
std::unique_ptr<AveragePool> DescribingBackend::average_pool(const AveragePoolSpec& spec) {
  operations_.emplace_back(spec);
  return nullptr;
}
std::unique_ptr<Relayout> DescribingBackend::relayout(const RelayoutSpec& spec) {
  operations_.emplace_back(spec);
  return nullptr;
}

std::unique_ptr<Dropout> DescribingBackend::dropout(const DropoutSpec& /*spec*/) {
  ++dropouts_;
  return nullptr;
}
std::unique_ptr<Loss> DescribingBackend::loss(const LossSpec& /*spec*/) { return nullptr; }
std::unique_ptr<Decay> DescribingBackend::decay(const DecaySpec& /*spec*/) { return nullptr; }
std::unique_ptr<RepeatedPass> DescribingBackend::repeated_pass() { return nullptr; }

std::unique_ptr<ParameterVersions> DescribingBackend::parameter_versions(
    std::span<const std::size_t> /*elements*/) {
  return nullptr;
}

}  // namespace sterna::nets
