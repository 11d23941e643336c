#include "kernels/device/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace sterna::kernels {
namespace {

// Of the driver's interface, whose numbers and functions stay as they are.
constexpr int kSuccess = 0;
constexpr int kNoDevice = 100;
constexpr int kCapabilityMajor = 75;
constexpr int kCapabilityMinor = 76;

/// The driver's library; it stays loaded, as its threads want.
class Library {
 public:
  explicit Library(const std::string& name)
      : handle_(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {}
  bool loaded() const { return handle_ != nullptr; }
  template <class... Arguments>
  int call(const char* name, Arguments... arguments) const {
    constexpr int kNoSuchFunction = -1;
    auto* const function = reinterpret_cast<int (*)(Arguments...)>(dlsym(handle_, name));
    return function == nullptr ? kNoSuchFunction : function(arguments...);
  }

 private:
  void* handle_;
};

/// The first word that is a number with points: "580.65.06".
std::string release_of(const std::string& file) {
  std::ifstream text(file);
  std::string line;
  std::getline(text, line);
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    if (word.find('.') != std::string::npos &&
        word.find_first_not_of("0123456789.") == std::string::npos) {
      return word;
    }
  }
  return "";
}

/// "driver 570.86.15, for CUDA 12.8".
std::string driver_text(const DriverFacts& driver) {
  return fmt::format("driver{}{}, for CUDA {}.{}", driver.release.empty() ? "" : " ",
                     driver.release, driver.cuda / 1000, driver.cuda % 1000 / 10);
}

}  // namespace

Result<DriverFacts> ask_driver(const DriverPlaces& places) {
  const Library library(places.library);
  if (!library.loaded()) {
    return Error{Errc::unavailable,
                 fmt::format("there is no NVIDIA driver here ({} is not found); install release {} "
                             "or newer",
                             places.library, kLeastDriver)};
  }
  DriverFacts driver;
  driver.release = release_of(places.version);
  if (const int failed = library.call("cuDriverGetVersion", &driver.cuda); failed != kSuccess) {
    return Error{Errc::unavailable,
                 fmt::format("{} does not say its version (error {}); reinstall the NVIDIA driver",
                             places.library, failed)};
  }
  if (driver.cuda < kLeastCudaOfDriver) {
    return Error{Errc::unavailable,
                 fmt::format("the NVIDIA {} is too old; install release {} or newer",
                             driver_text(driver), kLeastDriver)};
  }
  const int started = library.call("cuInit", 0U);
  if (started == kNoDevice) return driver;
  if (started != kSuccess) {
    return Error{Errc::unavailable,
                 fmt::format("the NVIDIA {} does not start (error {}); see what nvidia-smi says",
                             driver_text(driver), started)};
  }
  int count = 0;
  if (const int failed = library.call("cuDeviceGetCount", &count); failed != kSuccess) {
    return Error{Errc::unavailable,
                 fmt::format("the NVIDIA {} does not count its devices (error {}); see what "
                             "nvidia-smi says",
                             driver_text(driver), failed)};
  }
  for (int index = 0; index < count; ++index) {
    int device = 0;
    std::array<char, 256> name{};
    DriverDevice found;
    if (library.call("cuDeviceGet", &device, index) != kSuccess ||
        library.call("cuDeviceGetName", name.data(), static_cast<int>(name.size()) - 1, device) !=
            kSuccess ||
        library.call("cuDeviceGetAttribute", &found.major, kCapabilityMajor, device) != kSuccess ||
        library.call("cuDeviceGetAttribute", &found.minor, kCapabilityMinor, device) != kSuccess) {
      return Error{Errc::unavailable,
                   fmt::format("the NVIDIA driver does not describe device {}; see what nvidia-smi "
                               "says",
                               index)};
    }
    found.name = name.data();
    driver.devices.push_back(std::move(found));
  }
  return driver;
}

Result<void> check_device(const DriverFacts& driver, int index) {
  const auto count = static_cast<int>(driver.devices.size());
  if (index < 0 || index >= count) {
    const char* const visible =
        std::getenv("CUDA_VISIBLE_DEVICES");  // NOLINT(concurrency-mt-unsafe)
    return Error{
        Errc::unavailable,
        fmt::format("there is no device {}: the driver shows {}{}", index, count,
                    visible == nullptr ? std::string("; see nvidia-smi -L")
                                       : fmt::format("; CUDA_VISIBLE_DEVICES is \"{}\"", visible))};
  }
  const DriverDevice& device = driver.devices[static_cast<std::size_t>(index)];
  if (device.major >= kLeastCapability) return {};
  return Error{Errc::unavailable,
               fmt::format("device {}, {}, has compute capability {}.{}; choose one with {}.0 or "
                           "newer",
                           index, device.name, device.major, device.minor, kLeastCapability)};
}

}  // namespace sterna::kernels
