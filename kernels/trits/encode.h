// A tensor's gradient to trits, on the calling thread: the three ways to its scaler.
//
// A fresh scaler needs the whole tensor before the first trit: kernels/trits/scaler.h, then
// `ternarize`. The two functions of this file read main memory once: encode_bucket makes a scaler
// per bucket while the bucket is in the L2 cache, and encode_with_scaler takes the last step's
// scaler while it measures for the next step's.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/isa/isa.h"
#include "kernels/trits/statistics.h"
#include "kernels/trits/ternary.h"
#include "runtime/base/result.h"

namespace sterna::kernels {

/// Elements [first, first + count) of a tensor. Encoding them fetches what lies behind them into
/// the cache.
struct TensorPart {
  std::span<const float> tensor;
  std::size_t first = 0;
  std::size_t count = 0;
};

/// Encodes a bucket under a fresh scaler of its own, and returns that scaler.
///
/// `bucket.first` is a multiple of 512 and `bucket.count` at most kChunkElements. `planes` has
/// exactly planes_bytes(bucket.count) bytes. Errc::non_finite as `scaler` says; the element is
/// counted from the tensor's first.
Result<float> encode_bucket(const TensorPart& bucket, float clip, const TernaryDraw& draw,
                            std::span<std::byte> planes, Isa isa);

/// Encodes a part under a given scaler and, in the same pass, folds the part into `statistics`,
/// from which GradientStatistics::scaler makes the next step's.
///
/// `part.first` is a multiple of kChunkElements. The parts that share a scaler come in the order of
/// the tensor. A part need not be finite: then its planes mean nothing, and statistics.finite()
/// says so.
void encode_with_scaler(const TensorPart& part, float scaler, float clip, const TernaryDraw& draw,
                        std::span<std::byte> planes, GradientStatistics& statistics, Isa isa);

}  // namespace sterna::kernels
