// What NVIDIA's driver says of itself and its devices. It is asked through its own C functions,
// which no version of it has changed, so that a machine without it, or with an old one, gets a line
// that says so.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/result.h"

namespace sterna::kernels {

/// The oldest driver whose functions the module needs: CUDA 13.0's.
inline constexpr int kLeastDriver = 580;
inline constexpr int kLeastCudaOfDriver = 13000;
/// The oldest compute capability that the module has code for.
inline constexpr int kLeastCapability = 8;

struct DriverPlaces {
  std::string library = "libcuda.so.1";                 ///< as the loader searches for it
  std::string version = "/proc/driver/nvidia/version";  ///< the kernel's word for its release
};

struct DriverDevice {
  std::string name;
  int major = 0;  ///< of its compute capability
  int minor = 0;
};

struct DriverFacts {
  int cuda = 0;                       ///< the newest CUDA it knows: 13000 is 13.0
  std::string release;                ///< "580.65.06"; empty where nobody says
  std::vector<DriverDevice> devices;  ///< those that CUDA_VISIBLE_DEVICES shows
};

/// Errors: unavailable where there is no driver, where it is too old, and where it does not start.
Result<DriverFacts> ask_driver(const DriverPlaces& places = {});

/// Whether device `index` is there and can run the module. Errors: unavailable, with what is there.
Result<void> check_device(const DriverFacts& driver, int index);

}  // namespace sterna::kernels
