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
};

/// A pixel that a window may take, and which of the window's that is.
template <class Value>
struct Pixel {
  const Value* values;
  int place;
};

/// A window's pixels within the image, or an image's windows around a pixel: few.
constexpr std::size_t kMostPixels = 256;

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

template <class Stored>
void forward(const Pooling& pool, std::size_t images, const Channels<Stored>& each, const Stored* x,
             Stored* y, std::uint8_t* winner) {
  Pixel<Stored> pixels[kMostPixels];
  for (std::size_t n = 0; n < images; ++n) {
    for (std::size_t r = 0; r < pool.down.out(); ++r) {
      const Range rows = pool.down.places(r);
      for (std::size_t s = 0; s < pool.across.out(); ++s) {
        const Range columns = pool.across.places(s);
        std::size_t count = 0;
        for (std::size_t i = rows.first; i < rows.end; ++i) {
          const Stored* row = x + pool.down.at(r, i) * pool.across.in() * pool.channels;
          for (std::size_t j = columns.first; j < columns.end; ++j) {
            pixels[count++] = {row + pool.across.at(s, j) * pool.channels,
                               static_cast<int>(i * pool.width + j)};
          }
        }
        each.greatest(pixels, count, pool.channels, y, winner);
        y += pool.channels;
        winner += pool.channels;
      }
    }
    x += pool.down.in() * pool.across.in() * pool.channels;
  }
}

template <class Stored>
void backward(const Pooling& pool, std::size_t images, const Channels<Stored>& each,
              const Stored* dy, const std::uint8_t* winner, Stored* dx) {
  Covering<Stored> windows[kMostPixels];
  for (std::size_t n = 0; n < images; ++n) {
    for (std::size_t h = 0; h < pool.down.in(); ++h) {
      const Range rows = pool.down.covering(h);
      for (std::size_t w = 0; w < pool.across.in(); ++w) {
        const Range columns = pool.across.covering(w);
        std::size_t count = 0;
        for (std::size_t r = rows.first; r < rows.end; ++r) {
          for (std::size_t s = columns.first; s < columns.end; ++s) {
            const std::size_t at = (r * pool.across.out() + s) * pool.channels;
            const std::size_t place = pool.down.place(h, r) * pool.width + pool.across.place(w, s);
            windows[count++] = {dy + at, winner + at,
                                static_cast<char>(static_cast<std::uint8_t>(place))};
          }
        }
        each.sum_of_won(windows, count, pool.channels, dx);
        dx += pool.channels;
      }
    }
    const std::size_t pooled = pool.down.out() * pool.across.out() * pool.channels;
    dy += pooled;
    winner += pooled;
  }
}

class OwnMaxPool final : public MaxPool {
 public:
  OwnMaxPool(const MaxPoolSpec& spec, kernels::Isa isa)
      : pool_{.down = Sliding(spec.window.down(), spec.input[2]),
              .across = Sliding(spec.window.across(), spec.input[3]),
              .width = spec.window.across().kernel,
              .channels = spec.input[1]},
        fp32_(isa == kernels::Isa::avx512
                  ? Channels<float>{greatest_avx512<float>, sum_of_won_avx512<float>}
                  : Channels<float>{greatest_avx2, sum_of_won_avx2}),
        images_(spec.input[0]),
        winner_(images_ * pool_.down.out() * pool_.across.out() * pool_.channels) {}

  void forward(const Tensor& x, Tensor& y) override {
    if (x.element() == Element::bf16) {
      nets::forward(pool_, images_, bf16_, x.bf16(), y.bf16(), winner_.data());
    } else {
      nets::forward(pool_, images_, fp32_, x.data(), y.data(), winner_.data());
    }
  }
  void backward(const Tensor& dy, Tensor& dx) override {
    if (dy.element() == Element::bf16) {
      nets::backward(pool_, images_, bf16_, dy.bf16(), winner_.data(), dx.bf16());
    } else {
      nets::backward(pool_, images_, fp32_, dy.data(), winner_.data(), dx.data());
    }
  }

 private:
  Pooling pool_;
  Channels<float> fp32_;
  Channels<std::uint16_t> bf16_{greatest_avx512<std::uint16_t>, sum_of_won_avx512<std::uint16_t>};
  std::size_t images_;
  std::vector<std::uint8_t> winner_;
};

}  // namespace

std::unique_ptr<MaxPool> make_own_max_pool(const MaxPoolSpec& spec, kernels::Isa isa) {
  if (spec.window.down().kernel * spec.window.across().kernel > kMostPixels) return nullptr;
  const bool in_avx2 =
      isa == kernels::Isa::avx2 && spec.element == Element::fp32 && spec.input[1] >= kAvx2Lanes;
  if (isa != kernels::Isa::avx512 && !in_avx2) return nullptr;
  return std::make_unique<OwnMaxPool>(spec, isa);
}

}  // namespace sterna::nets
