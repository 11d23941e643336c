// DeviceResiduals: what lossy codecs have left of one rank's gradients, where a device adds it to
// the next ones.
//
// Those of the device are the newest. Where they are to outlive the worker (residuals.h) each
// step's come down behind its packets, on a stream of their own into pinned memory: nothing that
// the device computes waits for them, and the host writes them where they outlive it, and stamps
// them, while it would sleep. Elsewhere they come down when somebody asks.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "actors/encode/residuals.h"
#include "kernels/device/device_array.h"

namespace sterna::actors {

/// Used by one thread at a time. Memory of a tensor is made when it is expected, or first needed.
/// All errors are the device's.
class DeviceResiduals {
 public:
  /// Those of `host`, which outlives it, of `tensors` tensors.
  static Result<std::unique_ptr<DeviceResiduals>> make(std::shared_ptr<kernels::Device> device,
                                                       Residuals& host, std::size_t tensors);
  ~DeviceResiduals();
  DeviceResiduals(const DeviceResiduals&) = delete;
  DeviceResiduals& operator=(const DeviceResiduals&) = delete;

  /// Makes what a tensor's take, which the host has.
  Result<void> expect(std::uint32_t tensor);
  /// Where a tensor's lie. Those of the step before that are not there come from the host, on
  /// `stream`.
  Result<std::span<float>> bring(std::uint32_t tensor, kernels::DeviceStream& stream);
  /// Where a tensor's lie, which was brought.
  std::span<float> there(std::uint32_t tensor) const;
  /// What this step leaves of the tensor is there once `left` has passed. Where they outlive the
  /// worker they come down, and are to be landed before the step ends.
  Result<void> leave(std::uint32_t tensor, kernels::DeviceEvent& left);

  /// Lands the oldest that is on its way, if it is here; whether it was.
  Result<bool> land_one();
  /// Waits for all that are on their way, and lands them.
  Result<void> land_all();
  /// The same of one, where it is on its way, and of those before it.
  Result<void> land(std::uint32_t tensor);

  /// Between steps: the host's are the newest, too.
  Result<void> fetch(std::uint32_t tensor);
  /// The same of all.
  Result<void> fetch_all();
  /// Between steps: of this tensor the host's alone are the newest. It was fetched.
  void renew(std::uint32_t tensor) { tensors_[tensor].is_there = false; }
  /// The same of all, whether they were fetched or not.
  void renew_all();

 private:
  struct Tensor {
    kernels::DeviceArray<float> values;
    kernels::PinnedArray<float> here;
    std::unique_ptr<kernels::DeviceEvent> arrived;
    bool is_there = false;
  };
  DeviceResiduals(std::shared_ptr<kernels::Device> device, Residuals& host, std::size_t tensors)
      : device_(std::move(device)), host_(host), tensors_(tensors) {}
  Result<void> land_front();

  std::shared_ptr<kernels::Device> device_;
  Residuals& host_;
  std::unique_ptr<kernels::DeviceStream> down_;
  std::vector<Tensor> tensors_;
  std::deque<std::uint32_t> on_their_way_;
};

}  // namespace sterna::actors
