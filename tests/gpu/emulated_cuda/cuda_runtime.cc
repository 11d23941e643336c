#include "cuda_runtime.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "cuda_watch.h"

namespace {

using sterna::CudaWatch;
using sterna::LiveCuda;

constexpr std::size_t kAlignment = 256;
constexpr std::size_t kMemory = std::size_t{1} << 30U;
constexpr int kDevices = 8;
constexpr int kReaching = 4;  // the first of them

thread_local int current_device = 0;
bool reaches[kReaching][kReaching];

cudaError_t allocate(void** memory, std::size_t bytes, int LiveCuda::*kind) {
  if (const cudaError_t failed = CudaWatch::call(); failed != cudaSuccess) return failed;
  if (bytes > kMemory) return cudaErrorMemoryAllocation;
  *memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (*memory == nullptr) return cudaErrorMemoryAllocation;
  CudaWatch::count(kind, 1);
  return cudaSuccess;
}

cudaError_t give_back(void* memory, int LiveCuda::*kind) {
  if (memory != nullptr) CudaWatch::count(kind, -1);
  std::free(memory);
  return cudaSuccess;
}

/// What a call comes to that does `work` where it does not fail.
template <class Work>
cudaError_t called(Work work) {
  const cudaError_t failed = CudaWatch::call();
  if (failed == cudaSuccess) work();
  return failed;
}

}  // namespace

const char* cudaGetErrorString(cudaError_t error) {
  if (error == cudaErrorLaunchFailure) return "unspecified launch failure";
  return error == cudaErrorIllegalAddress ? "an illegal memory access was encountered"
                                          : "an error of the emulation";
}
const char* cudaGetErrorName(cudaError_t error) {
  if (error == cudaErrorLaunchFailure) return "cudaErrorLaunchFailure";
  return error == cudaErrorIllegalAddress ? "cudaErrorIllegalAddress" : "cudaErrorEmulated";
}
cudaError_t cudaGetLastError() { return CudaWatch::take_left_behind(); }
cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= kDevices) return cudaErrorInvalidValue;
  CudaWatch::choose();
  return called([&] { current_device = device; });
}
cudaError_t cudaSetDeviceFlags(unsigned) { return CudaWatch::call(); }
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return called([&] { *can = device != peer && std::max(device, peer) < kReaching ? 1 : 0; });
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
  int can = 0;
  if (const cudaError_t failed = cudaDeviceCanAccessPeer(&can, current_device, peer);
      failed != cudaSuccess) {
    return failed;
  }
  if (can == 0) return cudaErrorPeerAccessUnsupported;
  bool& reached = reaches[static_cast<std::size_t>(current_device)][static_cast<std::size_t>(peer)];
  return std::exchange(reached, true) ? cudaErrorPeerAccessAlreadyEnabled : cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  return called([&] {
    std::strcpy(properties->name, "emulation");
    properties->major = 8;
    properties->minor = 0;
    properties->totalGlobalMem = kMemory;
    properties->l2CacheSize = 0;
    properties->multiProcessorCount = 1;
  });
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* all) {
  return called([&] { *free = *all = kMemory; });
}
cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  return allocate(memory, bytes, &LiveCuda::memory);
}
cudaError_t cudaFree(void* memory) { return give_back(memory, &LiveCuda::memory); }
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
  return allocate(memory, bytes, &LiveCuda::pinned);
}
cudaError_t cudaFreeHost(void* memory) { return give_back(memory, &LiveCuda::pinned); }
cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  return called([&] { std::memset(memory, value, bytes); });
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t) {
  return called([&] { std::memcpy(to, from, bytes); });
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return called([&] {
    *stream = new CUstream_st;
    CudaWatch::count(&LiveCuda::streams, 1);
  });
}
cudaError_t cudaStreamSynchronize(cudaStream_t) { return CudaWatch::call(); }
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  CudaWatch::count(&LiveCuda::streams, -1);
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return CudaWatch::call(); }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return CudaWatch::call(); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return called([&] {
    *event = new CUevent_st;
    CudaWatch::count(&LiveCuda::events, 1);
  });
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t, unsigned) {
  return called([&] {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    event->seconds = std::chrono::duration<double>(now).count();
  });
}
cudaError_t cudaEventQuery(cudaEvent_t) { return CudaWatch::call(); }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  constexpr double kMilli = 1e3;
  return called(
      [&] { *milliseconds = static_cast<float>((to->seconds - from->seconds) * kMilli); });
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  CudaWatch::count(&LiveCuda::events, -1);
  delete event;
  return cudaSuccess;
}
