// What a test wants to know of the emulated CUDA that it calls, and what is to fail of it.
#pragma once

#include <cstdint>

#include "cuda_runtime_api.h"

namespace sterna {

/// What was made and not given back.
struct LiveCuda {
  int memory = 0;  ///< pieces of the device's
  int pinned = 0;  ///< pieces of the host's
  int streams = 0;
  int events = 0;
  int graphs = 0;  ///< also those that can be launched
  friend bool operator==(const LiveCuda&, const LiveCuda&) = default;
};

/// Of the calls of the thread that has made it, for as long as it lives; one at a time.
class CudaWatch {
 public:
  /// From the call of this number on, counted from 1, each fails: as after an error that lies with
  /// the context. For lack of memory that one alone does. 0: none does.
  explicit CudaWatch(std::uint64_t fails_at = 0, cudaError_t how = cudaErrorIllegalAddress);
  ~CudaWatch();
  CudaWatch(const CudaWatch&) = delete;
  CudaWatch& operator=(const CudaWatch&) = delete;

  /// So far, but for those that give something back.
  std::uint64_t calls() const { return calls_; }
  const LiveCuda& live() const { return live_; }
  /// Calls of any kind before one has chosen a device: a real one would start the first card.
  std::uint64_t astray() const { return astray_; }
  /// What the last call that failed left to be read by a later one.
  cudaError_t left_behind() const { return left_behind_; }

  /// Of a kernel of this thread's: each later call fails.
  static void trap();
  /// A call of this thread: what it comes to before it has done anything.
  static cudaError_t call();
  /// The one that is to be made now chooses a device.
  static void choose();
  /// What the last that failed left behind, which is gone then.
  static cudaError_t take_left_behind();
  /// Adds to what is live of one kind.
  static void count(int LiveCuda::*kind, int more);

 private:
  std::uint64_t fails_at_;
  cudaError_t how_;
  cudaError_t left_behind_ = cudaSuccess;
  bool chose_ = false;
  std::uint64_t astray_ = 0;
  std::uint64_t calls_ = 0;
  bool trapped_ = false;
  LiveCuda live_;
};

}  // namespace sterna
