// How new values come into a net's parameters while its passes still run.
//
// On a device a pass is put on its way long before it is done: whoever writes the next version of a
// parameter waits there, not here, for the last that reads the one before.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "nets/tensor/tensor.h"
#include "runtime/base/result.h"

namespace sterna::kernels {
class DeviceEvent;
class DeviceStream;
}  // namespace sterna::kernels

namespace sterna::nets {

/// Parameters are named by their index. write() may be called by another thread than the one that
/// computes, for parameters that it has released. Failures are thrown.
class ParameterVersions {
 public:
  virtual ~ParameterVersions() = default;
  /// From the host, from element `first` on. `values` need not stay.
  virtual void write(std::size_t index, Tensor& to, std::size_t first,
                     std::span<const float> values) = 0;
  /// On a device alone: puts `work` on the stream that writes, where `values` lie there.
  using Work = std::function<Result<void>(kernels::DeviceStream& stream, float* values)>;
  virtual void write_by(std::size_t index, Tensor& to, const Work& work) = 0;
  /// To the host, which waits; not while another writes.
  virtual void read(std::size_t index, const Tensor& from, std::size_t first,
                    std::span<float> out) = 0;
  /// What is put on its way from here on reads what was written.
  virtual void changed(std::size_t index) = 0;
  /// All that reads those in [first, end) is on its way.
  virtual void released(std::size_t first, std::size_t end) = 0;
  /// Gradients are on their way, that of parameter `index` among them: when they are there. Null:
  /// they are. The event, which is the parameter's, is recorded anew in the next pass.
  virtual kernels::DeviceEvent* completed(std::size_t index) = 0;
};

}  // namespace sterna::nets
