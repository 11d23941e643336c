#include "kernels/encode.h"

#include <algorithm>
#include <cassert>

#include "kernels/ternary_blocks.h"

namespace sterna::kernels {

Result<void> encode_buckets(std::span<const float> gradient, std::size_t bucket, float clip,
                            const TernaryDraw& draw, std::uint64_t first_index,
                            std::span<float> scalers, std::span<std::byte> planes, Isa isa) {
  assert(bucket % plane_block == 0 && bucket <= chunk_elements && first_index % bucket == 0);
  assert(scalers.size() == buckets(gradient.size(), bucket));
  assert(planes.size() == planes_bytes(gradient.size()));
  for (std::size_t i = 0; i < scalers.size(); ++i) {
    const std::size_t begin = i * bucket;
    const auto part = gradient.subspan(begin, std::min(bucket, gradient.size() - begin));
    GradientStatistics statistics;
    statistics.fold(measure_chunk(part, clip, isa));
    const Result<float> s = statistics.scaler(clip, part);
    if (!s) return non_finite(gradient);
    scalers[i] = *s;
    ternarize(part, *s, draw, first_index + begin,
              planes.subspan(planes_bytes(begin), planes_bytes(part.size())),
              gradient.subspan(begin + part.size()), isa);
  }
  return {};
}

GradientStatistics encode_with_scaler(std::span<const float> gradient, float scaler, float clip,
                                      const TernaryDraw& draw, std::span<std::byte> planes,
                                      Isa isa) {
  assert(planes.size() == planes_bytes(gradient.size()));
  GradientStatistics statistics;
  for (std::size_t begin = 0; begin < gradient.size(); begin += chunk_elements) {
    const auto chunk = gradient.subspan(begin, std::min(chunk_elements, gradient.size() - begin));
    statistics.fold(
        ternarize_and_measure(chunk, scaler, clip, draw, begin,
                              planes.subspan(planes_bytes(begin), planes_bytes(chunk.size())),
                              a_little_ahead(gradient, begin), isa));
  }
  return statistics;
}

}  // namespace sterna::kernels
