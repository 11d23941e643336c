// Versions of the same selections, so with the same bits: a plain one, and ones in AVX2 with 8 (of
// fp32: without AVX-512 there is no bf16) and in AVX-512 with 16 channels at a time. (Left to
// itself the compiler makes vectors of 64 channels, as wide as the bytes of `winner`, and LeNet's
// 20 and 50 fall into the scalar remainder and its branches.) LeNet's two poolings forward and
// backward, batch 64, one core: oneDNN 4.2 ms, AVX-512 0.6 ms.
#include "nets/cpu/halving_pool.h"

#include "kernels/sums/bf16.h"
#include "nets/cpu/channels_avx2.h"
#include "nets/cpu/max_of.h"
#include "nets/cpu/stored_avx512.h"

namespace sterna::nets {
namespace {

/// Where the two pixel pairs of the window at (row, column) start in x.
struct Corners {
  Corners(const HalvingPool& pool, std::size_t row, std::size_t column)
      : top((2 * row * 2 * pool.columns + 2 * column) * pool.channels),
        bottom(top + 2 * pool.columns * pool.channels) {}
  std::size_t top, bottom;
};

float value(float stored) { return stored; }
float value(std::uint16_t stored) { return kernels::from_bf16(stored); }

template <class Stored>
void forward_plain(const HalvingPool& pool, const Stored* x, Stored* y, std::uint8_t* winner) {
  const std::size_t channels = pool.channels;
  for (std::size_t row = 0; row < pool.rows; ++row) {
    for (std::size_t column = 0; column < pool.columns; ++column) {
      const Corners at(pool, row, column);
      const Stored* top = x + at.top;
      const Stored* bottom = x + at.bottom;
      for (std::size_t k = 0; k < channels; ++k) {
        const Stored a = top[k], b = top[channels + k], c = bottom[k], d = bottom[channels + k];
        const bool b_wins = wins(value(b), value(a)), d_wins = wins(value(d), value(c));
        const Stored upper = b_wins ? b : a;
        const Stored lower = d_wins ? d : c;
        const bool lower_wins = wins(value(lower), value(upper));
        y[k] = lower_wins ? lower : upper;
        const int upper_index = b_wins ? 1 : 0;
        const int lower_index = d_wins ? 3 : 2;
        winner[k] = static_cast<std::uint8_t>(lower_wins ? lower_index : upper_index);
      }
      y += channels;
      winner += channels;
    }
  }
}

template <class Stored>
void backward_plain(const HalvingPool& pool, const Stored* dy, const std::uint8_t* winner,
                    Stored* dx) {
  const std::size_t channels = pool.channels;
  for (std::size_t row = 0; row < pool.rows; ++row) {
    for (std::size_t column = 0; column < pool.columns; ++column) {
      const Corners at(pool, row, column);
      Stored* const pixels[] = {dx + at.top, dx + at.top + channels, dx + at.bottom,
                                dx + at.bottom + channels};
      for (std::uint8_t pixel = 0; pixel < 4; ++pixel)
        for (std::size_t k = 0; k < channels; ++k)
          pixels[pixel][k] = winner[k] == pixel ? dy[k] : Stored{};
      dy += channels;
      winner += channels;
    }
  }
}

STERNA_AVX2_INLINE __m256 chosen(__m256 otherwise, __m256 wins, __m256 one) {
  return _mm256_blendv_ps(otherwise, one, wins);
}

STERNA_AVX2_INLINE __m256i index_of(__m256 wins, int otherwise, int one) {
  return _mm256_blendv_epi8(_mm256_set1_epi32(otherwise), _mm256_set1_epi32(one),
                            _mm256_castps_si256(wins));
}

STERNA_AVX2 void forward_avx2(const HalvingPool& pool, const float* x, float* y,
                              std::uint8_t* winner) {
  const std::size_t channels = pool.channels;
  if (channels < kAvx2Lanes) return forward_plain(pool, x, y, winner);
  for (std::size_t row = 0; row < pool.rows; ++row) {
    for (std::size_t column = 0; column < pool.columns; ++column) {
      const Corners at(pool, row, column);
      for (std::size_t i = 0; i < channels; i += kAvx2Lanes) {
        const std::size_t k = vector_of(i, channels);
        const float* top = x + at.top + k;
        const float* bottom = x + at.bottom + k;
        const __m256 a = _mm256_loadu_ps(top);
        const __m256 b = _mm256_loadu_ps(top + channels);
        const __m256 c = _mm256_loadu_ps(bottom);
        const __m256 d = _mm256_loadu_ps(bottom + channels);
        const __m256 b_wins = wins(b, a), d_wins = wins(d, c);
        const __m256 upper = chosen(a, b_wins, b);
        const __m256 lower = chosen(c, d_wins, d);
        const __m256 lower_wins = wins(lower, upper);
        _mm256_storeu_ps(y + k, chosen(upper, lower_wins, lower));
        store_bytes(winner + k, _mm256_blendv_epi8(index_of(b_wins, 0, 1), index_of(d_wins, 2, 3),
                                                   _mm256_castps_si256(lower_wins)));
      }
      y += channels;
      winner += channels;
    }
  }
}

STERNA_AVX2 void backward_avx2(const HalvingPool& pool, const float* dy, const std::uint8_t* winner,
                               float* dx) {
  const std::size_t channels = pool.channels;
  if (channels < kAvx2Lanes) return backward_plain(pool, dy, winner, dx);
  for (std::size_t row = 0; row < pool.rows; ++row) {
    for (std::size_t column = 0; column < pool.columns; ++column) {
      const Corners at(pool, row, column);
      for (std::size_t i = 0; i < channels; i += kAvx2Lanes) {
        const std::size_t k = vector_of(i, channels);
        const __m256 gradient = _mm256_loadu_ps(dy + k);
        const __m256i index = load_bytes(winner + k);
        float* const pixels[] = {dx + at.top + k, dx + at.top + channels + k, dx + at.bottom + k,
                                 dx + at.bottom + channels + k};
        for (int pixel = 0; pixel < 4; ++pixel) {
          const __m256i won = _mm256_cmpeq_epi32(index, _mm256_set1_epi32(pixel));
          _mm256_storeu_ps(pixels[pixel], _mm256_and_ps(gradient, _mm256_castsi256_ps(won)));
        }
      }
      dy += channels;
      winner += channels;
    }
  }
}

template <class Stored>
STERNA_AVX512 void forward_avx512(const HalvingPool& pool, const Stored* x, Stored* y,
                                  std::uint8_t* winner) {
  const std::size_t channels = pool.channels;
  for (std::size_t row = 0; row < pool.rows; ++row) {
    for (std::size_t column = 0; column < pool.columns; ++column) {
      const Corners at(pool, row, column);
      for (std::size_t k = 0; k < channels; k += 16) {
        const __mmask16 mask = kernels::lanes(k, channels);
        const Stored* top = x + at.top + k;
        const Stored* bottom = x + at.bottom + k;
        const __m512 a = load(mask, top);
        const __m512 b = load(mask, top + channels);
        const __m512 c = load(mask, bottom);
        const __m512 d = load(mask, bottom + channels);
        const __mmask16 b_wins = wins(b, a), d_wins = wins(d, c);
        const __m512 upper = _mm512_mask_mov_ps(a, b_wins, b);
        const __m512 lower = _mm512_mask_mov_ps(c, d_wins, d);
        const __mmask16 lower_wins = wins(lower, upper);
        store_again(y + k, mask, _mm512_mask_mov_ps(upper, lower_wins, lower));
        const __m512i upper_index = _mm512_maskz_set1_epi32(b_wins, 1);
        const __m512i lower_index = _mm512_mask_set1_epi32(_mm512_set1_epi32(2), d_wins, 3);
        _mm512_mask_cvtepi32_storeu_epi8(
            winner + k, mask, _mm512_mask_mov_epi32(upper_index, lower_wins, lower_index));
      }
      y += channels;
      winner += channels;
    }
  }
}

template <class Stored>
STERNA_AVX512 void backward_avx512(const HalvingPool& pool, const Stored* dy,
                                   const std::uint8_t* winner, Stored* dx) {
  const std::size_t channels = pool.channels;
  for (std::size_t row = 0; row < pool.rows; ++row) {
    for (std::size_t column = 0; column < pool.columns; ++column) {
      const Corners at(pool, row, column);
      for (std::size_t k = 0; k < channels; k += 16) {
        const __mmask16 mask = kernels::lanes(k, channels);
        const __m512 gradient = load(mask, dy + k);
        const __m512i index = _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(mask, winner + k));
        Stored* const pixels[] = {dx + at.top + k, dx + at.top + channels + k, dx + at.bottom + k,
                                  dx + at.bottom + channels + k};
        for (int pixel = 0; pixel < 4; ++pixel) {
          const __mmask16 won = _mm512_cmpeq_epi32_mask(index, _mm512_set1_epi32(pixel));
          store_again(pixels[pixel], mask, _mm512_maskz_mov_ps(won, gradient));
        }
      }
      dy += channels;
      winner += channels;
    }
  }
}

/// visit(some of the rows, their first element of y)
template <class Visit>
void by_rows(const HalvingPool& pool, const Team& team, std::size_t element, Visit visit) {
  const std::size_t row = pool.columns * pool.channels;
  team.share(pool.rows, 5 * row * element,
             [&](std::size_t first, std::size_t end, std::size_t /*member*/) {
               HalvingPool some = pool;
               some.rows = end - first;
               visit(some, first * row);
             });
}

}  // namespace

void halving_pool_forward(const HalvingPool& pool, kernels::Isa isa, const Team& team,
                          const Tensor& x, Tensor& y, std::uint8_t* winner) {
  const auto share = [&](auto* forward, const auto* from, auto* to) {
    by_rows(pool, team, sizeof(*to), [&](const HalvingPool& rows, std::size_t at) {
      forward(rows, from + 4 * at, to + at, winner + at);
    });
  };
  if (x.element() == Element::bf16) {
    const auto plain = forward_plain<std::uint16_t>;
    share(kernels::twin(isa, plain, plain, forward_avx512<std::uint16_t>), x.bf16(), y.bf16());
  } else {
    share(kernels::twin(isa, forward_plain<float>, forward_avx2, forward_avx512<float>), x.data(),
          y.data());
  }
}

void halving_pool_backward(const HalvingPool& pool, kernels::Isa isa, const Team& team,
                           const Tensor& dy, const std::uint8_t* winner, Tensor& dx) {
  const auto share = [&](auto* backward, const auto* from, auto* to) {
    by_rows(pool, team, sizeof(*to), [&](const HalvingPool& rows, std::size_t at) {
      backward(rows, from + at, winner + at, to + 4 * at);
    });
  };
  if (dy.element() == Element::bf16) {
    const auto plain = backward_plain<std::uint16_t>;
    share(kernels::twin(isa, plain, plain, backward_avx512<std::uint16_t>), dy.bf16(), dx.bf16());
  } else {
    share(kernels::twin(isa, backward_plain<float>, backward_avx2, backward_avx512<float>),
          dy.data(), dx.data());
  }
}

}  // namespace sterna::nets
