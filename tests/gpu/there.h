// A device, a stream of its own, and what was brought there: what the cases of layers share.
#pragma once

#include <memory>
#include <vector>

#include "kernels/device/device_array.h"
#include "runtime/base/result.h"

namespace sterna::kernels {

using Floats = std::vector<float>;

class There {
 public:
  static Result<There> make(Device& device) {
    There there(device);
    STERNA_ASSIGN(there.stream_, device.make_stream());
    return there;
  }
  template <class T>
  Result<DeviceArray<T>> bring(const std::vector<T>& values) {
    return uploaded<T>(device_, *stream_, values);
  }
  template <class T>
  Result<std::vector<T>> fetch(const DeviceArray<T>& from) {
    std::vector<T> values(from.size());
    STERNA_TRY(from.download(*stream_, values));
    STERNA_TRY(stream_->finish());
    return values;
  }
  Result<void> run(const LayerLaunch& launch) { return stream_->layer(launch); }

 private:
  explicit There(Device& device) : device_(device) {}
  Device& device_;
  std::unique_ptr<DeviceStream> stream_;
};

}  // namespace sterna::kernels
