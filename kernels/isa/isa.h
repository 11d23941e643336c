// Which instruction set the kernels use: picked at run time, capped by the caller (`cpu_isa`).
#pragma once

#include <string_view>

#include "runtime/base/result.h"

namespace sterna::kernels {

/// In the order of speed: a CPU that has one has all those before it.
enum class Isa { scalar, avx2, avx512 };

std::string_view name(Isa isa);
/// "scalar", "avx2", "avx512", or "best" (= best_isa()). Asking for more than this CPU has is an
/// error.
Result<Isa> parse_isa(std::string_view text);
/// The fastest instruction set that this CPU has and that the kernels know.
Isa best_isa();

/// Of a kernel's versions that one for `isa`.
template <class F>
constexpr F* twin(Isa isa, F* scalar, F* avx2, F* avx512) {
  switch (isa) {
    case Isa::scalar:
      break;
    case Isa::avx2:
      return avx2;
    case Isa::avx512:
      return avx512;
  }
  return scalar;
}

}  // namespace sterna::kernels
