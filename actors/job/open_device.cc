#include "actors/job/open_device.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>
#include <utility>

namespace sterna::actors {
namespace {

using Devices = std::vector<std::shared_ptr<kernels::Device>>;

/// A device, and the module that must outlive it.
struct Opened {
  std::shared_ptr<kernels::CudaModule> module;
  std::unique_ptr<kernels::Device> device;
};

Result<Devices> open_cuda(const std::vector<std::uint32_t>& which,
                          const kernels::CudaOptions& options) {
  STERNA_ASSIGN(kernels::CudaModule opened_module, kernels::CudaModule::open(options));
  const auto module = std::make_shared<kernels::CudaModule>(std::move(opened_module));
  Devices devices;
  for (std::size_t i = 0; i < which.size(); ++i) {
    const auto before =
        static_cast<std::size_t>(std::ranges::find(which, which[i]) - which.begin());
    if (before < i) {
      devices.push_back(devices[before]);
      continue;
    }
    STERNA_ASSIGN(std::unique_ptr<kernels::Device> device,
                  module->device(static_cast<int>(which[i])));
    const auto opened = std::make_shared<Opened>(Opened{module, std::move(device)});
    devices.emplace_back(opened, opened->device.get());
  }
  return devices;
}

}  // namespace

Result<Devices> open_devices(const std::string& backend, std::vector<std::uint32_t> which,
                             const kernels::CudaOptions& options) {
  if (backend == "cpu") return Devices();
  if (backend != "cuda") {
    return Error{Errc::invalid_argument, "nothing computes \"" + backend + "\""};
  }
  if (which.empty()) which = {0};
  return open_cuda(which, options).in("actor.backend = \"" + backend + "\"");
}

Result<std::shared_ptr<kernels::Device>> open_device(std::string_view name,
                                                     const kernels::CudaOptions& options) {
  if (name == "cpu") return std::shared_ptr<kernels::Device>();
  constexpr std::string_view kCuda = "cuda";
  std::uint32_t number = 0;
  bool known = name.starts_with(kCuda);
  if (known && name != kCuda) {
    const std::string_view after = name.substr(kCuda.size());
    const char* const end = after.data() + after.size();
    const auto [read, error] = std::from_chars(after.data() + 1, end, number);
    known = after.front() == ':' && error == std::errc() && read == end;
  }
  // CUDA counts its devices in ints.
  if (!known || number > static_cast<std::uint32_t>(std::numeric_limits<int>::max())) {
    return Error{Errc::invalid_argument, "\"" + std::string(name) +
                                             "\" is no device; say cpu, cuda, or cuda:N for "
                                             "device N of those that the driver shows"};
  }
  STERNA_ASSIGN(const Devices opened, open_cuda({number}, options));
  return opened.front();
}

Result<void> fail_soon(const std::string& backend, const std::shared_ptr<kernels::Device>& device) {
  if (device == nullptr && backend == "cpu") {
    return Error{Errc::invalid_argument, "it computes on the CPU, and a device_fault is a GPU's"};
  }
  if (device == nullptr) return Error{Errc::unavailable, "it has not opened its device yet"};
  device->fail_soon();
  return {};
}

}  // namespace sterna::actors
