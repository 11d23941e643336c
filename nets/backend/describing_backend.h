// A backend that makes no operation, but counts their arithmetic: for graphs that never run.
#pragma once

#include <cstdint>

#include "nets/backend/backend.h"

namespace sterna::nets {

/// All operations that it returns are null.
class DescribingBackend final : public Backend {
 public:
  std::unique_ptr<Convolution> convolution(const ConvolutionSpec& spec) override;
  std::unique_ptr<InnerProduct> inner_product(const InnerProductSpec& spec) override;
  std::unique_ptr<MaxPool> max_pool(const MaxPoolSpec& spec) override;
  std::unique_ptr<Eltwise> eltwise(const EltwiseSpec& spec) override;
  std::unique_ptr<BatchNorm> batch_norm(const BatchNormSpec& spec) override;
  std::unique_ptr<Lrn> lrn(const LrnSpec& spec) override;
  std::unique_ptr<AveragePool> average_pool(const AveragePoolSpec& spec) override;
  std::unique_ptr<Relayout> relayout(const RelayoutSpec& spec) override;
  std::uint64_t reorders() const override { return 0; }
  /// Multiplications and additions of a forward pass through all that it was asked for.
  std::uint64_t flops() const { return flops_; }

 private:
  std::uint64_t flops_ = 0;
};

}  // namespace sterna::nets
