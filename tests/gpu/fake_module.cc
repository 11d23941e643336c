// A libsterna_cuda.so of another build (STERNA_REFUSES), or one whose devices open with an error.
#include <memory>

#include "kernels/device/device.h"

namespace sterna::kernels {
namespace {

class FakeModule : public DeviceModule {
 public:
  Result<std::unique_ptr<Device>> open(int index) noexcept override {
    return Error{Errc::unavailable, "the fake module's device " + std::to_string(index)};
  }
};

}  // namespace
}  // namespace sterna::kernels

extern "C" sterna::kernels::DeviceModule* sterna_cuda_module(const char*) noexcept {
#ifdef STERNA_REFUSES
  return nullptr;
#else
  return new sterna::kernels::FakeModule;
#endif
}
