#include "kernels/isa/isa.h"

#include <string>

namespace sterna::kernels {

std::string_view name(Isa isa) {
  switch (isa) {
    case Isa::scalar:
      return "scalar";
    case Isa::avx2:
      return "avx2";
    case Isa::avx512:
      return "avx512";
  }
  return "";
}

Isa best_isa() {
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("popcnt");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("bmi2");
  if (!avx2) return Isa::scalar;
  return avx512 ? Isa::avx512 : Isa::avx2;
}

Result<Isa> parse_isa(std::string_view text) {
  const Isa best = best_isa();
  if (text == "best") return best;
  for (const Isa isa : {Isa::scalar, Isa::avx2, Isa::avx512}) {
    if (text != name(isa)) continue;
    if (isa <= best) return isa;
    return Error{Errc::unavailable, "this CPU has no " +
                                        std::string(isa == Isa::avx2 ? "AVX2" : "AVX-512") +
                                        "; use job.cpu_isa = \"best\""};
  }
  return Error{Errc::invalid_argument, "unknown instruction set \"" + std::string(text) +
                                           "\"; use best, avx512, avx2 or scalar"};
}

}  // namespace sterna::kernels
