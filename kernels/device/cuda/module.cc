// The one symbol of libsterna_cuda.so.
#include <cstring>
#include <new>

#include "kernels/device/cuda/cuda_device.h"
#include "kernels/device/cuda_module.h"

namespace sterna::kernels {
namespace {

class Module : public DeviceModule {
 public:
  Result<std::unique_ptr<Device>> open(int index) noexcept override {
    return open_cuda_device(index);
  }
};

}  // namespace
}  // namespace sterna::kernels

extern "C" __attribute__((visibility("default"))) sterna::kernels::DeviceModule* sterna_cuda_module(
    const char* build_id) noexcept {
  if (build_id == nullptr || std::strcmp(build_id, STERNA_CUDA_BUILD_ID) != 0) return nullptr;
  return new (std::nothrow) sterna::kernels::Module;
}
