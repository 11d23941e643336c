// Eight values at a time.
#include "input/augment/resize_rows.h"
#include "kernels/isa/avx2.h"

namespace sterna::input {

namespace {

STERNA_AVX2 void start_avx2(const TwoRows& rows, std::size_t count, float* out) {
  start_rows(rows, count, out);
}

STERNA_AVX2 void add_avx2(const TwoRows& rows, std::size_t count, float* out) {
  add_rows(rows, count, out);
}

STERNA_AVX2 void round_avx2(const float* values, std::size_t count, std::uint8_t* out) {
  round_values(values, count, out);
}

}  // namespace

extern constexpr RowKernels kRowKernelsAvx2{start_avx2, add_avx2, round_avx2};

}  // namespace sterna::input
