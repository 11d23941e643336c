#include "cuda_watch.h"

#include <utility>

namespace sterna {
namespace {

/// CUDA's functions have no object to be called on, and so none to look at but the thread's.
CudaWatch*& watch_of_this_thread() {
  thread_local CudaWatch* watch = nullptr;
  return watch;
}

}  // namespace

CudaWatch::CudaWatch(std::uint64_t fails_at, cudaError_t how) : fails_at_(fails_at), how_(how) {
  watch_of_this_thread() = this;
}

CudaWatch::~CudaWatch() { watch_of_this_thread() = nullptr; }

void CudaWatch::trap() {
  if (CudaWatch* const watch = watch_of_this_thread()) watch->trapped_ = true;
}

cudaError_t CudaWatch::call() {
  CudaWatch* const watch = watch_of_this_thread();
  if (watch == nullptr) return cudaSuccess;
  if (!watch->chose_) ++watch->astray_;
  if (watch->trapped_) return cudaErrorLaunchFailure;
  const std::uint64_t call = ++watch->calls_;
  const bool fails =
      call == watch->fails_at_ || (call > watch->fails_at_ && watch->fails_at_ != 0 &&
                                   watch->how_ != cudaErrorMemoryAllocation);
  if (!fails) return cudaSuccess;
  return watch->left_behind_ = watch->how_;
}

void CudaWatch::choose() {
  if (CudaWatch* const watch = watch_of_this_thread()) watch->chose_ = true;
}

cudaError_t CudaWatch::take_left_behind() {
  CudaWatch* const watch = watch_of_this_thread();
  return watch == nullptr ? cudaSuccess : std::exchange(watch->left_behind_, cudaSuccess);
}

void CudaWatch::count(int LiveCuda::*kind, int more) {
  CudaWatch* const watch = watch_of_this_thread();
  if (watch == nullptr) return;
  if (!watch->chose_) ++watch->astray_;
  watch->live_.*kind += more;
}

}  // namespace sterna
