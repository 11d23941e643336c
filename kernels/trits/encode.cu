// The passes over a gradient on CUDA. A block of threads takes a chunk of 65,536 elements, as its
// statistics want it; trits alone are a quarter of a chunk to a block, so that small tensors meet
// more of the device.
#include "kernels/isa/launch_cuda.h"
#include "kernels/trits/encode_launch.h"
#include "kernels/trits/statistics_device.h"
#include "kernels/trits/ternary_device.h"

namespace sterna::kernels {
namespace {

constexpr std::uint32_t kChunkThreads = kWarpsPerChunk * kWarpLanes;
constexpr std::uint32_t kParts = 4;  // of a chunk, where no statistics are taken
constexpr std::uint32_t kPartThreads = 128;
/// Of a chunk that is among few, which all multiprocessors share then; a large GPU has so many.
constexpr std::uint32_t kSmallParts = 16;
constexpr std::uint32_t kFewChunks = 132;

__device__ CudaWarp this_warp() { return CudaWarp(threadIdx.x % kWarpLanes); }

/// Chunks' statistics on their way to a tensor's, as many as there are threads.
struct Staged {
  double sum[kChunkThreads];
  double squares[kChunkThreads];
  std::uint32_t largest[kChunkThreads];
  std::uint32_t saturated[kChunkThreads];
};

/// Adds up the chunks of a tensor, all of which are measured by now. The sums are one chain each,
/// so one thread has the one and a thread of another warp the other.
__device__ void fold_tensor(const TensorWork& work, float clip, Staged& staged) {
  __shared__ double squares;
  const std::uint32_t thread = threadIdx.x;
  TensorMeasured all;
  for (std::uint32_t begin = 0; begin < work.chunks; begin += kChunkThreads) {
    const std::uint32_t left = work.chunks - begin;
    const std::uint32_t count = left < kChunkThreads ? left : kChunkThreads;
    __syncthreads();
    if (thread < count) {
      // Others' writes: not from this multiprocessor's own cache.
      const ChunkMeasured& chunk = work.measured[begin + thread];
      staged.sum[thread] = __ldcg(&chunk.sums.sum);
      staged.squares[thread] = __ldcg(&chunk.sums.squares);
      staged.largest[thread] = __ldcg(&chunk.largest);
      staged.saturated[thread] = __ldcg(&chunk.saturated);
    }
    __syncthreads();
    if (thread == 0) {
      for (std::uint32_t i = 0; i < count; ++i) {
        all.sums.sum += staged.sum[i];
        all.largest = staged.largest[i] > all.largest ? staged.largest[i] : all.largest;
        all.saturated += staged.saturated[i];
      }
    } else if (thread == kWarpLanes) {
      for (std::uint32_t i = 0; i < count; ++i) all.sums.squares += staged.squares[i];
    }
  }
  if (thread == kWarpLanes) squares = all.sums.squares;
  __syncthreads();
  if (thread != 0) return;
  all.sums.squares = squares;
  make_scaler(all, work.elements, clip);
  *work.found = all;
  if (work.made != nullptr) *work.made = all.scaler;
}

/// Measures, and ternarizes in the same pass where kTrits. Whichever block of a tensor is done last
/// makes its scaler.
template <bool kSums, bool kTrits>
__global__ void __launch_bounds__(kChunkThreads, 3) measure(const EncodeLaunch launch) {
  __shared__ double sum[kSigmaBlocksPerChunk];
  __shared__ double squares[kSigmaBlocksPerChunk];
  __shared__ std::uint32_t largest[kWarpsPerChunk];
  __shared__ std::uint32_t saturated[kWarpsPerChunk];
  __shared__ Staged staged;
  __shared__ bool is_last;
  const ChunkWork chunk = launch.chunks[blockIdx.x];
  TensorWork* const tensor = launch.tensors + chunk.work;
  const std::uint32_t pair = threadIdx.x / kWarpLanes;
  const auto put = [&](std::uint32_t half, const SigmaSums& block) {
    sum[2 * pair + half] = block.sum;
    squares[2 * pair + half] = block.squares;
  };
  PairMeasured found;
  if constexpr (kTrits) {
    const float scaler = *tensor->scaler;
    const ChunkPass pass{
        chunk.values, chunk.count,           draw_of(*launch.draw, tensor->tensor, chunk.first),
        scaler,       reciprocal_of(scaler), chunk.planes};
    found = ternarize_pair<kSums>(this_warp(), pass, pair, put);
  } else {
    found = measure_pair<kSums>(this_warp(), chunk.values, chunk.count, pair, put);
  }
  if (threadIdx.x % kWarpLanes == 0) {
    largest[pair] = found.largest;
    saturated[pair] = found.saturated;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    ChunkMeasured measured;
    for (std::uint32_t warp = 0; warp < kWarpsPerChunk; ++warp) {
      measured.largest = largest[warp] > measured.largest ? largest[warp] : measured.largest;
      measured.saturated += saturated[warp];
    }
    if constexpr (kSums) {
      for (std::uint32_t block = 0; block < kSigmaBlocksPerChunk; ++block) {
        measured.sums.sum += sum[block];
        measured.sums.squares += squares[block];
      }
    }
    tensor->measured[chunk.chunk] = measured;
    __threadfence();  // before it is counted
    is_last = atomicAdd(&tensor->arrived, 1U) + 1 == tensor->chunks;
    __threadfence();
    if (is_last) tensor->arrived = 0;  // for the next launch
  }
  __syncthreads();
  if (is_last) fold_tensor(*tensor, launch.clip, staged);
}

template <std::uint32_t kInParts>
__global__ void __launch_bounds__(kPartThreads) ternarize_parts(const EncodeLaunch launch) {
  constexpr std::uint32_t kPartBlocks = kBlocksPerChunk / kInParts;
  const ChunkWork& chunk = launch.chunks[blockIdx.x / kInParts];
  const TensorWork& tensor = launch.tensors[chunk.work];
  const std::uint32_t count = chunk.count;
  const BlockDraw first = draw_of(*launch.draw, tensor.tensor, chunk.first);
  const float k = reciprocal_of(*tensor.scaler);
  const float* const values = chunk.values;
  std::byte* const planes = chunk.planes;
  const std::uint32_t part = blockIdx.x % kInParts * kPartBlocks;
  for (std::uint32_t i = threadIdx.x / kWarpLanes; i < kPartBlocks;
       i += kPartThreads / kWarpLanes) {
    const std::uint32_t block = part + i;
    const auto begin = block * static_cast<std::uint32_t>(kPlaneBlock);
    if (begin >= count) return;
    BlockDraw draw = first;
    draw.counter0 += block * kDrawsPerBlock;
    const std::uint32_t left = count - begin;
    ternarize_block(this_warp(), values + begin,
                    left < kPlaneBlock ? left : static_cast<std::uint32_t>(kPlaneBlock), draw, k,
                    planes + block * kPlaneBlockBytes);
  }
}

/// Calls f(i) for the part of the chunk's elements that this block of threads has.
template <class F>
__device__ void for_part(const ChunkWork& chunk, F f) {
  constexpr auto kPart = static_cast<std::uint32_t>(kChunkElements) / kParts;
  const std::uint32_t begin = blockIdx.x % kParts * kPart;
  for (std::uint32_t i = begin + threadIdx.x; i < begin + kPart && i < chunk.count;
       i += kPartThreads) {
    f(i);
  }
}

__global__ void __launch_bounds__(kPartThreads) take_in_parts(const EncodeLaunch launch) {
  const ChunkWork chunk = launch.chunks[blockIdx.x / kParts];
  for_part(chunk, [&](std::uint32_t i) { chunk.values[i] += chunk.incoming[i]; });
}

__global__ void __launch_bounds__(kPartThreads) keep_error_parts(const EncodeLaunch launch) {
  const ChunkWork chunk = launch.chunks[blockIdx.x / kParts];
  const TensorWork& tensor = launch.tensors[chunk.work];
  const float scaler = stands_for(tensor, *tensor.scaler, launch.clip);
  constexpr std::uint32_t kPartBlocks = kBlocksPerChunk / kParts;
  const std::uint32_t part = blockIdx.x % kParts * kPartBlocks;
  for (std::uint32_t i = threadIdx.x / kWarpLanes; i < kPartBlocks;
       i += kPartThreads / kWarpLanes) {
    const auto begin = (part + i) * static_cast<std::uint32_t>(kPlaneBlock);
    if (begin >= chunk.count) return;
    const std::uint32_t left = chunk.count - begin;
    keep_error_of_block(this_warp(), chunk.planes + (part + i) * kPlaneBlockBytes,
                        left < kPlaneBlock ? left : static_cast<std::uint32_t>(kPlaneBlock), scaler,
                        chunk.values + begin);
  }
}

// The address is aligned as an allocation is, and so is each quarter of a chunk.
__global__ void __launch_bounds__(kPartThreads) read_parts(const EncodeLaunch launch) {
  constexpr auto kPart = static_cast<std::uint32_t>(kChunkElements) / kParts / 4;
  const ChunkWork chunk = launch.chunks[blockIdx.x / kParts];
  const auto* const from = reinterpret_cast<const FourWords*>(chunk.values);
  const std::uint32_t begin = blockIdx.x % kParts * kPart;
  const std::uint32_t end = min(begin + kPart, chunk.count / 4);
  std::uint32_t mixed = 0;
  STERNA_UNROLL_BY(8)
  for (std::uint32_t i = begin + threadIdx.x; i < end; i += kPartThreads) {
    const FourWords words = from[i];
    mixed ^= words.at[0] ^ words.at[1] ^ words.at[2] ^ words.at[3];
  }
  // The compiler must believe that somebody may want to know.
  if (mixed == 0x7FEDCBA9U) launch.tensors[chunk.work].found->largest = mixed;
}

using Kernel = void (*)(EncodeLaunch);

Kernel measure_kernel(bool sums, bool ternarizes) {
  if (sums) return ternarizes ? Kernel{measure<true, true>} : Kernel{measure<true, false>};
  return ternarizes ? Kernel{measure<false, true>} : Kernel{measure<false, false>};
}

/// How a pass is launched: its kernel, and the blocks of threads that a chunk takes.
struct Shape {
  Kernel kernel;
  std::uint32_t parts;
  std::uint32_t threads;
};

Shape shape_of(EncodePass pass, float clip, std::uint32_t chunks) {
  const auto parts = [](Kernel kernel) { return Shape{kernel, kParts, kPartThreads}; };
  switch (pass) {
    case EncodePass::measure:
      return {measure_kernel(clips(clip), false), 1, kChunkThreads};
    case EncodePass::ternarize_and_measure:
      return {measure_kernel(clips(clip), true), 1, kChunkThreads};
    case EncodePass::ternarize:
      if (chunks < kFewChunks) {
        return {ternarize_parts<kSmallParts>, kSmallParts, kPartThreads};
      }
      return parts(ternarize_parts<kParts>);
    case EncodePass::take_in:
      return parts(take_in_parts);
    case EncodePass::keep_error:
      return parts(keep_error_parts);
    case EncodePass::read:
      break;
  }
  return parts(read_parts);
}

}  // namespace

int cuda_encode(EncodePass pass, const EncodeLaunch& launch, CUstream_st* stream) {
  if (launch.count == 0) return cudaSuccess;
  const Shape shape = shape_of(pass, launch.clip, launch.count);
  return launch_kernel(shape.kernel, launch.count * shape.parts, shape.threads, launch, stream);
}

}  // namespace sterna::kernels
