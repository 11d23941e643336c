// A backend that computes on a device, through the interfaces of kernels/device/device.h: a CUDA
// device, or the host's own that plays one for tests.
#pragma once

#include "nets/backend/backend.h"
#include "runtime/base/result.h"

namespace sterna::nets {

/// Passes are put on a stream and run when the device comes to it. Operations throw BackendFailure.
class DeviceBackend final : public Backend {
 public:
  /// Errors: invalid_argument without a device; the device's.
  static Result<std::unique_ptr<Backend>> make(const BackendOptions& options);

  ~DeviceBackend() override;
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
  Memory& memory() override;
  std::uint64_t reorders() const override { return 0; }
  std::vector<std::string> implementations() const override;

 private:
  struct Parts;
  explicit DeviceBackend(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace sterna::nets
