#include "cuda_watch.h"

namespace sterna {
namespace {

/// CUDA's functions have no object to be called on, and so none to look at but the thread's.
CudaWatch*& watch_of_this_thread() {
  thread_local CudaWatch* watch = nullptr;
  return watch;
}

}  // namespace

CudaWatch::CudaWatch(std::uint64_t fails_at) : fails_at_(fails_at) {
  watch_of_this_thread() = this;
}

CudaWatch::~CudaWatch() { watch_of_this_thread() = nullptr; }

void CudaWatch::trap() {
  if (CudaWatch* const watch = watch_of_this_thread()) watch->trapped_ = true;
}

cudaError_t CudaWatch::call() {
  CudaWatch* const watch = watch_of_this_thread();
  if (watch == nullptr) return cudaSuccess;
  if (watch->trapped_) return cudaErrorLaunchFailure;
  const bool fails = ++watch->calls_ >= watch->fails_at_ && watch->fails_at_ != 0;
  return fails ? cudaErrorIllegalAddress : cudaSuccess;
}

void CudaWatch::count(int LiveCuda::*kind, int more) {
  if (CudaWatch* const watch = watch_of_this_thread()) watch->live_.*kind += more;
}

}  // namespace sterna
