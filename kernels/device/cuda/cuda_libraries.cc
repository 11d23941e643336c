#include "kernels/device/cuda/cuda_libraries.h"

#include <utility>

#include "kernels/device/cuda/cublas_lt.h"
#include "kernels/device/cuda/cudnn.h"

namespace sterna::kernels {
namespace {

/// Opened when it is first asked, and then for good: whether it worked, too.
template <class Library>
class Opening {
 public:
  Result<Library*> get(int device) {
    if (!opened_)
      opened_ = std::make_unique<Result<std::unique_ptr<Library>>>(Library::open(device));
    if (!*opened_) return opened_->error();
    return (*opened_)->get();
  }

 private:
  std::unique_ptr<Result<std::unique_ptr<Library>>> opened_;
};

class Both final : public CudaLibraries {
 public:
  explicit Both(int device) : device_(device) {}
  Result<std::unique_ptr<DeviceOperation>> product(const ProductShape& shape) override {
    STERNA_ASSIGN(CublasLt* const library, products_.get(device_));
    return library->plan(shape);
  }
  Result<std::unique_ptr<DeviceOperation>> convolution(const ConvolutionShape& shape) override {
    STERNA_ASSIGN(Cudnn* const library, convolutions_.get(device_));
    return library->plan(shape);
  }

 private:
  int device_;
  Opening<CublasLt> products_;
  Opening<Cudnn> convolutions_;
};

}  // namespace

std::unique_ptr<CudaLibraries> make_cuda_libraries(int device) {
  return std::make_unique<Both>(device);
}

}  // namespace sterna::kernels
