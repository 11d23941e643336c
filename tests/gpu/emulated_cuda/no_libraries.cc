// The emulated device has none of NVIDIA's libraries: plain launches compute in their stead.
#include "kernels/device/cuda/cuda_libraries.h"

namespace sterna::kernels {
namespace {

class NoLibraries final : public CudaLibraries {
 public:
  Result<std::unique_ptr<DeviceOperation>> product(const ProductShape& /*shape*/) override {
    return std::unique_ptr<DeviceOperation>();
  }
  Result<std::unique_ptr<DeviceOperation>> convolution(const ConvolutionShape& /*shape*/) override {
    return std::unique_ptr<DeviceOperation>();
  }
};

}  // namespace

std::unique_ptr<CudaLibraries> make_cuda_libraries(int /*device*/) {
  return std::make_unique<NoLibraries>();
}

}  // namespace sterna::kernels
