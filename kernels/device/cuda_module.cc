#include "kernels/device/cuda_module.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <system_error>

namespace sterna::kernels {
namespace {

namespace fs = std::filesystem;

/// Loads the module and asks it for what it has. It is never unloaded: CUDA's runtime has handlers
/// that run at the program's end.
Result<std::unique_ptr<DeviceModule>> load(const fs::path& path) {
  std::error_code failed;
  if (!fs::exists(path, failed)) {
    return Error{Errc::unavailable,
                 fmt::format("{} is not there: Sterna was built without CUDA; build it where nvcc "
                             "13.0 or newer is",
                             path.string())};
  }
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    return Error{Errc::unavailable, fmt::format("the module of CUDA does not load: {}", dlerror())};
  }
  const auto make = reinterpret_cast<CudaModuleFunction>(dlsym(library, kCudaModuleFunction));
  DeviceModule* const module = make == nullptr ? nullptr : make(cuda_build_id());
  if (module == nullptr) {
    return Error{
        Errc::unavailable,
        fmt::format("{} is of another build than this program; build both anew", path.string())};
  }
  return std::unique_ptr<DeviceModule>(module);
}

}  // namespace

const char* cuda_build_id() { return STERNA_CUDA_BUILD_ID; }

Result<CudaModule> CudaModule::open(const CudaOptions& options) {
  fs::path folder = options.folder;
  if (folder.empty()) {
    std::error_code failed;
    folder = fs::read_symlink("/proc/self/exe", failed).parent_path();
    if (failed) return system_error("/proc/self/exe", failed.value());
  }
  CudaModule opened;
  STERNA_ASSIGN(opened.module_, load(folder / kCudaModule));
  STERNA_ASSIGN(opened.driver_, ask_driver(options.driver));
  return opened;
}

Result<std::unique_ptr<Device>> CudaModule::device(int index) const {
  STERNA_TRY(check_device(driver_, index));
  return module_->open(index);
}

}  // namespace sterna::kernels
