// Sums of trits on CUDA: up to 15 ranks' by threads that have four words (128 elements) of a block
// each, more ranks' by threads that have one.
#include <cuda_runtime.h>

#include "kernels/sums/sum_launch.h"
#include "kernels/sums/sums_device.h"

namespace sterna::kernels {
namespace {

constexpr std::uint32_t kThreads = 256;

template <std::size_t kPlanes, std::uint32_t kWords>
__global__ void __launch_bounds__(kThreads) sum_work(const SumLaunch launch) {
  constexpr std::uint32_t kPerBlock = kRows / kWords;
  const SumWork work = launch.work[blockIdx.x];
  const auto planes = static_cast<std::uint32_t>(sum_planes(launch.ranks));
  for (std::uint32_t i = threadIdx.x; i < work.blocks * kPerBlock; i += kThreads) {
    const std::uint32_t block = i / kPerBlock;
    sum_words<kPlanes, kWords>(work.packets, launch.ranks, work.first_block + block,
                               i % kPerBlock * kWords, planes,
                               work.sums + block * planes * kPlanePart);
  }
}

}  // namespace

int cuda_sum_trits(const SumLaunch& launch, CUstream_st* stream) {
  if (launch.count == 0) return cudaSuccess;
  const auto kernel =
      sum_planes(launch.ranks) <= kFewPlanes ? sum_work<kFewPlanes, 4> : sum_work<kAllPlanes, 1>;
  kernel<<<launch.count, kThreads, 0, stream>>>(launch);
  return cudaGetLastError();
}

}  // namespace sterna::kernels
