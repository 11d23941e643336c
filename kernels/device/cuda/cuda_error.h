// CUDA's error codes as Results. Of the module alone.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <string_view>

#include "runtime/base/result.h"

namespace sterna::kernels {

/// What to do about an error; empty: nothing that is known.
inline const char* advice(cudaError_t error) {
  switch (error) {
    // After these no call of the process's succeeds any more; the driver says more than CUDA.
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorMisalignedAddress:
    case cudaErrorIllegalInstruction:
    case cudaErrorHardwareStackError:
    case cudaErrorECCUncorrectable:
    case cudaErrorUnknown:
      return "; see the kernel's log (dmesg) for NVRM: Xid";
    case cudaErrorDevicesUnavailable:
      return "; another process may have it for itself: see nvidia-smi";
    default:
      return "";
  }
}

/// "device 0: what: CUDA's own words for it" where `code` is no success, and what to do. Errors:
/// overloaded, where memory is lacking, the device's or the host's; else unavailable.
inline Result<void> checked(int code, std::string_view what, int device) {
  if (code == cudaSuccess) return {};
  const auto error = static_cast<cudaError_t>(code);
  const bool full = error == cudaErrorMemoryAllocation;
  if (full) cudaGetLastError();  // no sticky one: what is tried next is not to report it
  return Error{full ? Errc::overloaded : Errc::unavailable,
               "device " + std::to_string(device) + ": " + std::string(what) + ": " +
                   cudaGetErrorString(error) + " (" + cudaGetErrorName(error) + ")" +
                   advice(error)};
}

}  // namespace sterna::kernels
