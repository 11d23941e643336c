// A backend that makes no operation, but notes what it is asked for: for graphs that never run.
#pragma once

#include <cstdint>
#include <vector>

#include "nets/backend/backend.h"
#include "nets/backend/host_memory.h"
#include "nets/backend/operation.h"

namespace sterna::nets {

/// All operations that it returns are null.
class DescribingBackend final : public Backend {
 public:
  std::unique_ptr<Convolution> convolution(const ConvolutionSpec& spec) override;
  std::unique_ptr<InnerProduct> inner_product(const InnerProductSpec& spec) override;
  std::unique_ptr<MaxPool> max_pool(const MaxPoolSpec& spec) override;
  std::unique_ptr<Eltwise> eltwise(const EltwiseSpec& spec) override;
  std::unique_ptr<RectifiedSum> rectified_sum(const RectifiedSumSpec& spec) override;
  std::unique_ptr<BatchNorm> batch_norm(const BatchNormSpec& spec) override;
  std::unique_ptr<Lrn> lrn(const LrnSpec& spec) override;
  std::unique_ptr<AveragePool> average_pool(const AveragePoolSpec& spec) override;
  std::unique_ptr<Dropout> dropout(const DropoutSpec& spec) override;
  std::unique_ptr<Relayout> relayout(const RelayoutSpec& spec) override;
  std::unique_ptr<Loss> loss(const LossSpec& spec) override;
  std::unique_ptr<Decay> decay(const DecaySpec& spec) override;
  std::unique_ptr<ParameterVersions> parameter_versions(
      std::span<const std::size_t> elements) override;
  std::unique_ptr<RepeatedPass> repeated_pass() override;
  Memory& memory() override { return memory_; }
  std::uint64_t reorders() const override { return 0; }
  std::vector<std::string> implementations() const override { return {}; }
  /// What it was asked for, in that order.
  const std::vector<Operation>& operations() const { return operations_; }
  std::size_t dropouts() const { return dropouts_; }
  /// Multiplications and additions of a forward pass through all of them.
  std::uint64_t flops() const;

 private:
  std::vector<Operation> operations_;
  std::size_t dropouts_ = 0;
  HostMemory memory_;
};

}  // namespace sterna::nets
