// A parameter's gradient as a net hands it on: where it lies, and when it is there.
#pragma once

#include <span>

namespace sterna::kernels {
class DeviceEvent;
}  // namespace sterna::kernels

namespace sterna::nets {

/// A view.
struct Gradient {
  /// In the memory of the net's backend: of a device's, which the host cannot read.
  std::span<const float> values;
  /// Passed once `values` are complete; null: they are, in the host's memory. Where there is one,
  /// whoever reads `values` does so on a stream that waits for it.
  kernels::DeviceEvent* complete = nullptr;
};

}  // namespace sterna::nets
