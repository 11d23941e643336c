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
/// The stream that this thread captures, and whether something has come that no graph can have.
thread_local cudaStream_t capturing = nullptr;
thread_local bool capture_is_invalid = false;
bool reaches[kReaching][kReaching];

/// A call that waits, or takes memory: no thread makes it while it captures a stream.
cudaError_t unsafe_call() {
  if (const cudaError_t failed = CudaWatch::call(); failed != cudaSuccess) return failed;
  if (capturing == nullptr) return cudaSuccess;
  capture_is_invalid = true;
  return cudaErrorStreamCaptureUnsupported;
}

cudaError_t allocate(void** memory, std::size_t bytes, int LiveCuda::*kind) {
  if (const cudaError_t failed = unsafe_call(); failed != cudaSuccess) return failed;
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

void record(cudaEvent_t event) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  event->seconds = std::chrono::duration<double>(now).count();
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
  if (const cudaError_t failed = unsafe_call(); failed != cudaSuccess) return failed;
  std::memset(memory, value, bytes);
  return cudaSuccess;
}
cudaError_t sterna::put_on(cudaStream_t stream, std::function<cudaError_t()> work) {
  if (stream == nullptr || stream->captured == nullptr) return work();
  if (capture_is_invalid) return cudaErrorStreamCaptureInvalidated;
  stream->captured->nodes.push_back(std::move(work));
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  if (const cudaError_t failed = CudaWatch::call(); failed != cudaSuccess) return failed;
  return sterna::put_on(stream, [=] {
    std::memcpy(to, from, bytes);
    return cudaSuccess;
  });
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return called([&] {
    *stream = new CUstream_st;
    CudaWatch::count(&LiveCuda::streams, 1);
  });
}
cudaError_t cudaStreamSynchronize(cudaStream_t) { return unsafe_call(); }
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  CudaWatch::count(&LiveCuda::streams, -1);
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  if (const cudaError_t failed = CudaWatch::call(); failed != cudaSuccess) return failed;
  const bool within = stream->captured != nullptr;
  if (flags == cudaEventWaitExternal && !within) return cudaErrorInvalidValue;
  if (event->captured && (!within || flags == cudaEventWaitExternal)) return cudaErrorCapturedEvent;
  return sterna::put_on(stream, [] { return cudaSuccess; });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (const cudaError_t failed = unsafe_call(); failed != cudaSuccess) return failed;
  return event->captured ? cudaErrorCapturedEvent : cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return called([&] {
    *event = new CUevent_st;
    CudaWatch::count(&LiveCuda::events, 1);
  });
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  if (const cudaError_t failed = CudaWatch::call(); failed != cudaSuccess) return failed;
  const bool within = stream->captured != nullptr;
  if (flags == cudaEventRecordExternal && !within) return cudaErrorInvalidValue;
  event->captured = within && flags != cudaEventRecordExternal;
  return sterna::put_on(stream, [event] {
    record(event);
    return cudaSuccess;
  });
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (const cudaError_t failed = unsafe_call(); failed != cudaSuccess) return failed;
  return event->captured ? cudaErrorCapturedEvent : cudaSuccess;
}
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
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  if (const cudaError_t failed = CudaWatch::call(); failed != cudaSuccess) return failed;
  if (stream == nullptr || capturing != nullptr) return cudaErrorIllegalState;
  stream->captured = new CUgraph_st;
  capturing = stream;
  capture_is_invalid = false;
  CudaWatch::count(&LiveCuda::graphs, 1);
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  if (capturing != stream) return cudaErrorIllegalState;
  capturing = nullptr;
  CUgraph_st* const captured = std::exchange(stream->captured, nullptr);
  const cudaError_t failed = CudaWatch::call();
  if (failed == cudaSuccess && !capture_is_invalid) {
    *graph = captured;
    return cudaSuccess;
  }
  cudaGraphDestroy(captured);
  return failed != cudaSuccess ? failed : cudaErrorStreamCaptureInvalidated;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* runs, cudaGraph_t graph, unsigned long long) {
  return called([&] {
    *runs = new CUgraphExec_st{*graph};
    CudaWatch::count(&LiveCuda::graphs, 1);
  });
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t runs, cudaStream_t stream) {
  if (const cudaError_t failed = CudaWatch::call(); failed != cudaSuccess) return failed;
  return sterna::put_on(stream, [runs] {
    for (const auto& node : runs->of.nodes) {
      if (const cudaError_t failed = node(); failed != cudaSuccess) return failed;
    }
    return cudaSuccess;
  });
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t runs) {
  CudaWatch::count(&LiveCuda::graphs, -1);
  delete runs;
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  CudaWatch::count(&LiveCuda::graphs, -1);
  delete graph;
  return cudaSuccess;
}
