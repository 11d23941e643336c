#include "launcher/bench/memory_speed.h"

#include <bit>
#include <cstring>

#include "kernels/isa/avx512.h"
#include "launcher/bench/huge_buffer.h"
#include "launcher/bench/rounds.h"

namespace sterna::launcher {

namespace {

std::uint32_t read_plain(const float* x, std::size_t count) {
  std::uint32_t mixed = 0;
  for (std::size_t i = 0; i < count; ++i) mixed ^= std::bit_cast<std::uint32_t>(x[i]);
  return mixed;
}

STERNA_AVX512 std::uint32_t read_avx512(const float* x, std::size_t count) {
  __m512i a = _mm512_setzero_si512();
  __m512i b = _mm512_setzero_si512();
  for (std::size_t i = 0; i < count; i += 64) {
    a = _mm512_xor_si512(a, _mm512_loadu_si512(x + i));
    b = _mm512_xor_si512(b, _mm512_loadu_si512(x + i + 16));
    a = _mm512_xor_si512(a, _mm512_loadu_si512(x + i + 32));
    b = _mm512_xor_si512(b, _mm512_loadu_si512(x + i + 48));
  }
  return static_cast<std::uint32_t>(_mm512_reduce_add_epi32(_mm512_xor_si512(a, b)));
}

}  // namespace

std::uint32_t read_all(std::span<const float> values, kernels::Isa isa) {
  const std::size_t whole = isa == kernels::Isa::avx512 ? values.size() / 64 * 64 : 0;
  std::uint32_t mixed = whole > 0 ? read_avx512(values.data(), whole) : 0;
  return mixed ^ read_plain(values.data() + whole, values.size() - whole);
}

Result<Figures> measure_memory(std::size_t floats, kernels::Isa isa, int rounds) {
  STERNA_ASSIGN(const HugeBuffer from, HugeBuffer::allocate(floats * sizeof(float)));
  STERNA_ASSIGN(const HugeBuffer to, HugeBuffer::allocate(floats * sizeof(float)));
  const auto bytes = static_cast<double>(from.bytes().size());
  const RoundTimes times = RoundTimes::measure(
      {{"read", [&] { keep(read_all(from.floats(), isa)); }},
       {"memcpy", [&] { std::memcpy(to.bytes().data(), from.bytes().data(), to.bytes().size()); }}},
      rounds);
  return Figures{{"read_gbps", bytes / times.seconds("read") / 1e9},
                 {"memcpy_gbps", bytes / times.seconds("memcpy") / 1e9}};
}

}  // namespace sterna::launcher
