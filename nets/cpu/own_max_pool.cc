// The forward pass remembers of each window which of its pixels won, as a byte. The backward pass
// goes over the pixels of x: each adds up, in fp32 and in row-major order, the gradients of the
// windows that it won, so that none is written twice and nothing need be cleared before.
#include "nets/cpu/own_max_pool.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "nets/cpu/channels_avx2.h"
#include "nets/cpu/max_of.h"
#include "nets/cpu/stored_avx512.h"

namespace sterna::nets {
namespace {

/// From `first` until before `end`.
struct Range {
  std::size_t first, end;
};

/// The window over an extent of x, and of y, in one direction.
class Sliding {
 public:
  Sliding(const Slide& slide, std::size_t in)
      : kernel_(slide.kernel),
        stride_(slide.stride),
        before_(slide.before(in)),
        in_(in),
        out_(slide.out(in)) {}
  std::size_t in() const { return in_; }
  std::size_t out() const { return out_; }
  /// Which of the window's places lie within x where it stands at `out`; and which of x that is.
  Range places(std::size_t out) const {
    const std::size_t start = out * stride_;
    return {before_ > start ? before_ - start : 0, std::min(kernel_, in_ + before_ - start)};
  }
  std::size_t at(std::size_t out, std::size_t place) const {
    return out * stride_ + place - before_;
  }
  /// Where the window stands when it covers `in`, and with which of its places.
  Range covering(std::size_t in) const {
    const std::size_t padded = in + before_;
    const std::size_t first = padded < kernel_ ? 0 : (padded - kernel_) / stride_ + 1;
    return {first, std::min(out_, padded / stride_ + 1)};
  }
  std::size_t place(std::size_t in, std::size_t out) const { return in + before_ - out * stride_; }

 private:
  std::size_t kernel_, stride_, before_, in_, out_;
};

struct Pooling {
  Sliding down, across;
  std::size_t width;  // of the window
  std::size_t channels;

  /// That a row of y, or of dx, is made of: each of its pixels looks at a window, or is in some.
  std::size_t bytes_of_row(std::size_t element) const {
    return across.out() * channels * element * width * width;
  }
};

/// A pixel that a window may take, and which of the window's that is.
template <class Value>
struct Pixel {
  const Value* values;
  int place;
};

/// A window's pixels within the image, and an image's windows around a pixel, are no more than a
/// byte counts.
constexpr std::size_t kMostPixels = 256;

void greatest_plain(const Pixel<float>* pixels, std::size_t count, std::size_t channels, float* y,
                    std::uint8_t* winner) {
  std::copy_n(pixels[0].values, channels, y);
  std::fill_n(winner, channels, static_cast<std::uint8_t>(pixels[0].place));
  for (std::size_t i = 1; i < count; ++i) {
    const float* const values = pixels[i].values;
    const auto place = static_cast<std::uint8_t>(pixels[i].place);
    for (std::size_t k = 0; k < channels; ++k) {
      const bool won = wins(values[k], y[k]);
      y[k] = won ? values[k] : y[k];
      winner[k] = won ? place : winner[k];
    }
  }
}

template <class Stored>
STERNA_AVX512 void greatest_avx512(const Pixel<Stored>* pixels, std::size_t count,
                                   std::size_t channels, Stored* y, std::uint8_t* winner) {
  for (std::size_t k = 0; k < channels; k += 16) {
    const __mmask16 live = kernels::lanes(k, channels);
    __m512 most = load(live, pixels[0].values + k);
    __m512i place = _mm512_set1_epi32(pixels[0].place);
    for (std::size_t i = 1; i < count; ++i) {
      const __m512 value = load(live, pixels[i].values + k);
      const __mmask16 won = wins(value, most);
      most = _mm512_mask_mov_ps(most, won, value);
      place = _mm512_mask_set1_epi32(place, won, pixels[i].place);
    }
    store_again(y + k, live, most);
    _mm512_mask_cvtepi32_storeu_epi8(winner + k, live, place);
  }
}

STERNA_AVX2 void greatest_avx2(const Pixel<float>* pixels, std::size_t count, std::size_t channels,
                               float* y, std::uint8_t* winner) {
  for (std::size_t i = 0; i < channels; i += kAvx2Lanes) {
    const std::size_t k = vector_of(i, channels);
    __m256 most = _mm256_loadu_ps(pixels[0].values + k);
    __m256i place = _mm256_set1_epi32(pixels[0].place);
    for (std::size_t p = 1; p < count; ++p) {
      const __m256 value = _mm256_loadu_ps(pixels[p].values + k);
      const __m256 won = wins(value, most);
      most = _mm256_blendv_ps(most, value, won);
      place =
          _mm256_blendv_epi8(place, _mm256_set1_epi32(pixels[p].place), _mm256_castps_si256(won));
    }
    _mm256_storeu_ps(y + k, most);
    store_bytes(winner + k, place);
  }
}

/// A window that covers the pixel, and at which place.
template <class Stored>
struct Covering {
  const Stored* dy;
  const std::uint8_t* winner;
  char place;
};

void sum_of_won_plain(const Covering<float>* windows, std::size_t count, std::size_t channels,
                      float* dx) {
  std::fill_n(dx, channels, 0.0F);
  for (std::size_t i = 0; i < count; ++i) {
    const auto place = static_cast<std::uint8_t>(windows[i].place);
    for (std::size_t k = 0; k < channels; ++k)
      dx[k] += windows[i].winner[k] == place ? windows[i].dy[k] : 0.0F;
  }
}

template <class Stored>
STERNA_AVX512 void sum_of_won_avx512(const Covering<Stored>* windows, std::size_t count,
                                     std::size_t channels, Stored* dx) {
  for (std::size_t k = 0; k < channels; k += 16) {
    const __mmask16 live = kernels::lanes(k, channels);
    __m512 sum = _mm512_setzero_ps();
    for (std::size_t i = 0; i < count; ++i) {
      const __m128i winner = _mm_maskz_loadu_epi8(live, windows[i].winner + k);
      const __mmask16 won = _mm_mask_cmpeq_epi8_mask(live, winner, _mm_set1_epi8(windows[i].place));
      sum = _mm512_add_ps(sum, load(won, windows[i].dy + k));
    }
    store(dx + k, live, sum);
  }
}

STERNA_AVX2 void sum_of_won_avx2(const Covering<float>* windows, std::size_t count,
                                 std::size_t channels, float* dx) {
  for (std::size_t i = 0; i < channels; i += kAvx2Lanes) {
    const std::size_t k = vector_of(i, channels);
    __m256 sum = _mm256_setzero_ps();
    for (std::size_t w = 0; w < count; ++w) {
      const __m256i place = _mm256_set1_epi32(static_cast<std::uint8_t>(windows[w].place));
      const __m256i won = _mm256_cmpeq_epi32(load_bytes(windows[w].winner + k), place);
      const __m256 gradient = _mm256_loadu_ps(windows[w].dy + k);
      sum = _mm256_add_ps(sum, _mm256_and_ps(gradient, _mm256_castsi256_ps(won)));
    }
    _mm256_storeu_ps(dx + k, sum);
  }
}

/// What is done for each window, and for each pixel of x.
template <class Stored>
struct Channels {
  void (*greatest)(const Pixel<Stored>* pixels, std::size_t count, std::size_t channels, Stored* y,
                   std::uint8_t* winner);
  void (*sum_of_won)(const Covering<Stored>* windows, std::size_t count, std::size_t channels,
                     Stored* dx);
};

/// Rows of y from `rows.first` until before `rows.end`, those of an image behind the one before it.
template <class Stored>
void forward(const Pooling& pool, const Range& rows, const Channels<Stored>& each,
             const Stored* all_x, Stored* all_y, std::uint8_t* all_winners) {
  Pixel<Stored> pixels[kMostPixels];
  const std::size_t in_row = pool.across.in() * pool.channels;
  std::size_t at_y = rows.first * pool.across.out() * pool.channels;
  for (std::size_t row = rows.first; row < rows.end; ++row) {
    const Stored* x = all_x + row / pool.down.out() * pool.down.in() * in_row;
    const std::size_t r = row % pool.down.out();
    const Range lines = pool.down.places(r);
    for (std::size_t s = 0; s < pool.across.out(); ++s) {
      const Range columns = pool.across.places(s);
      std::size_t count = 0;
      for (std::size_t i = lines.first; i < lines.end; ++i) {
        const Stored* line = x + pool.down.at(r, i) * in_row;
        for (std::size_t j = columns.first; j < columns.end; ++j) {
          pixels[count++] = {line + pool.across.at(s, j) * pool.channels,
                             static_cast<int>(i * pool.width + j)};
        }
      }
      each.greatest(pixels, count, pool.channels, all_y + at_y, all_winners + at_y);
      at_y += pool.channels;
    }
  }
}

/// The same of the rows of dx.
template <class Stored>
void backward(const Pooling& pool, const Range& rows, const Channels<Stored>& each,
              const Stored* all_dy, const std::uint8_t* all_winners, Stored* all_dx) {
  Covering<Stored> windows[kMostPixels];
  const std::size_t out_row = pool.across.out() * pool.channels;
  Stored* dx = all_dx + rows.first * pool.across.in() * pool.channels;
  for (std::size_t row = rows.first; row < rows.end; ++row) {
    const std::size_t image = row / pool.down.in() * pool.down.out() * out_row;
    const std::size_t h = row % pool.down.in();
    const Range lines = pool.down.covering(h);
    for (std::size_t w = 0; w < pool.across.in(); ++w) {
      const Range columns = pool.across.covering(w);
      std::size_t count = 0;
      for (std::size_t r = lines.first; r < lines.end; ++r) {
        for (std::size_t s = columns.first; s < columns.end; ++s) {
          const std::size_t at = image + r * out_row + s * pool.channels;
          const std::size_t place = pool.down.place(h, r) * pool.width + pool.across.place(w, s);
          windows[count++] = {all_dy + at, all_winners + at,
                              static_cast<char>(static_cast<std::uint8_t>(place))};
        }
      }
      each.sum_of_won(windows, count, pool.channels, dx);
      dx += pool.channels;
    }
  }
}

Channels<float> channels_of(const MaxPoolSpec& spec, kernels::Isa isa) {
  if (isa == kernels::Isa::avx512) return {greatest_avx512<float>, sum_of_won_avx512<float>};
  if (isa == kernels::Isa::avx2 && spec.input[1] >= kAvx2Lanes)
    return {greatest_avx2, sum_of_won_avx2};
  return {greatest_plain, sum_of_won_plain};
}

class OwnMaxPool final : public MaxPool {
 public:
  OwnMaxPool(const MaxPoolSpec& spec, kernels::Isa isa, const Team& team)
      : pool_{.down = Sliding(spec.window.down(), spec.input[2]),
              .across = Sliding(spec.window.across(), spec.input[3]),
              .width = spec.window.across().kernel,
              .channels = spec.input[1]},
        fp32_(channels_of(spec, isa)),
        team_(team),
        images_(spec.input[0]),
        winner_(images_ * pool_.down.out() * pool_.across.out() * pool_.channels) {}

  void forward(const Tensor& x, Tensor& y) override {
    if (x.element() == Element::bf16) {
      forward_rows(bf16_, x.bf16(), y.bf16());
    } else {
      forward_rows(fp32_, x.data(), y.data());
    }
  }
  void backward(const Tensor& dy, Tensor& dx) override {
    if (dy.element() == Element::bf16) {
      backward_rows(bf16_, dy.bf16(), dx.bf16());
    } else {
      backward_rows(fp32_, dy.data(), dx.data());
    }
  }

 private:
  template <class Stored>
  void forward_rows(const Channels<Stored>& each, const Stored* x, Stored* y) {
    team_.share(images_ * pool_.down.out(), pool_.bytes_of_row(sizeof(Stored)),
                [&](std::size_t first, std::size_t end, std::size_t /*member*/) {
                  nets::forward(pool_, {first, end}, each, x, y, winner_.data());
                });
  }
  template <class Stored>
  void backward_rows(const Channels<Stored>& each, const Stored* dy, Stored* dx) {
    team_.share(images_ * pool_.down.in(), pool_.bytes_of_row(sizeof(Stored)),
                [&](std::size_t first, std::size_t end, std::size_t /*member*/) {
                  nets::backward(pool_, {first, end}, each, dy, winner_.data(), dx);
                });
  }

  Pooling pool_;
  Channels<float> fp32_;
  Channels<std::uint16_t> bf16_{greatest_avx512<std::uint16_t>, sum_of_won_avx512<std::uint16_t>};
  Team team_;
  std::size_t images_;
  std::vector<std::uint8_t> winner_;
};

}  // namespace

std::unique_ptr<MaxPool> make_own_max_pool(const MaxPoolSpec& spec, kernels::Isa isa,
                                           const Team& team) {
  return std::make_unique<OwnMaxPool>(spec, isa, team);
}

}  // namespace sterna::nets
