// What nets on a device may compute in, and how near to double precision that is.
#pragma once

#include <memory>
#include <utility>

#include "nets/backend/backend.h"

namespace sterna::nets {

struct Precision {
  const char* name;                 ///< of job.precision
  Element element = Element::fp32;  ///< as options say it
  bool tf32 = false;
  /// Of an operation's error, which is |found - expected| / |expected| in the norm.
  double most = 0;
  /// A library's product that has less was not rounded.
  double least = 0;
};

/// fp32 first: what a precision does not round has the same bits in it.
inline constexpr Precision kPrecisions[] = {
    {.name = "fp32", .most = 1e-5},
    {.name = "tf32", .tf32 = true, .most = 1e-3, .least = 1e-5},
    {.name = "bf16", .element = Element::bf16, .most = 1e-2, .least = 1e-4},
};
inline constexpr const Precision& kBf16 = kPrecisions[2];

inline BackendOptions options_of(const Precision& precision,
                                 std::shared_ptr<kernels::Device> device) {
  return {.name = "device",
          .precision = precision.element,
          .device = std::move(device),
          .tf32 = precision.tf32};
}

}  // namespace sterna::nets
