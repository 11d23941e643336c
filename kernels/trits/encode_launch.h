// What a device is told to ternarize: tables in its memory, so that one launch serves all tensors
// that are ready. Plain data that host and device read alike.
#pragma once

#include <cstddef>
#include <cstdint>

struct CUstream_st;  // a cudaStream_t points to one

namespace sterna::kernels {

/// The sums of TRITS.md, S1 and S2, of a block of 4,096 elements or of what blocks make up.
struct SigmaSums {
  double sum = 0;
  double squares = 0;
};

/// The statistics of one chunk of 65,536 elements (ChunkStatistics without its blocks).
struct ChunkMeasured {
  SigmaSums sums;               ///< with clipping
  std::uint32_t largest = 0;    ///< without clipping: the bits of max |g|
  std::uint32_t saturated = 0;  ///< elements with |g| > s, counted only where trits were made
};

/// The statistics of a tensor, and the scaler that they make.
struct TensorMeasured {
  SigmaSums sums;
  std::uint64_t saturated = 0;
  std::uint32_t largest = 0;
  float scaler = 0;  ///< s, which error feedback does not change; 0 if not finite
  /// 1: there is no scaler, as GradientStatistics::scaler gives none.
  std::uint32_t non_finite = 0;
};

/// A tensor. All addresses are the device's.
struct TensorWork {
  std::uint64_t elements = 0;
  std::uint32_t tensor = 0;  ///< its place in the table of parameters
  std::uint32_t chunks = 0;
  std::uint32_t fed_back = 0;         ///< 1: its trits stand for fed_back_scaler(*scaler); bf16s
                                      ///< leave in `values` what they were rounded by
  std::uint32_t arrived = 0;          ///< the device's own: chunks that a launch has measured
  ChunkMeasured* measured = nullptr;  ///< of its first chunk
  TensorMeasured* found = nullptr;    ///< written by whoever measures
  float* made = nullptr;              ///< gets the scaler that was found; null: nobody
  const float* scaler = nullptr;      ///< under which trits are drawn: read by whoever ternarizes
};

/// A chunk of a tensor: 65,536 elements, the last one fewer.
struct ChunkWork {
  float* values = nullptr;          ///< what is encoded; its residual, with error feedback
  const float* incoming = nullptr;  ///< with error feedback: the gradient, which is added first
  std::byte* planes = nullptr;      ///< 16-byte aligned; planes_bytes(count), or 2 * count of bf16
  std::uint64_t first = 0;          ///< its first element's index within the tensor
  std::uint32_t count = 0;
  std::uint32_t work = 0;   ///< its tensor's index in EncodeLaunch::tensors
  std::uint32_t chunk = 0;  ///< its index within the tensor
};

/// What the draws of all tensors of a step share; in the device's memory, as a step that is
/// captured once takes a new one each time.
struct StepOfRank {
  std::uint64_t seed = 0;
  std::uint32_t step = 0;
  std::uint32_t rank = 0;
};

struct EncodeLaunch {
  const ChunkWork* chunks = nullptr;
  std::uint32_t count = 0;  ///< of chunks
  TensorWork* tensors = nullptr;
  const StepOfRank* draw = nullptr;
  float clip = 0;
};

/// What one launch does with all its chunks.
enum class EncodePass : std::uint32_t {
  measure,                ///< fills the tensors' `found` and `made`
  ternarize,              ///< fills the planes with trits under the tensors' `scaler`
  ternarize_and_measure,  ///< both, while the gradient is read once
  take_in,                ///< values += incoming
  keep_error,             ///< values -= what the trits stand for
  read,                   ///< nothing but reading the values: what speeds are compared with
};

/// Puts one launch on a stream of CUDA's (encode.cu) and returns a cudaError_t.
int cuda_encode(EncodePass pass, const EncodeLaunch& launch, CUstream_st* stream);

}  // namespace sterna::kernels
