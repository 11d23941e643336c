#include "kernels/isa.h"

#include <string>

namespace sterna::kernels {

std::string_view name(Isa isa) { return isa == Isa::avx512 ? "avx512" : "scalar"; }

Isa best_isa() {
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
  return avx512 ? Isa::avx512 : Isa::scalar;
}

Result<Isa> parse_isa(std::string_view text) {
  if (text == "best") return best_isa();
  if (text == "scalar") return Isa::scalar;
  if (text == "avx512") {
    if (best_isa() != Isa::avx512) {
      return Error{Errc::unavailable, "this CPU has no AVX-512; use cpu_isa = \"best\""};
    }
    return Isa::avx512;
  }
  return Error{Errc::invalid_argument,
               "unknown instruction set \"" + std::string(text) + "\"; use best, avx512 or scalar"};
}

}  // namespace sterna::kernels
