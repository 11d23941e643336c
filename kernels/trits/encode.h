// A tensor's gradient to trits, on the calling thread: the three ways to its scaler.
//
// A fresh scaler needs the whole tensor before the first trit: kernels/trits/scaler.h, then
// `ternarize`. Those here read main memory once: a scaler per bucket, while the bucket is in the L2
// cache, and the last step's scaler, while the next step's is measured.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/isa/isa.h"
#include "kernels/trits/statistics.h"
#include "kernels/trits/ternary.h"
#include "runtime/base/result.h"

namespace sterna::kernels {

/// What of a tensor is encoded. What lies behind it in the tensor is fetched meanwhile.
struct TensorPart {
  std::span<const float> tensor;
  std::size_t first = 0;
  std::size_t count = 0;
};

/// A bucket with a fresh scaler of its own, which is the result.
///
/// `bucket.first` is a multiple of 512 and `bucket.count` at most chunk_elements. Exactly
/// planes_bytes(bucket.count) bytes of `planes`. Errc::non_finite as `scaler` says; the element is
/// counted from the tensor's first.
Result<float> encode_bucket(const TensorPart& bucket, float clip, const TernaryDraw& draw,
                            std::span<std::byte> planes, Isa isa);

/// A part with a given scaler, in one pass that folds its statistics too, from which
/// GradientStatistics::scaler makes the next step's.
///
/// `part.first` is a multiple of chunk_elements. The parts that share a scaler come in the order of
/// the tensor. A part need not be finite: then its planes mean nothing, and statistics.finite()
/// says so.
void encode_with_scaler(const TensorPart& part, float scaler, float clip, const TernaryDraw& draw,
                        std::span<std::byte> planes, GradientStatistics& statistics, Isa isa);

}  // namespace sterna::kernels
