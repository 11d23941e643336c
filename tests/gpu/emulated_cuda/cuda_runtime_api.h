// As much of CUDA's runtime as the module calls, on the host: memory is the host's, and all work is
// done at once, or, of a stream that is captured, whenever its graph is launched. There are eight
// devices, of which the first four reach each other's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

enum cudaError_t : int {
  cudaSuccess = 0,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidValue = 1,
  cudaErrorDevicesUnavailable = 46,
  cudaErrorECCUncorrectable = 214,
  cudaErrorPeerAccessUnsupported = 217,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700,
  cudaErrorLaunchTimeout = 702,
  cudaErrorPeerAccessAlreadyEnabled = 704,
  cudaErrorTooManyPeers = 711,
  cudaErrorHardwareStackError = 714,
  cudaErrorIllegalInstruction = 715,
  cudaErrorMisalignedAddress = 716,
  cudaErrorLaunchFailure = 719,
  cudaErrorNotSupported = 801,
  cudaErrorStreamCaptureUnsupported = 900,
  cudaErrorStreamCaptureInvalidated = 901,
  cudaErrorIllegalState = 401,
  cudaErrorCapturedEvent = 907,
  cudaErrorUnknown = 999,
};
enum cudaMemcpyKind { cudaMemcpyDefault = 4 };
// By the names that the runtime has.
// NOLINTBEGIN(readability-identifier-naming)
inline constexpr unsigned cudaDeviceScheduleBlockingSync = 4;
inline constexpr unsigned cudaStreamNonBlocking = 1;
inline constexpr unsigned cudaEventBlockingSync = 1;
inline constexpr unsigned cudaEventDisableTiming = 2;
inline constexpr unsigned cudaHostAllocPortable = 1;
inline constexpr unsigned cudaEventRecordDefault = 0;
inline constexpr unsigned cudaEventRecordExternal = 1;
inline constexpr unsigned cudaEventWaitDefault = 0;
inline constexpr unsigned cudaEventWaitExternal = 1;
// NOLINTEND(readability-identifier-naming)

enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal = 1 };
struct CUgraph_st {
  std::vector<std::function<cudaError_t()>> nodes;
};
using cudaGraph_t = CUgraph_st*;
struct CUgraphExec_st {
  CUgraph_st of;
};
using cudaGraphExec_t = CUgraphExec_st*;
struct CUstream_st {
  CUgraph_st* captured = nullptr;  ///< what comes next is kept there
};
using cudaStream_t = CUstream_st*;
struct CUevent_st {
  double seconds = 0;
  bool captured = false;  ///< recorded last within a graph, and for that alone
};
using cudaEvent_t = CUevent_st*;

struct cudaDeviceProp {
  char name[256];
  int major;
  int minor;
  std::size_t totalGlobalMem;
  int l2CacheSize;
  int multiProcessorCount;
};

const char* cudaGetErrorString(cudaError_t error);
const char* cudaGetErrorName(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t cudaSetDeviceFlags(unsigned flags);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* all);
cudaError_t cudaMalloc(void** memory, std::size_t bytes);
cudaError_t cudaFree(void* memory);
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned flags);
cudaError_t cudaFreeHost(void* memory);
cudaError_t cudaMemset(void* memory, int value, std::size_t bytes);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to);
cudaError_t cudaEventDestroy(cudaEvent_t event);
/// By one thread at a time, which does nothing unsafe meanwhile, as in the mode that is
/// thread-local.
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* runs, cudaGraph_t graph,
                                 unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t runs, cudaStream_t stream);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t runs);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
