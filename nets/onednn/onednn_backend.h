// The CPU backend, on oneDNN 2.6, whose API appears in this room's .cc files and nowhere else.
#pragma once

#include <memory>

#include "nets/backend/backend.h"
#include "nets/backend/host_memory.h"
#include "runtime/base/result.h"

namespace sterna::nets {

/// Each operation is made in a file of its name.
class OneDnnBackend final : public Backend {
 public:
  /// Errors: invalid_argument for fewer than one thread, for an instruction set that does not
  /// exist, and for several threads in a process where OpenMP's would spin while they wait:
  /// OMP_WAIT_POLICY=PASSIVE must be in the environment before the program starts, because libgomp
  /// reads it when it is loaded. (A spinning team that shares its cores loses a scheduler tick at
  /// each barrier: 8 ms for a primitive of 0.4 ms.)
  /// unavailable where this process has computed with a higher instruction set before: oneDNN
  /// chooses once per process. Its "scalar" is SSE4.1: less it cannot. unavailable, too, for bf16
  /// without the CPU's instructions for it.
  static Result<std::unique_ptr<Backend>> make(const BackendOptions& options);

  struct Context;
  explicit OneDnnBackend(int threads);
  ~OneDnnBackend() override;
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
  std::uint64_t reorders() const override;
  std::vector<std::string> implementations() const override;

 private:
  std::unique_ptr<Context> context_;
  HostMemory memory_;
};

}  // namespace sterna::nets
