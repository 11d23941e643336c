#include "kernels/trits/encode.h"

#include <algorithm>
#include <cassert>

#include "kernels/trits/ternary_blocks.h"

namespace sterna::kernels {

Result<float> encode_bucket(const TensorPart& bucket, float clip, const TernaryDraw& draw,
                            std::span<std::byte> planes, Isa isa) {
  const auto values = bucket.tensor.subspan(bucket.first, bucket.count);
  GradientStatistics statistics;
  statistics.fold(measure_chunk(values, clip, isa));
  const Result<float> s = statistics.scaler(clip, values);
  if (!s) return non_finite(bucket.tensor);
  ternarize(values, *s, draw, bucket.first, planes,
            bucket.tensor.subspan(bucket.first + bucket.count), isa);
  return *s;
}

void encode_with_scaler(const TensorPart& part, float scaler, float clip, const TernaryDraw& draw,
                        std::span<std::byte> planes, GradientStatistics& statistics, Isa isa) {
  assert(planes.size() == planes_bytes(part.count));
  for (std::size_t done = 0; done < part.count; done += kChunkElements) {
    const std::size_t begin = part.first + done;
    const std::size_t count = std::min(kChunkElements, part.count - done);
    statistics.fold(ternarize_and_measure(part.tensor.subspan(begin, count), scaler, clip, draw,
                                          begin,
                                          planes.subspan(planes_bytes(done), planes_bytes(count)),
                                          a_little_ahead(part.tensor, begin), isa));
  }
}

}  // namespace sterna::kernels
