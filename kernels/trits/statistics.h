// What a gradient's scaler is made of, taken chunk by chunk and folded in the order of the tensor,
// so that any number of threads, and any pass over the data, gives the same bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/isa/isa.h"
#include "runtime/base/result.h"

namespace sterna::kernels {

/// Elements that one call measures at most: what stays in a core's L2 cache. Chunks of a tensor
/// begin at its multiples.
inline constexpr std::size_t chunk_elements = 65'536;

/// Of one chunk.
struct ChunkStatistics {
  struct BlockSums {
    double sum = 0;
    double squares = 0;
  };
  std::array<BlockSums, chunk_elements / 4096> blocks;  ///< with clipping: TRITS.md's block sums
  std::uint32_t largest_bits = 0;                       ///< without clipping: of max |g|
  std::uint64_t elements = 0;
  std::uint64_t saturated = 0;  ///< |g| > s, where it was ternarized too
};

/// Whether this clip limits gradients to clip * sigma; else their scaler is max |g|.
constexpr bool clips(float clip) { return clip > 1e-5F; }

/// The statistics that `clip` needs, of up to chunk_elements elements.
ChunkStatistics measure_chunk(std::span<const float> chunk, float clip, Isa isa);

/// The Errc::non_finite that names the first such element of `gradient`, or says that its squares
/// overflow.
Error non_finite(std::span<const float> gradient);

/// Of a tensor, or of a bucket that has a scaler of its own.
class GradientStatistics {
 public:
  /// The chunks in the order of the tensor, all measured with one clip.
  void fold(const ChunkStatistics& next);

  /// s = clip * sigma, or max |g| (kernels/trits/scaler.h). `gradient` is what was measured, read
  /// only to name the element that is not finite.
  Result<float> scaler(float clip, std::span<const float> gradient) const;

  /// Whether all that was folded is finite, and its sum of squares where there is one.
  bool finite() const;

  std::uint64_t elements() const { return elements_; }
  std::uint64_t saturated() const { return saturated_; }

 private:
  double sum_ = 0;
  double squares_ = 0;
  std::uint32_t largest_bits_ = 0;
  std::uint64_t elements_ = 0;
  std::uint64_t saturated_ = 0;
};

}  // namespace sterna::kernels
