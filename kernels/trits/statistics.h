// A gradient's statistics (sum, sum of squares, max |g|), measured chunk by chunk and folded in the
// order of the tensor, so that any number of threads, and any pass over the data, gives the scaler
// the same bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/isa/isa.h"
#include "runtime/base/result.h"

namespace sterna::kernels {

/// Elements of a chunk, 256 KiB of fp32, which stay in a core's L2 cache. Only a tensor's last
/// chunk is shorter.
inline constexpr std::size_t kChunkElements = 65'536;

/// The statistics of one chunk, before they are added up over the tensor.
struct ChunkStatistics {
  struct BlockSums {
    double sum = 0;
    double squares = 0;
  };
  std::array<BlockSums, kChunkElements / 4096> blocks;  ///< with clipping: TRITS.md's block sums
  std::uint32_t largest_bits = 0;  ///< without clipping: the bits of max |g| as fp32
  std::uint64_t elements = 0;      ///< how many the chunk holds
  std::uint64_t saturated = 0;     ///< elements with |g| > s, counted only where trits were made
};

/// Whether a scaler under `clip` is clip * sigma; it is max |g| otherwise.
constexpr bool clips(float clip) { return clip > 1e-5F; }

/// Measures at most kChunkElements elements: their block sums if clips(clip), else their max |g|.
ChunkStatistics measure_chunk(std::span<const float> chunk, float clip, Isa isa);

/// An Errc::non_finite that names the first NaN or infinity of `gradient`, or where it has none,
/// says that its squares overflow fp32.
Error non_finite(std::span<const float> gradient);

/// The statistics of all that shares one scaler: a tensor, or a bucket of it.
class GradientStatistics {
 public:
  /// Adds a chunk. The order of the calls is the order of the tensor, as it decides the bits; all
  /// chunks are measured with one clip.
  void fold(const ChunkStatistics& next);

  /// The scaler: clip * sigma, or max |g| (kernels/trits/scaler.h). `gradient` is all that was
  /// folded, read only to name an element that is not finite.
  Result<float> scaler(float clip, std::span<const float> gradient) const;

  /// Whether every folded element is finite, and with clipping the sum of their squares too.
  bool finite() const;

  /// S1 and S2 of TRITS.md, with clipping.
  double sum() const { return sum_; }
  double squares() const { return squares_; }
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
