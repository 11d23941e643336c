// Decode, average and step on CUDA: a warp takes 512 elements, a block of threads a quarter of a
// piece of work.
#include "kernels/isa/launch_cuda.h"
#include "kernels/optimizer/update_device.h"
#include "kernels/optimizer/update_launch.h"

namespace sterna::kernels {
namespace {

constexpr std::uint32_t kThreads = 256;
constexpr std::uint32_t kParts = 4;
constexpr std::uint32_t kPartBlocks = kBlocksPerChunk / kParts;

template <class Rule, bool kSums>
__global__ void __launch_bounds__(kThreads, 3) update_parts(const UpdateLaunch launch) {
  const UpdateWork work = launch.work[blockIdx.x / kParts];
  const CudaWarp warp(threadIdx.x % kWarpLanes);
  DeviceStep step;
  if (Rule::kReads) step = *launch.step;
  const std::uint32_t part = blockIdx.x % kParts * kPartBlocks;
  for (std::uint32_t i = threadIdx.x / kWarpLanes; i < kPartBlocks; i += kThreads / kWarpLanes) {
    const std::uint32_t block = part + i;
    if (block * kPlaneBlock >= work.count) return;
    if constexpr (kSums) {
      update_block<Rule>(warp, SumSource{work.sums, work.scaler, launch.ranks}, work, block, step);
    } else {
      update_block<Rule>(warp, PacketSource{work.packets, launch.ranks, divisor_of(launch)}, work,
                         block, step);
    }
  }
}

using Kernel = void (*)(UpdateLaunch);

template <class Rule>
Kernel kernel_of(bool from_sums) {
  return from_sums ? Kernel{update_parts<Rule, true>} : Kernel{update_parts<Rule, false>};
}

Kernel kernel_of(const UpdateLaunch& launch) {
  switch (launch.rule) {
    case DeviceRule::average:
      break;
    case DeviceRule::gd:
      return kernel_of<GdRule>(launch.from_sums);
    case DeviceRule::momentum:
      return kernel_of<MomentumRule>(launch.from_sums);
    case DeviceRule::nesterov:
      return kernel_of<NesterovRule>(launch.from_sums);
    case DeviceRule::adam:
      return kernel_of<AdamRule>(launch.from_sums);
    case DeviceRule::adamw:
      return kernel_of<AdamWRule>(launch.from_sums);
    case DeviceRule::rmsprop:
      return kernel_of<RmspropRule>(launch.from_sums);
    case DeviceRule::adagrad:
      return kernel_of<AdagradRule>(launch.from_sums);
  }
  return kernel_of<AverageRule>(launch.from_sums);
}

}  // namespace

int cuda_update(const UpdateLaunch& launch, CUstream_st* stream) {
  if (launch.count == 0) return cudaSuccess;
  return launch_kernel(kernel_of(launch), launch.count * kParts, kThreads, launch, stream);
}

}  // namespace sterna::kernels
