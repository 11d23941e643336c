// What a device is told to add up: tables in its memory, so that one launch serves all tensors of a
// step. Plain data that host and device read alike.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/sums/aggregate.h"
#include "kernels/trits/encode_launch.h"

namespace sterna::kernels {

/// A rank's gradient of one tensor as it came (Packet), its scaler in the device's memory.
struct DevicePacket {
  const std::byte* payload = nullptr;  ///< planes and fp32 16-byte aligned, bf16 2-byte
  const float* scaler = nullptr;       ///< of planes
  Packing packing = Packing::planes;
};

/// At most 128 blocks of 512 elements whose ranks' trits become sums.
struct SumWork {
  const DevicePacket* packets = nullptr;  ///< those of all ranks of one tensor, all planes
  std::byte* sums = nullptr;              ///< of the first of these blocks; 16-byte aligned
  std::uint64_t first_block = 0;          ///< within the packets
  std::uint32_t blocks = 0;
};

struct SumLaunch {
  const SumWork* work = nullptr;
  std::uint32_t count = 0;  ///< of work
  std::uint32_t ranks = 0;  ///< at most kMostSummedRanks
};

// Each puts one launch on a stream of CUDA's (sums.cu) and returns a cudaError_t.

int cuda_sum_trits(const SumLaunch& launch, CUstream_st* stream);
/// Fills the chunks' planes with the nearest bf16s of their values; where a tensor is fed back
/// those become what is left of them.
int cuda_encode_bf16(const EncodeLaunch& launch, CUstream_st* stream);

}  // namespace sterna::kernels
