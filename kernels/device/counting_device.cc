#include "kernels/device/counting_device.h"

#include <algorithm>
#include <cstdlib>

#include "kernels/device/device_exchange.h"

namespace sterna::kernels {
namespace {

constexpr std::size_t kAlignment = 256;

std::size_t rounded_up(std::size_t bytes) {
  return (std::max<std::size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
}

class PassedEvent final : public DeviceEvent {
 public:
  Result<bool> passed() noexcept override { return true; }
  Result<void> wait() noexcept override { return {}; }
};

class IdleStream final : public DeviceStream {
 public:
  /// `counted`: of the other device.
  IdleStream(CountingDevice& device, std::unique_ptr<DeviceStream> counted)
      : device_(device), counted_(std::move(counted)) {}

  Result<void> copy(void*, const void*, std::size_t) noexcept override { return {}; }
  Result<void> record(DeviceEvent&) noexcept override { return {}; }
  Result<void> wait_for(DeviceEvent&) noexcept override { return {}; }
  Result<void> finish() noexcept override { return {}; }
  Result<void> encode(EncodePass, const EncodeLaunch&) noexcept override { return {}; }
  Result<void> encode_bf16(const EncodeLaunch&) noexcept override { return {}; }
  Result<void> sum_trits(const SumLaunch&) noexcept override { return {}; }
  Result<void> update(const UpdateLaunch&) noexcept override { return {}; }
  Result<void> layer(const LayerLaunch&) noexcept override { return {}; }
  Result<void> begin_recording() noexcept override { return nothing_recorded(); }
  Result<std::unique_ptr<DeviceRecording>> end_recording() noexcept override {
    return nothing_recorded();
  }
  Result<void> repeat(DeviceRecording&) noexcept override { return {}; }
  Result<std::unique_ptr<DeviceOperation>> product(const ProductShape& shape) noexcept override {
    return planned(counted_->product(shape));
  }
  Result<std::unique_ptr<DeviceOperation>> convolution(
      const ConvolutionShape& shape) noexcept override {
    return planned(
        device_.plans().plan(shape, [this, &shape] { return counted_->convolution(shape); }));
  }
  Result<void> run(DeviceOperation&, const OperationTensors&) noexcept override { return {}; }

 private:
  /// With the library's own beside it.
  Result<std::unique_ptr<DeviceOperation>> planned(
      Result<std::unique_ptr<DeviceOperation>> plan) const {
    STERNA_TRY(device_.free_beside_libraries());
    return plan;
  }
  static Error nothing_recorded() {
    return {Errc::unavailable, "nothing is done on a device that only counts"};
  }

  CountingDevice& device_;
  std::unique_ptr<DeviceStream> counted_;
};

}  // namespace

/// A plan that was made before.
class KnownPlans::Said final : public DeviceOperation {
 public:
  explicit Said(const Known& of)
      : workspace_(of.workspace), name_(of.name), makes_bf16s_(of.makes_bf16s) {}
  std::size_t workspace() const noexcept override { return workspace_; }
  std::string name() const noexcept override { return name_; }
  bool makes_bf16s() const noexcept override { return makes_bf16s_; }

 private:
  std::size_t workspace_;
  std::string name_;
  bool makes_bf16s_;
};

Result<std::unique_ptr<DeviceOperation>> KnownPlans::plan(const ConvolutionShape& shape,
                                                          const Ask& ask) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(known_, shape, &Known::shape);
  if (found != known_.end()) {
    if (found->none) return std::unique_ptr<DeviceOperation>();
    return std::unique_ptr<DeviceOperation>(std::make_unique<Said>(*found));
  }
  STERNA_ASSIGN(std::unique_ptr<DeviceOperation> made, ask());
  Known& known = known_.emplace_back(Known{.shape = shape, .none = made == nullptr, .name = {}});
  if (made == nullptr) return made;
  known.workspace = made->workspace();
  known.name = made->name();
  known.makes_bf16s = made->makes_bf16s();
  return made;
}

std::size_t KnownPlans::least_free(std::size_t free) {
  const std::lock_guard lock(mutex_);
  return least_free_ = std::min(least_free_, free);
}

std::size_t CountingDevice::most() const {
  const std::lock_guard lock(mutex_);
  return most_;
}

Result<std::size_t> CountingDevice::free_beside_libraries() {
  STERNA_ASSIGN(const std::size_t free, counted_->free_memory());
  return plans_->least_free(free);
}

Result<void*> CountingDevice::allocate(std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  void* const memory = reinterpret_cast<void*>(next_);  // NOLINT(performance-no-int-to-ptr)
  next_ += rounded_up(bytes);
  const std::size_t takes = counted_->taken_by(bytes);
  pieces_[memory] = takes;
  used_ += takes;
  most_ = std::max(most_, used_);
  ++given_.device;
  return memory;
}

void CountingDevice::release(void* memory) noexcept {
  const std::lock_guard lock(mutex_);
  const auto piece = pieces_.find(memory);
  if (piece == pieces_.end()) return;
  used_ -= piece->second;
  pieces_.erase(piece);
}

DeviceAllocations CountingDevice::allocations() const noexcept {
  const std::lock_guard lock(mutex_);
  return given_;
}

Result<void*> CountingDevice::allocate_on_host(std::size_t bytes) noexcept {
  void* const memory = std::aligned_alloc(kAlignment, rounded_up(bytes));
  if (memory == nullptr) return Error{Errc::unavailable, "no memory is free"};
  const std::lock_guard lock(mutex_);
  ++given_.host;
  return memory;
}

void CountingDevice::release_on_host(void* memory) noexcept { std::free(memory); }

Result<std::unique_ptr<DeviceStream>> CountingDevice::make_stream() noexcept {
  STERNA_ASSIGN(auto counted, counted_->make_stream());
  return std::unique_ptr<DeviceStream>(std::make_unique<IdleStream>(*this, std::move(counted)));
}

Result<std::unique_ptr<DeviceEvent>> CountingDevice::make_event(EventUse /*use*/) noexcept {
  return std::unique_ptr<DeviceEvent>(std::make_unique<PassedEvent>());
}

Result<std::unique_ptr<DeviceExchange>> CountingDevice::exchange(
    const std::vector<std::shared_ptr<Device>>& /*all*/) noexcept {
  return std::unique_ptr<DeviceExchange>();
}

}  // namespace sterna::kernels
