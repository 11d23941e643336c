#include "launcher/bench/memory_speed.h"

#include <bit>
#include <cstring>

#include "kernels/isa/avx2.h"
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

STERNA_AVX2 std::uint32_t read_avx2(const float* x, std::size_t count) {
  __m256i a = _mm256_setzero_si256();
  __m256i b = _mm256_setzero_si256();
  const auto* from = reinterpret_cast<const __m256i*>(x);
  for (std::size_t i = 0; i < count / 8; i += 4) {
    a = _mm256_xor_si256(a, _mm256_loadu_si256(from + i));
    b = _mm256_xor_si256(b, _mm256_loadu_si256(from + i + 1));
    a = _mm256_xor_si256(a, _mm256_loadu_si256(from + i + 2));
    b = _mm256_xor_si256(b, _mm256_loadu_si256(from + i + 3));
  }
  alignas(32) std::uint32_t lanes[8];
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), _mm256_xor_si256(a, b));
  std::uint32_t mixed = 0;
  for (const std::uint32_t lane : lanes) mixed ^= lane;
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
  const std::size_t whole = values.size() / 64 * 64;
  return kernels::twin(isa, read_plain, read_avx2, read_avx512)(values.data(), whole) ^
         read_plain(values.data() + whole, values.size() - whole);
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
