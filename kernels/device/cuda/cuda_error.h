// CUDA's error codes as Results. Of the module alone.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <string_view>

#include "runtime/base/result.h"

namespace sterna::kernels {

/// "what: CUDA's own word for it" where `code` is no success.
inline Result<void> checked(int code, std::string_view what) {
  if (code == cudaSuccess) return {};
  const auto error = static_cast<cudaError_t>(code);
  return Error{Errc::unavailable, std::string(what) + ": " + cudaGetErrorString(error) + " (" +
                                      cudaGetErrorName(error) + ")"};
}

}  // namespace sterna::kernels
