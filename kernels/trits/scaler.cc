#include "kernels/trits/scaler.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/trits/scaler_blocks.h"
#include "kernels/trits/statistics.h"

namespace sterna::kernels {
namespace {

void add_blocks(const float* x, std::size_t count, LaneSums* sums) {
  for (std::size_t i = 0; i < count; ++i) {
    LaneSums& block = sums[i / kSigmaBlock];
    const std::size_t lane = i % kSigmaLanes;
    block.sum[lane] += x[i];
    block.squares[lane] = std::fma(x[i], x[i], block.squares[lane]);
  }
}

std::uint32_t max_magnitude(const float* x, std::size_t count) {
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    largest = std::max(largest, std::bit_cast<std::uint32_t>(x[i]) & 0x7FFFFFFFU);
  }
  return largest;
}

}  // namespace

ScalerKernels scalar_scaler() { return {add_blocks, max_magnitude}; }

ScalerKernels scaler_kernels(Isa isa) {
  return twin(isa, scalar_scaler, avx2_scaler, avx512_scaler)();
}

Result<float> scaler(std::span<const float> gradient, float clip, Isa isa) {
  GradientStatistics statistics;
  for (std::size_t begin = 0; begin < gradient.size(); begin += kChunkElements) {
    const std::size_t count = std::min(kChunkElements, gradient.size() - begin);
    statistics.fold(measure_chunk(gradient.subspan(begin, count), clip, isa));
  }
  return statistics.scaler(clip, gradient);
}

}  // namespace sterna::kernels
