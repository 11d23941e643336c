#include "nets/device/device_backend.h"

#include "nets/device/device_memory.h"
#include "nets/device/operations.h"

namespace sterna::nets {

struct DeviceBackend::Parts {
  explicit Parts(const BackendOptions& options) : context(options.device), memory(context) {
    if (options.tf32) context.arithmetic = kernels::Arithmetic::tf32;
    if (options.precision == Element::bf16) context.arithmetic = kernels::Arithmetic::bf16;
  }
  DeviceContext context;
  DeviceMemory memory;
};

Result<std::unique_ptr<Backend>> DeviceBackend::make(const BackendOptions& options) {
  if (options.device == nullptr) {
    return Error{Errc::invalid_argument, "the backend \"device\" needs a device"};
  }
  try {
    return std::unique_ptr<Backend>(new DeviceBackend(std::make_unique<Parts>(options)));
  } catch (const BackendFailure& failure) {
    return failure.error();
  }
}

DeviceBackend::DeviceBackend(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

DeviceBackend::~DeviceBackend() {
  // Nothing may be on its way to memory that is about to go. A device that fails does nothing more.
  static_cast<void>(parts_->context.stream->finish());
}

std::vector<std::string> DeviceBackend::implementations() const { return parts_->context.plans; }

Memory& DeviceBackend::memory() { return parts_->memory; }

std::unique_ptr<Convolution> DeviceBackend::convolution(const ConvolutionSpec& spec) {
  return device_convolution(parts_->context, spec);
}
std::unique_ptr<InnerProduct> DeviceBackend::inner_product(const InnerProductSpec& spec) {
  return device_inner_product(parts_->context, spec);
}
std::unique_ptr<MaxPool> DeviceBackend::max_pool(const MaxPoolSpec& spec) {
  return device_max_pool(parts_->context, spec);
}
std::unique_ptr<Eltwise> DeviceBackend::eltwise(const EltwiseSpec& spec) {
  return device_eltwise(parts_->context, spec);
}
std::unique_ptr<RectifiedSum> DeviceBackend::rectified_sum(const RectifiedSumSpec& spec) {
  return device_rectified_sum(parts_->context, spec);
}
std::unique_ptr<BatchNorm> DeviceBackend::batch_norm(const BatchNormSpec& spec) {
  return device_batch_norm(parts_->context, spec);
}
std::unique_ptr<Lrn> DeviceBackend::lrn(const LrnSpec& spec) {
  return device_lrn(parts_->context, spec);
}
std::unique_ptr<AveragePool> DeviceBackend::average_pool(const AveragePoolSpec& spec) {
  return device_average_pool(parts_->context, spec);
}
std::unique_ptr<Dropout> DeviceBackend::dropout(const DropoutSpec& spec) {
  return device_dropout(parts_->context, spec);
}
std::unique_ptr<Relayout> DeviceBackend::relayout(const RelayoutSpec& spec) {
  return device_relayout(parts_->context, spec);
}
std::unique_ptr<Loss> DeviceBackend::loss(const LossSpec& spec) {
  return device_loss(parts_->context, spec);
}
std::unique_ptr<Decay> DeviceBackend::decay(const DecaySpec& spec) {
  return device_decay(parts_->context, spec);
}
std::unique_ptr<RepeatedPass> DeviceBackend::repeated_pass() {
  return device_repeated_pass(parts_->context);
}
std::unique_ptr<ParameterVersions> DeviceBackend::parameter_versions(
    std::span<const std::size_t> elements) {
  return device_parameter_versions(parts_->context, elements);
}

}  // namespace sterna::nets
