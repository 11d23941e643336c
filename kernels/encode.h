// A whole tensor's gradient to trits, on the calling thread: the three ways to its scaler.
//
// A fresh scaler needs the whole tensor before the first trit: kernels/scaler.h, then `ternarize`.
// Those here read main memory once: a scaler per bucket, while the bucket is in the L2 cache, and
// the last step's scaler, while the next step's is measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/isa.h"
#include "kernels/statistics.h"
#include "kernels/ternary.h"
#include "runtime/base/result.h"

namespace sterna::kernels {

/// Buckets of `bucket` elements, the last one shorter.
constexpr std::size_t buckets(std::size_t count, std::size_t bucket) {
  return count / bucket + (count % bucket != 0);
}

/// Each bucket with a fresh scaler of its own, into `scalers` (one per bucket).
///
/// `bucket` is a multiple of 512, at most chunk_elements. `first_index` as for `ternarize`, and a
/// multiple of `bucket`. Errc::non_finite as `scaler` says; the element is counted from
/// gradient[0].
Result<void> encode_buckets(std::span<const float> gradient, std::size_t bucket, float clip,
                            const TernaryDraw& draw, std::uint64_t first_index,
                            std::span<float> scalers, std::span<std::byte> planes, Isa isa);

/// With a given scaler, in one pass that takes the statistics of the gradient too, from which
/// GradientStatistics::scaler makes the next step's, or the error if an element is not finite.
GradientStatistics encode_with_scaler(std::span<const float> gradient, float scaler, float clip,
                                      const TernaryDraw& draw, std::span<std::byte> planes,
                                      Isa isa);

}  // namespace sterna::kernels
