// 32 elements at a time, of which each plane has one word: their four sums stay in registers while
// one rank after the other is added. A tile is as short as that of tile_avx512.cc, for its reason.
#include "kernels/sums/tile.h"
#include "kernels/sums/words_avx2.h"

namespace sterna::kernels {
namespace {

constexpr std::size_t kPlane = kPlaneBlockBytes / 2;

const std::byte* bytes_of(const Packet& packet) { return packet.payload.data(); }

STERNA_AVX2_INLINE __m256 sign_bits() { return _mm256_set1_ps(-0.0F); }

// Where a bit is not set the trit is +0, which leaves the sum's bits alone: the sum started at +0,
// so it is never -0.
STERNA_AVX2_INLINE void add_trits(__m256* sums, float scaler, const std::byte* nonzero) {
  const __m256i set = word_of(nonzero);
  const __m256i negative = word_of(nonzero + kPlane);
  const __m256 magnitude = _mm256_set1_ps(scaler);
  for (std::size_t v = 0; v < kWordVectors; ++v) {
    const __m256 sign = _mm256_and_ps(_mm256_castsi256_ps(bits_on_top(negative, v)), sign_bits());
    const __m256 is_set = _mm256_castsi256_ps(lanes_set(set, v));
    const __m256 trit = _mm256_and_ps(_mm256_xor_ps(magnitude, sign), is_set);
    sums[v] = _mm256_add_ps(sums[v], trit);
  }
}

STERNA_AVX2_INLINE void add_fp32(__m256* sums, const std::byte* values) {
  for (std::size_t v = 0; v < kWordVectors; ++v) {
    const auto* from = reinterpret_cast<const float*>(values + v * kWordLanes * sizeof(float));
    sums[v] = _mm256_add_ps(sums[v], _mm256_loadu_ps(from));
  }
}

STERNA_AVX2_INLINE void add_bf16(__m256* sums, const std::byte* values) {
  for (std::size_t v = 0; v < kWordVectors; ++v) {
    const auto* from = reinterpret_cast<const __m128i*>(values + v * kWordLanes * 2);
    const __m256i upper = _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(from)), 16);
    sums[v] = _mm256_add_ps(sums[v], _mm256_castsi256_ps(upper));
  }
}

/// The packet's elements [at, at + live), followed by zeros up to kWordElements. (The planes of a
/// short block are all there.)
STERNA_AVX2_INLINE void add_packet(__m256* sums, const Packet& packet, std::size_t at,
                                   std::size_t live) {
  const std::byte* payload = bytes_of(packet);
  if (packet.packing == Packing::planes) {
    const std::size_t block = at / kPlaneBlock * kPlaneBlockBytes;
    return add_trits(sums, packet.scaler, payload + block + at % kPlaneBlock / 8);
  }
  const std::size_t width = packet.packing == Packing::fp32 ? sizeof(float) : 2;
  const std::byte* values = payload + at * width;
  std::byte padded[kWordElements * sizeof(float)];
  if (live < kWordElements) {
    __builtin_memset(padded, 0, sizeof padded);
    __builtin_memcpy(padded, values, live * width);
    values = padded;
  }
  if (packet.packing == Packing::fp32) return add_fp32(sums, values);
  add_bf16(sums, values);
}

STERNA_AVX2 void average(const Packet* packets, std::size_t ranks, std::size_t begin,
                         std::size_t count, float* out) {
  // The inverse of a power of two is exact, so the product is the quotient, bit by bit, and faster.
  const bool exact = (ranks & (ranks - 1)) == 0;
  const auto k = static_cast<float>(ranks);
  const __m256 by = _mm256_set1_ps(exact ? 1.0F / k : k);
  for (std::size_t i = 0; i < count; i += kWordElements) {
    const std::size_t live = count - i < kWordElements ? count - i : kWordElements;
    __m256 sums[kWordVectors] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(),
                                 _mm256_setzero_ps()};
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      add_packet(sums, packets[rank], begin + i, live);
    }
    for (__m256& sum : sums) sum = exact ? _mm256_mul_ps(sum, by) : _mm256_div_ps(sum, by);
    if (live == kWordElements) {
      for (std::size_t v = 0; v < kWordVectors; ++v) {
        _mm256_storeu_ps(out + i + v * kWordLanes, sums[v]);
      }
    } else {
      __builtin_memcpy(out + i, sums, live * sizeof(float));
    }
  }
}

STERNA_AVX2 void add_decay(float decay, const float* w, std::size_t count, float* g) {
  const __m256 d = _mm256_set1_ps(decay);
  std::size_t i = 0;
  for (; i + kWordLanes <= count; i += kWordLanes) {
    const __m256 decayed = _mm256_mul_ps(d, _mm256_loadu_ps(w + i));
    _mm256_storeu_ps(g + i, _mm256_add_ps(_mm256_loadu_ps(g + i), decayed));
  }
  for (; i < count; ++i) g[i] += decay * w[i];
}

}  // namespace

TileKernels avx2_tiles() { return {64, average, add_decay}; }

}  // namespace sterna::kernels
