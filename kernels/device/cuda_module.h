// Opens libsterna_cuda.so, which has all that needs CUDA: a program that never does needs nothing
// of NVIDIA's to start.
#pragma once

#include <filesystem>
#include <memory>

#include "kernels/device/device.h"
#include "kernels/device/driver.h"

namespace sterna::kernels {

inline constexpr const char* kCudaModule = "libsterna_cuda.so";
/// The one name that it exports: a CudaModuleFunction.
inline constexpr const char* kCudaModuleFunction = "sterna_cuda_module";
/// Returns what the caller deletes; null for another build id than the module's own.
using CudaModuleFunction = DeviceModule* (*)(const char* build_id) noexcept;

/// What program and module are of one build by: the hash of all sources that both are made of.
const char* cuda_build_id();

struct CudaOptions {
  std::filesystem::path folder;  ///< of the module; empty: the program's own
  DriverPlaces driver = {};
};

class CudaModule {
 public:
  /// Errors, each with what to do: no module, one of another build, no driver, an old driver.
  static Result<CudaModule> open(const CudaOptions& options = {});

  /// The devices that the driver showed when the module was opened.
  const DriverFacts& driver() const { return driver_; }
  /// Errors: no such device, or one that is too old; what CUDA says.
  Result<std::unique_ptr<Device>> device(int index) const;

 private:
  CudaModule() = default;

  DriverFacts driver_;
  std::unique_ptr<DeviceModule> module_;
};

}  // namespace sterna::kernels
