// Code of a device's kernels that is written once, for nvcc and for the host's compiler.
//
// Such code works on the 32 lanes of a warp through a Warp: a CudaWarp on the device, where each
// lane runs it for itself, or a HostWarp, which holds all lanes, so that a CPU runs the very
// arithmetic of a kernel, index by index. What differs between the lanes lies in a
// Warp::Each<T>, and is reached within warp.each(...) and the other functions by the lane's number.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

// The tests compile kernels for the host, where headers of theirs play CUDA's.
#ifdef STERNA_EMULATED_CUDA
#include <cuda_runtime.h>
#endif

#ifdef __CUDACC__
#define STERNA_DEVICE __device__ __forceinline__
#define STERNA_UNROLL _Pragma("unroll")
#define STERNA_PRAGMA(text) _Pragma(#text)
#define STERNA_UNROLL_BY(n) STERNA_PRAGMA(unroll n)
#else
#define STERNA_DEVICE inline
#define STERNA_UNROLL
#define STERNA_UNROLL_BY(n)
#endif

namespace sterna::kernels {

inline constexpr std::uint32_t kWarpLanes = 32;

/// All lanes of a warp, one after the other.
class HostWarp {
 public:
  /// Whether each lane runs all of the code by itself.
  static constexpr bool kLanesApart = false;
  template <class T>
  using Each = std::array<T, kWarpLanes>;

  /// Calls f(lane) for every lane.
  template <class F>
  void each(F f) const {
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) f(lane);
  }
  /// The 32 truths f(lane), lane 0 in the lowest bit.
  template <class F>
  std::uint32_t ballot(F f) const {
    std::uint32_t bits = 0;
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) bits |= std::uint32_t{f(lane)} << lane;
    return bits;
  }
  /// The largest and the sum of the lanes' f(lane).
  template <class F>
  std::uint32_t largest(F f) const {
    std::uint32_t found = 0;
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) found = std::max(found, f(lane));
    return found;
  }
  template <class F>
  std::uint32_t sum(F f) const {
    std::uint32_t found = 0;
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) found += f(lane);
    return found;
  }
  /// What lane `from` has; only within each(), and called by every lane.
  template <class T>
  static const T& of_lane(const Each<T>& values, std::uint32_t from) {
    return values[from];
  }
};

#if defined(__CUDACC__) || defined(STERNA_EMULATED_CUDA)
/// The lane of the thread that runs it; all 32 run it together.
class CudaWarp {
 public:
  static constexpr bool kLanesApart = true;
  static constexpr std::uint32_t kAll = 0xFFFFFFFFU;

  template <class T>
  struct Each {
    T own;
    STERNA_DEVICE T& operator[](std::uint32_t) { return own; }
    STERNA_DEVICE const T& operator[](std::uint32_t) const { return own; }
  };

  STERNA_DEVICE explicit CudaWarp(std::uint32_t lane) : lane_(lane) {}

  template <class F>
  STERNA_DEVICE void each(F f) const {
    f(lane_);
  }
  template <class F>
  STERNA_DEVICE std::uint32_t ballot(F f) const {
    return __ballot_sync(kAll, f(lane_));
  }
  template <class F>
  STERNA_DEVICE std::uint32_t largest(F f) const {
    return __reduce_max_sync(kAll, f(lane_));
  }
  template <class F>
  STERNA_DEVICE std::uint32_t sum(F f) const {
    return __reduce_add_sync(kAll, f(lane_));
  }
  template <class T>
  STERNA_DEVICE static T of_lane(const Each<T>& values, std::uint32_t from) {
    return __shfl_sync(kAll, values.own, static_cast<int>(from));
  }

 private:
  std::uint32_t lane_;
};
#endif

/// Four words of a plane, which a device reads and writes at once: 16-byte aligned there.
struct alignas(16) FourWords {
  std::uint32_t at[4];
};

}  // namespace sterna::kernels
