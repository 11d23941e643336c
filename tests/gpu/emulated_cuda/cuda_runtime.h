// CUDA's words in kernels, on the host: a launch runs its blocks of threads one after the other, in
// any order, each thread in a fiber of its own (thread_block.h).
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <type_traits>

#include "cuda_runtime_api.h"
#include "cuda_watch.h"
#include "thread_block.h"

#define __global__
#define __device__
#define __launch_bounds__(...)
#define __forceinline__ inline
#define __shared__ static  // one block of threads runs at a time

struct dim3 {
  explicit dim3(unsigned size) : x(size) {}
  unsigned x;
};

// NOLINTBEGIN(bugprone-reserved-identifier): they are CUDA's
inline const sterna::ThreadIndex& threadIdx = sterna::this_thread();
inline const sterna::ThreadIndex& blockIdx = sterna::this_block();

inline void __syncthreads() { sterna::wait_for_block(); }
inline void __threadfence() {}
inline void __trap() { sterna::CudaWatch::trap(); }

inline std::uint32_t __ballot_sync(std::uint32_t, bool truth) {
  std::uint32_t bits = 0;
  const auto& lanes = sterna::exchange_in_warp(truth ? 1 : 0);
  for (unsigned lane = 0; lane < lanes.size(); ++lane) bits |= std::uint32_t(lanes[lane]) << lane;
  return bits;
}
inline std::uint32_t __reduce_max_sync(std::uint32_t, std::uint32_t value) {
  const auto& lanes = sterna::exchange_in_warp(value);
  return static_cast<std::uint32_t>(*std::ranges::max_element(lanes));
}
inline std::uint32_t __reduce_add_sync(std::uint32_t, std::uint32_t value) {
  std::uint32_t sum = 0;
  for (const std::uint64_t one : sterna::exchange_in_warp(value)) sum += std::uint32_t(one);
  return sum;
}
inline float __shfl_sync(std::uint32_t, float value, int from) {
  const auto& lanes = sterna::exchange_in_warp(std::bit_cast<std::uint32_t>(value));
  return std::bit_cast<float>(static_cast<std::uint32_t>(lanes[static_cast<unsigned>(from)]));
}
inline double __shfl_sync(std::uint32_t, double value, int from) {
  const auto& lanes = sterna::exchange_in_warp(std::bit_cast<std::uint64_t>(value));
  return std::bit_cast<double>(std::uint64_t{lanes[static_cast<unsigned>(from)]});
}
template <class T>
T __ldcg(const T* from) {
  return *from;
}
inline std::uint32_t atomicAdd(std::uint32_t* to, std::uint32_t value) {
  const std::uint32_t before = *to;
  *to += value;
  return before;
}
// NOLINTEND(bugprone-reserved-identifier)
inline std::uint32_t min(std::uint32_t a, std::uint32_t b) { return std::min(a, b); }

namespace sterna {
/// Does the work, or, where the stream is captured, keeps it.
cudaError_t put_on(cudaStream_t stream, std::function<cudaError_t()> work);
}  // namespace sterna

template <class Launch>
cudaError_t cudaLaunchKernel(void (*kernel)(Launch), dim3 blocks, dim3 threads, void** arguments,
                             std::size_t, cudaStream_t stream) {
  if (const cudaError_t failed = sterna::CudaWatch::call(); failed != cudaSuccess) return failed;
  const Launch launch = *static_cast<const Launch*>(arguments[0]);
  return sterna::put_on(stream, [=] {
    sterna::run_blocks(blocks.x, threads.x, [&] { kernel(launch); });
    return cudaSuccess;
  });
}
