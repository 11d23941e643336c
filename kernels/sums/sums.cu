// Sums of trits, and bf16s, on CUDA. Sums: up to 15 ranks' by threads that have four words (128
// elements) of a block each, more ranks' by threads that have one.
#include "kernels/isa/launch_cuda.h"
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

constexpr std::uint32_t kParts = 4;  // of a chunk

__global__ void __launch_bounds__(kThreads) encode_bf16_parts(const EncodeLaunch launch) {
  constexpr auto kPart = static_cast<std::uint32_t>(kChunkElements) / kParts;
  const ChunkWork chunk = launch.chunks[blockIdx.x / kParts];
  auto* const out = reinterpret_cast<std::uint16_t*>(chunk.planes);
  const bool keeps_error = launch.tensors[chunk.work].fed_back != 0;
  const std::uint32_t begin = blockIdx.x % kParts * kPart;
  for (std::uint32_t i = begin + threadIdx.x; i < begin + kPart && i < chunk.count; i += kThreads) {
    out[i] = round_element(chunk, i, keeps_error);
  }
}

}  // namespace

int cuda_encode_bf16(const EncodeLaunch& launch, CUstream_st* stream) {
  if (launch.count == 0) return cudaSuccess;
  return launch_kernel(encode_bf16_parts, launch.count * kParts, kThreads, launch, stream);
}

int cuda_sum_trits(const SumLaunch& launch, CUstream_st* stream) {
  if (launch.count == 0) return cudaSuccess;
  const auto kernel =
      sum_planes(launch.ranks) <= kFewPlanes ? sum_work<kFewPlanes, 4> : sum_work<kAllPlanes, 1>;
  return launch_kernel(kernel, launch.count, kThreads, launch, stream);
}

}  // namespace sterna::kernels
