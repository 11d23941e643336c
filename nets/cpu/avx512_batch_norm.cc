// Each pass over the data is one of memory. Moments come of blocks of pixels that stay in the cache
// for their own two passes, and are put together as by Chan, Golub and LeVeque (1979): exact where
// the mean is far from zero, and the data read once. Blocks are shared among threads and put
// together in order, so that how many threads there are changes no bit. Where the rectifier let
// through is kept as a bit.
//
// Channels that do not fill vectors lie in rows of several pixels, which do; of a row's places each
// channel has several.
//
// The gradient, with d = x - mean and r = 1 / √(variance + epsilon), over n pixels:
//   dshift = Σ dy,  dscale = r · Σ dy · d,
//   dx = scale · r · (dy - dshift / n - d · r² · Σ dy · d / n).
#include "nets/cpu/avx512_batch_norm.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "nets/cpu/stored_avx512.h"

namespace sterna::nets {
namespace {

constexpr std::size_t kLanes = 16;
constexpr std::size_t kLeastRow = 128;  // numbers, so that a row's sums do not wait for the last's
constexpr std::size_t kMostRow = 4096;  // or a row is one pixel
constexpr std::size_t kBlock = 1U << 17;  // numbers that stay in the cache
constexpr std::size_t kBlockRows = 512;   // at most, that are added up in fp32

std::size_t vectors(std::size_t width) { return (width + kLanes - 1) / kLanes; }

/// Some rows that follow each other.
template <class Stored>
struct Rows {
  Stored* values;
  std::size_t rows, width;
};

constexpr __mmask16 kFull = 0xFFFF;

/// What is left of a row behind its full vectors, which is less than one.
STERNA_AVX512_INLINE __mmask16 rest(std::size_t width) {
  return static_cast<__mmask16>((1U << width % kLanes) - 1U);
}

template <class Stored>
STERNA_AVX512_INLINE void add_vector(const Stored* x, __mmask16 live, float* sums) {
  const __m512 sum = _mm512_maskz_loadu_ps(live, sums);
  _mm512_mask_storeu_ps(sums, live, _mm512_add_ps(sum, load(live, x)));
}

template <class Stored>
STERNA_AVX512 void add_rows(const Rows<const Stored>& x, float* sums) {
  const Stored* row = x.values;
  const __mmask16 last = rest(x.width);
  for (std::size_t i = 0; i < x.rows; ++i, row += x.width) {
    std::size_t k = 0;
    for (; k + kLanes <= x.width; k += kLanes) add_vector(row + k, kFull, sums + k);
    if (last != 0) add_vector(row + k, last, sums + k);
  }
}

template <class Stored>
STERNA_AVX512_INLINE void add_square(const Stored* x, __mmask16 live, const float* means,
                                     float* squares) {
  const __m512 sum = _mm512_maskz_loadu_ps(live, squares);
  const __m512 d = _mm512_sub_ps(load(live, x), _mm512_maskz_loadu_ps(live, means));
  _mm512_mask_storeu_ps(squares, live, _mm512_fmadd_ps(d, d, sum));
}

/// Adds the squares of the distances from `means`.
template <class Stored>
STERNA_AVX512 void add_squares(const Rows<const Stored>& x, const float* means, float* squares) {
  const Stored* row = x.values;
  const __mmask16 last = rest(x.width);
  for (std::size_t i = 0; i < x.rows; ++i, row += x.width) {
    std::size_t k = 0;
    for (; k + kLanes <= x.width; k += kLanes) add_square(row + k, kFull, means + k, squares + k);
    if (last != 0) add_square(row + k, last, means + k, squares + k);
  }
}

/// What a row's numbers are computed with; each has one for each place of the row.
struct Places {
  const float* mean;
  const float* factor;
  const float* shift;
};

STERNA_AVX512_INLINE __m512 normalized(__m512 x, __mmask16 live, const Places& by, std::size_t k) {
  const __m512 mean = _mm512_maskz_loadu_ps(live, by.mean + k);
  const __m512 factor = _mm512_maskz_loadu_ps(live, by.factor + k);
  const __m512 shift = _mm512_maskz_loadu_ps(live, by.shift + k);
  return _mm512_fmadd_ps(_mm512_sub_ps(x, mean), factor, shift);
}

/// y = (x - mean) · factor + shift.
template <class Stored>
STERNA_AVX512 void normalize(const Rows<const Stored>& x, const Places& by, Stored* y) {
  const Stored* row = x.values;
  const __mmask16 last = rest(x.width);
  for (std::size_t i = 0; i < x.rows; ++i, row += x.width, y += x.width) {
    std::size_t k = 0;
    for (; k + kLanes <= x.width; k += kLanes)
      store(y + k, kFull, normalized(load(kFull, row + k), kFull, by, k));
    if (last != 0) store(y + k, last, normalized(load(last, row + k), last, by, k));
  }
}

/// Says which are above 0. NaNs are, or nobody would learn of them.
template <class Stored>
STERNA_AVX512_INLINE __mmask16 rectify(__m512 values, __mmask16 live, Stored* y) {
  const __mmask16 above = _mm512_cmp_ps_mask(values, _mm512_setzero_ps(), _CMP_NLE_UQ);
  store(y, live, _mm512_maskz_mov_ps(above, values));
  return above;
}

/// The same and rectified; bits say where it `passed`.
template <class Stored>
STERNA_AVX512 void normalize(const Rows<const Stored>& x, const Places& by, Stored* y,
                             __mmask16* passed) {
  const Stored* row = x.values;
  const __mmask16 last = rest(x.width);
  for (std::size_t i = 0; i < x.rows; ++i, row += x.width, y += x.width) {
    std::size_t k = 0;
    for (; k + kLanes <= x.width; k += kLanes)
      *passed++ = rectify(normalized(load(kFull, row + k), kFull, by, k), kFull, y + k);
    if (last != 0) *passed++ = rectify(normalized(load(last, row + k), last, by, k), last, y + k);
  }
}

template <class Stored>
STERNA_AVX512_INLINE void add_gradient(const Stored* x, const Stored* dy, __mmask16 live,
                                       __mmask16 taken, const float* means, float* sums,
                                       float* products) {
  const __m512 d = _mm512_sub_ps(load(live, x), _mm512_maskz_loadu_ps(live, means));
  const __m512 gradient = load(taken, dy);
  const __m512 sum = _mm512_maskz_loadu_ps(live, sums);
  const __m512 product = _mm512_maskz_loadu_ps(live, products);
  _mm512_mask_storeu_ps(sums, live, _mm512_add_ps(sum, gradient));
  _mm512_mask_storeu_ps(products, live, _mm512_fmadd_ps(gradient, d, product));
}

/// Adds dy, and dy · (x - mean), where it passed.
template <class Stored>
STERNA_AVX512 void add_gradients(const Rows<const Stored>& x, const Stored* dy, const float* means,
                                 const __mmask16* passed, float* sums, float* products) {
  const Stored* row = x.values;
  const __mmask16 last = rest(x.width);
  for (std::size_t i = 0; i < x.rows; ++i, row += x.width, dy += x.width) {
    std::size_t k = 0;
    for (; k + kLanes <= x.width; k += kLanes) {
      const __mmask16 taken = passed != nullptr ? *passed++ : kFull;
      add_gradient(row + k, dy + k, kFull, taken, means + k, sums + k, products + k);
    }
    if (last != 0) {
      const __mmask16 taken = passed != nullptr ? last & *passed++ : last;
      add_gradient(row + k, dy + k, last, taken, means + k, sums + k, products + k);
    }
  }
}

/// What the gradient by x is computed with.
struct GradientPlaces {
  const float* mean;
  const float* factor;   // scale · r
  const float* average;  // of dy
  const float* slope;    // r² · Σ dy · d / n
};

STERNA_AVX512_INLINE __m512 propagated(__m512 x, __m512 dy, __mmask16 live,
                                       const GradientPlaces& by, std::size_t k) {
  const __m512 d = _mm512_sub_ps(x, _mm512_maskz_loadu_ps(live, by.mean + k));
  const __m512 centred = _mm512_sub_ps(dy, _mm512_maskz_loadu_ps(live, by.average + k));
  const __m512 rest = _mm512_fnmadd_ps(d, _mm512_maskz_loadu_ps(live, by.slope + k), centred);
  return _mm512_mul_ps(rest, _mm512_maskz_loadu_ps(live, by.factor + k));
}

template <class Stored>
STERNA_AVX512 void propagate(const Rows<const Stored>& x, const Stored* dy,
                             const GradientPlaces& by, const __mmask16* passed, Stored* dx) {
  const Stored* row = x.values;
  const __mmask16 last = rest(x.width);
  for (std::size_t i = 0; i < x.rows; ++i, row += x.width, dy += x.width, dx += x.width) {
    std::size_t k = 0;
    for (; k + kLanes <= x.width; k += kLanes) {
      const __mmask16 taken = passed != nullptr ? *passed++ : kFull;
      store(dx + k, kFull, propagated(load(kFull, row + k), load(taken, dy + k), kFull, by, k));
    }
    if (last != 0) {
      const __mmask16 taken = passed != nullptr ? last & *passed++ : last;
      store(dx + k, last, propagated(load(last, row + k), load(taken, dy + k), last, by, k));
    }
  }
}

/// A channel's: in a forward pass its mean and the squares of the distances from it, in a backward
/// pass the sums of dy and of dy · d.
struct Totals {
  double first = 0, second = 0;
};

class Avx512BatchNorm final : public BatchNorm {
 public:
  Avx512BatchNorm(const BatchNormSpec& spec, const Team& team)
      : spec_(spec),
        team_(team),
        channels_(spec.input[1]),
        pixels_(element_count(spec.input) / channels_),
        repeats_(kLeastRow / std::gcd(channels_, kLeastRow)) {
    if (channels_ * repeats_ > kMostRow) repeats_ = 1;
    const std::size_t width = channels_ * repeats_;
    at_once_ = std::clamp<std::size_t>(kBlock / width, 1, kBlockRows);
    for (std::vector<float>* row : {&mean_, &factor_, &other_, &last_}) row->resize(width);
    if (spec.backward) sums_.resize(block_count() * 2 * width);
    if (spec.relu) {
      passed_.resize(pixels_ / repeats_ * vectors(width) + pixels_ % repeats_ * vectors(channels_));
    }
  }

  void forward(const Tensor& x, const Tensor* scale, const Tensor& shift, Tensor& mean,
               Tensor& variance, Tensor& y) override {
    if (spec_.element == Element::bf16) {
      measure(x.bf16(), mean, variance);
    } else {
      measure(x.data(), mean, variance);
    }
    normalize_by(x, scale, shift, mean, variance, y);
  }
  void infer(const Tensor& x, const Tensor* scale, const Tensor& shift, const Tensor& mean,
             const Tensor& variance, Tensor& y) override {
    normalize_by(x, scale, shift, mean, variance, y);
  }
  void backward(const Tensor& x, const Tensor& dy, const Tensor* scale, const Tensor& /*shift*/,
                const Tensor& mean, const Tensor& variance, Tensor& dx, Tensor* dscale,
                Tensor& dshift) override {
    const GradientOf of{scale, mean, variance, dscale, dshift};
    if (spec_.element == Element::bf16) {
      go_back(x.bf16(), dy.bf16(), of, dx.bf16());
    } else {
      go_back(x.data(), dy.data(), of, dx.data());
    }
  }

 private:
  /// The parameters' side of a backward pass.
  struct GradientOf {
    const Tensor* scale;
    const Tensor& mean;
    const Tensor& variance;
    Tensor* dscale;
    Tensor& dshift;
  };

  /// Some rows that follow each other.
  struct Block {
    std::size_t number;
    std::size_t at;           // the first number
    std::size_t rows, width;  // numbers in a row
    std::size_t bits;         // the first that says what passed
  };
  /// Full ones, then one of pixels that fill no row.
  std::size_t block_count() const { return full_blocks() + (pixels_ % repeats_ > 0 ? 1 : 0); }
  std::size_t full_blocks() const { return (pixels_ / repeats_ + at_once_ - 1) / at_once_; }
  Block block(std::size_t number) const {
    const std::size_t wide = channels_ * repeats_, rows = pixels_ / repeats_;
    if (number >= full_blocks())
      return {number, rows * wide, pixels_ % repeats_, channels_, rows * vectors(wide)};
    const std::size_t first = number * at_once_;
    return {number, first * wide, std::min(at_once_, rows - first), wide, first * vectors(wide)};
  }
  /// visit(block), on any member of the team.
  template <class Visit>
  void each_block(Visit visit) const {
    share([&](std::size_t first, std::size_t end) {
      for (std::size_t i = first; i < end; ++i) visit(block(i));
    });
  }
  /// The last first: of what was gone through just before, that may be in the cache yet.
  template <class Visit>
  void each_block_back(Visit visit) const {
    share([&](std::size_t first, std::size_t end) {
      for (std::size_t i = end; i > first; --i) visit(block(i - 1));
    });
  }
  template <class Visit>
  void share(Visit visit) const {
    const std::size_t bytes = 2 * at_once_ * channels_ * repeats_ * bytes_of(spec_.element);
    team_.share(
        block_count(), bytes,
        [&](std::size_t first, std::size_t end, std::size_t /*member*/) { visit(first, end); });
  }
  /// Two sums for each place of a block's rows.
  struct BlockSums {
    float* first;
    float* second;
  };
  BlockSums sums_of(std::size_t number) {
    const std::size_t width = channels_ * repeats_;
    float* const both = sums_.data() + number * 2 * width;
    return {both, both + width};
  }
  BlockSums cleared_sums_of(std::size_t number) {
    const std::size_t width = channels_ * repeats_;
    std::fill_n(sums_.data() + number * 2 * width, 2 * width, 0.0F);
    return sums_of(number);
  }

  double deviation(const Tensor& variance, std::size_t channel) const {
    return std::sqrt(static_cast<double>(variance.data()[channel]) +
                     static_cast<double>(spec_.epsilon));
  }

  /// The same for each pixel of a row.
  void repeat(std::vector<float>& row) const {
    for (std::size_t i = 1; i < repeats_; ++i) {
      std::copy_n(row.begin(), channels_, row.begin() + static_cast<std::ptrdiff_t>(i * channels_));
    }
  }

  template <class Stored>
  void measure(const Stored* x, Tensor& mean, Tensor& variance) {
    each_block([&](const Block& of) {
      const Rows<const Stored> rows{x + of.at, of.rows, of.width};
      const auto [means, squares] = cleared_sums_of(of.number);
      add_rows(rows, means);
      for (std::size_t k = 0; k < of.width; ++k) means[k] /= static_cast<float>(of.rows);
      add_squares(rows, means, squares);
    });
    totals_.assign(channels_, {});
    std::size_t before = 0;  // pixels
    for (std::size_t i = 0; i < block_count(); ++i) {
      const Block of = block(i);
      const auto [means, squares] = sums_of(i);
      for (std::size_t first = 0; first < of.width; first += channels_) {
        const double together = static_cast<double>(before + of.rows);
        const double share = static_cast<double>(of.rows) / together;
        const double weight = static_cast<double>(before) * share;
        for (std::size_t k = 0; k < channels_; ++k) {
          const double distance = static_cast<double>(means[first + k]) - totals_[k].first;
          totals_[k].first += distance * share;
          totals_[k].second +=
              static_cast<double>(squares[first + k]) + distance * distance * weight;
        }
        before += of.rows;
      }
    }
    for (std::size_t k = 0; k < channels_; ++k) {
      mean.data()[k] = static_cast<float>(totals_[k].first);
      variance.data()[k] = static_cast<float>(totals_[k].second / static_cast<double>(pixels_));
    }
  }

  void normalize_by(const Tensor& x, const Tensor* scale, const Tensor& shift, const Tensor& mean,
                    const Tensor& variance, Tensor& y) {
    for (std::size_t k = 0; k < channels_; ++k) {
      const double by = scale != nullptr ? static_cast<double>(scale->data()[k]) : 1;
      mean_[k] = mean.data()[k];
      factor_[k] = static_cast<float>(by / deviation(variance, k));
      other_[k] = shift.data()[k];
    }
    for (std::vector<float>* row : {&mean_, &factor_, &other_}) repeat(*row);
    if (spec_.element == Element::bf16) {
      normalize_blocks(x.bf16(), y.bf16());
    } else {
      normalize_blocks(x.data(), y.data());
    }
  }

  template <class Stored>
  void normalize_blocks(const Stored* x, Stored* y) {
    const Places by{mean_.data(), factor_.data(), other_.data()};
    each_block_back([&](const Block& of) {
      const Rows<const Stored> rows{x + of.at, of.rows, of.width};
      if (spec_.relu) {
        normalize(rows, by, y + of.at, passed_.data() + of.bits);
      } else {
        normalize(rows, by, y + of.at);
      }
    });
  }

  template <class Stored>
  void go_back(const Stored* x, const Stored* dy, const GradientOf& of, Stored* dx) {
    const __mmask16* passed = passed_.empty() ? nullptr : passed_.data();
    std::copy_n(of.mean.data(), channels_, mean_.begin());
    repeat(mean_);
    each_block([&](const Block& some) {
      const auto [gradients, products] = cleared_sums_of(some.number);
      add_gradients(Rows<const Stored>{x + some.at, some.rows, some.width}, dy + some.at,
                    mean_.data(), passed != nullptr ? passed + some.bits : nullptr, gradients,
                    products);
    });
    totals_.assign(channels_, {});
    for (std::size_t i = 0; i < block_count(); ++i) {
      const auto [gradients, products] = sums_of(i);
      for (std::size_t first = 0; first < block(i).width; first += channels_) {
        for (std::size_t k = 0; k < channels_; ++k) {
          totals_[k].first += static_cast<double>(gradients[first + k]);
          totals_[k].second += static_cast<double>(products[first + k]);
        }
      }
    }
    const auto count = static_cast<double>(pixels_);
    for (std::size_t k = 0; k < channels_; ++k) {
      const double under = 1 / deviation(of.variance, k);
      const double by = of.scale != nullptr ? static_cast<double>(of.scale->data()[k]) : 1;
      of.dshift.data()[k] = static_cast<float>(totals_[k].first);
      if (of.dscale != nullptr) {
        of.dscale->data()[k] = static_cast<float>(totals_[k].second * under);
      }
      factor_[k] = static_cast<float>(by * under);
      other_[k] = static_cast<float>(totals_[k].first / count);
      last_[k] = static_cast<float>(totals_[k].second * under * under / count);
    }
    for (std::vector<float>* row : {&factor_, &other_, &last_}) repeat(*row);
    const GradientPlaces by{mean_.data(), factor_.data(), other_.data(), last_.data()};
    each_block_back([&](const Block& some) {
      propagate(Rows<const Stored>{x + some.at, some.rows, some.width}, dy + some.at, by,
                passed != nullptr ? passed + some.bits : nullptr, dx + some.at);
    });
  }

  BatchNormSpec spec_;
  Team team_;
  std::size_t channels_, pixels_;
  std::size_t repeats_;                              // pixels in a row
  std::size_t at_once_ = 0;                          // rows in a block
  std::vector<float> mean_, factor_, other_, last_;  // of a row
  std::vector<float> sums_;                          // of the blocks
  std::vector<Totals> totals_;                       // of the channels
  std::vector<__mmask16> passed_;
};

}  // namespace

std::unique_ptr<BatchNorm> make_avx512_batch_norm(const BatchNormSpec& spec, const Team& team) {
  return std::make_unique<Avx512BatchNorm>(spec, team);
}

}  // namespace sterna::nets
