#include "kernels/device/cuda/cuda_device.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>

#include "kernels/device/cuda/cuda_error.h"
#include "kernels/device/cuda/cuda_libraries.h"
#include "kernels/device/cuda/nccl.h"

namespace sterna::kernels {
namespace {

/// Any thread may call, and each has a current device of its own: one that has chosen none would
/// start the first of all cards, whatever it calls.
Result<void> use_device(int device) {
  return checked(cudaSetDevice(device), "cudaSetDevice", device);
}

class CudaEvent : public DeviceEvent {
 public:
  explicit CudaEvent(int device) : device_(device) {}
  ~CudaEvent() override {
    if (event_ == nullptr) return;
    static_cast<void>(use_device(device_));
    cudaEventDestroy(event_);
  }
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;

  Result<void> make(EventUse use) {
    STERNA_TRY(use_device(device_));
    const unsigned untimed = use == EventUse::timing ? 0 : cudaEventDisableTiming;
    const unsigned awakens = use == EventUse::streams ? 0 : cudaEventBlockingSync;
    return checked(cudaEventCreateWithFlags(&event_, untimed | awakens), "cudaEventCreate",
                   device_);
  }
  Result<bool> passed() noexcept override {
    STERNA_TRY(use_device(device_));
    const cudaError_t found = cudaEventQuery(event_);
    if (found == cudaErrorNotReady) return false;
    STERNA_TRY(checked(found, "cudaEventQuery", device_));
    return true;
  }
  Result<void> wait() noexcept override {
    STERNA_TRY(use_device(device_));
    return checked(cudaEventSynchronize(event_), "cudaEventSynchronize", device_);
  }
  cudaEvent_t event() const { return event_; }

 private:
  int device_;
  cudaEvent_t event_ = nullptr;
};

cudaEvent_t event_of(DeviceEvent& event) { return static_cast<CudaEvent&>(event).event(); }

/// A graph.
class CudaRecording : public DeviceRecording {
 public:
  ~CudaRecording() override {
    static_cast<void>(use_device(device_));
    if (runs_ != nullptr) cudaGraphExecDestroy(runs_);
    if (graph_ != nullptr) cudaGraphDestroy(graph_);
  }
  explicit CudaRecording(int device) : device_(device) {}
  CudaRecording(const CudaRecording&) = delete;
  CudaRecording& operator=(const CudaRecording&) = delete;

  Result<void> end(cudaStream_t stream) {
    STERNA_TRY(checked(cudaStreamEndCapture(stream, &graph_), "cudaStreamEndCapture", device_));
    return checked(cudaGraphInstantiate(&runs_, graph_, 0), "cudaGraphInstantiate", device_);
  }
  Result<void> launch(cudaStream_t stream) const {
    return checked(cudaGraphLaunch(runs_, stream), "cudaGraphLaunch", device_);
  }

 private:
  int device_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t runs_ = nullptr;
};

class CudaStream : public DeviceStream {
 public:
  /// `fails_soon`: whether the next of the device's streams that is given something to compute
  /// makes it fail. The device has it.
  CudaStream(int device, std::atomic<bool>& fails_soon)
      : device_(device), fails_soon_(fails_soon), libraries_(make_cuda_libraries(device)) {}
  ~CudaStream() override {
    if (stream_ == nullptr) return;
    static_cast<void>(use());
    cudaStreamSynchronize(stream_);
    libraries_.reset();  // whose handles are of this stream
    cudaStreamDestroy(stream_);
  }
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  Result<void> make() {
    STERNA_TRY(use());
    return checked(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate",
                   device_);
  }

  Result<void> copy(void* to, const void* from, std::size_t bytes) noexcept override {
    if (bytes == 0) return {};
    STERNA_TRY(use());
    return checked(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_), "cudaMemcpyAsync",
                   device_);
  }
  Result<void> record(DeviceEvent& event) noexcept override {
    STERNA_TRY(use());
    // Within a graph events are for those outside, as they are elsewhere.
    const unsigned how = records_ ? cudaEventRecordExternal : cudaEventRecordDefault;
    return checked(cudaEventRecordWithFlags(event_of(event), stream_, how), "cudaEventRecord",
                   device_);
  }
  Result<void> wait_for(DeviceEvent& event) noexcept override {
    STERNA_TRY(use());
    const unsigned how = records_ ? cudaEventWaitExternal : cudaEventWaitDefault;
    return checked(cudaStreamWaitEvent(stream_, event_of(event), how), "cudaStreamWaitEvent",
                   device_);
  }
  Result<void> finish() noexcept override {
    STERNA_TRY(use());
    return checked(cudaStreamSynchronize(stream_), "cudaStreamSynchronize", device_);
  }
  Result<void> encode(EncodePass pass, const EncodeLaunch& launch) noexcept override {
    STERNA_TRY(use());
    return checked(cuda_encode(pass, launch, stream_), "launch of a pass over gradients", device_);
  }
  Result<void> encode_bf16(const EncodeLaunch& launch) noexcept override {
    STERNA_TRY(use());
    return checked(cuda_encode_bf16(launch, stream_), "launch of bf16s", device_);
  }
  Result<void> sum_trits(const SumLaunch& launch) noexcept override {
    STERNA_TRY(use());
    return checked(cuda_sum_trits(launch, stream_), "launch of a sum of trits", device_);
  }
  Result<void> update(const UpdateLaunch& launch) noexcept override {
    STERNA_TRY(use());
    return checked(cuda_update(launch, stream_), "launch of an update", device_);
  }
  Result<void> layer(const LayerLaunch& launch) noexcept override {
    STERNA_TRY(use());
    STERNA_TRY(checked(cuda_layer(launch, stream_), "launch of a layer", device_));
    return computed();
  }
  Result<void> begin_recording() noexcept override {
    STERNA_TRY(use());
    const cudaError_t begun = cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal);
    records_ = begun == cudaSuccess;
    if (!records_) cudaGetLastError();  // no sticky one: all can be done without a graph
    return checked(begun, "cudaStreamBeginCapture", device_);
  }
  Result<std::unique_ptr<DeviceRecording>> end_recording() noexcept override {
    records_ = false;
    auto recording = std::make_unique<CudaRecording>(device_);
    // Whatever fails, it ends: else what comes next would be kept, and never done.
    Result<void> made = use();
    const Result<void> ended = recording->end(stream_);
    if (made) made = ended;
    cudaGetLastError();  // no sticky one, of whatever could not be recorded
    if (!made) return made.error();
    return std::unique_ptr<DeviceRecording>(std::move(recording));
  }
  Result<void> repeat(DeviceRecording& recording) noexcept override {
    STERNA_TRY(use());
    STERNA_TRY(static_cast<CudaRecording&>(recording).launch(stream_));
    return computed();
  }
  Result<std::unique_ptr<DeviceOperation>> product(const ProductShape& shape) noexcept override {
    STERNA_TRY(use());
    return libraries_->product(shape);
  }
  Result<std::unique_ptr<DeviceOperation>> convolution(
      const ConvolutionShape& shape) noexcept override {
    STERNA_TRY(use());
    return libraries_->convolution(shape);
  }
  Result<void> run(DeviceOperation& operation, const OperationTensors& tensors) noexcept override {
    STERNA_TRY(use());
    STERNA_TRY(static_cast<CudaOperation&>(operation)
                   .run(tensors, stream_)
                   .in("device " + std::to_string(device_)));
    return computed();
  }
  cudaStream_t stream() const { return stream_; }

 private:
  Result<void> use() const { return use_device(device_); }
  /// Something to compute is on its way, and behind it the fault, where one is wanted. A recording
  /// is spared: it might come to nothing.
  Result<void> computed() {
    if (records_ || !fails_soon_.load(std::memory_order_relaxed)) return {};
    if (!fails_soon_.exchange(false)) return {};
    return checked(cuda_trap(stream_), "launch of a trap", device_);
  }

  int device_;
  std::atomic<bool>& fails_soon_;
  std::unique_ptr<CudaLibraries> libraries_;
  cudaStream_t stream_ = nullptr;
  bool records_ = false;
};

class CudaDevice : public Device {
 public:
  explicit CudaDevice(int index) : index_(index) {}

  Result<void> open() {
    STERNA_TRY(use());
    // Who waits for a stream sleeps, too, as who waits for an event does.
    STERNA_TRY(
        checked(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync), "cudaSetDeviceFlags", index_));
    cudaDeviceProp properties{};
    STERNA_TRY(
        checked(cudaGetDeviceProperties(&properties, index_), "cudaGetDeviceProperties", index_));
    facts_ = {properties.name,
              properties.major,
              properties.minor,
              properties.totalGlobalMem,
              static_cast<std::size_t>(std::max(0, properties.l2CacheSize)),
              properties.multiProcessorCount,
              index_};
    return {};
  }

  DeviceFacts facts() const noexcept override { return facts_; }
  Result<void*> allocate(std::size_t bytes) noexcept override {
    STERNA_TRY(use());
    void* memory = nullptr;
    const std::size_t wanted = std::max<std::size_t>(bytes, 1);
    const cudaError_t made = cudaMalloc(&memory, wanted);
    if (made == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // no sticky one: the next call is not to report it
      STERNA_ASSIGN(const std::size_t free, free_memory());
      return Error{Errc::overloaded, std::to_string(bytes) + " bytes do not fit into the " +
                                         std::to_string(free) + " that device " +
                                         std::to_string(index_) + " has free"};
    }
    STERNA_TRY(checked(made, "cudaMalloc", index_));
    if (const Result<void> zeroed = zero(memory, wanted); !zeroed) {
      cudaFree(memory);
      return zeroed.error();
    }
    given_.fetch_add(1, std::memory_order_relaxed);
    return memory;
  }
  void release(void* memory) noexcept override {
    static_cast<void>(use());
    cudaFree(memory);
  }
  Result<std::size_t> free_memory() noexcept override {
    STERNA_TRY(use());
    std::size_t free = 0;
    std::size_t all = 0;
    STERNA_TRY(checked(cudaMemGetInfo(&free, &all), "cudaMemGetInfo", index_));
    return free;
  }
  // What cudaMemGetInfo shows of cudaMalloc: large pieces are pages of their own, small ones share.
  std::size_t taken_by(std::size_t bytes) const noexcept override {
    constexpr std::size_t kPage = std::size_t{2} << 20U;
    constexpr std::size_t kPiece = 512;
    const std::size_t unit = bytes > kPage / 2 ? kPage : kPiece;
    return (std::max<std::size_t>(bytes, 1) + unit - 1) / unit * unit;
  }
  DeviceAllocations allocations() const noexcept override {
    return {.device = given_.load(std::memory_order_relaxed),
            .host = given_on_host_.load(std::memory_order_relaxed)};
  }
  Result<void*> allocate_on_host(std::size_t bytes) noexcept override {
    STERNA_TRY(use());
    void* memory = nullptr;
    const std::size_t wanted = std::max<std::size_t>(bytes, 1);
    const cudaError_t made = cudaHostAlloc(&memory, wanted, cudaHostAllocPortable);
    if (made != cudaSuccess) cudaGetLastError();  // no sticky one
    STERNA_TRY(checked(made, "cudaHostAlloc", index_));
    std::memset(memory, 0, wanted);
    given_on_host_.fetch_add(1, std::memory_order_relaxed);
    return memory;
  }
  void release_on_host(void* memory) noexcept override {
    static_cast<void>(use());
    cudaFreeHost(memory);
  }
  Result<std::unique_ptr<DeviceStream>> make_stream() noexcept override {
    auto stream = std::make_unique<CudaStream>(index_, fails_soon_);
    STERNA_TRY(stream->make());
    return std::unique_ptr<DeviceStream>(std::move(stream));
  }
  Result<std::unique_ptr<DeviceEvent>> make_event(EventUse use) noexcept override {
    auto event = std::make_unique<CudaEvent>(index_);
    STERNA_TRY(event->make(use));
    return std::unique_ptr<DeviceEvent>(std::move(event));
  }
  Result<bool> reach(Device& other) noexcept override {
    const int peer = static_cast<CudaDevice&>(other).index_;
    if (peer == index_) return true;
    STERNA_TRY(use());
    int can = 0;
    STERNA_TRY(
        checked(cudaDeviceCanAccessPeer(&can, index_, peer), "cudaDeviceCanAccessPeer", index_));
    if (can == 0) return false;
    const cudaError_t made = cudaDeviceEnablePeerAccess(peer, 0);
    if (made != cudaSuccess) cudaGetLastError();  // no sticky one
    if (made == cudaErrorPeerAccessAlreadyEnabled) return true;
    if (made == cudaErrorTooManyPeers) return false;
    STERNA_TRY(checked(made, "cudaDeviceEnablePeerAccess", index_));
    return true;
  }
  Result<std::unique_ptr<DeviceExchange>> exchange(
      const std::vector<std::shared_ptr<Device>>& all) noexcept override {
    std::vector<int> indices;
    indices.reserve(all.size());
    for (const auto& device : all) indices.push_back(static_cast<CudaDevice&>(*device).index_);
    return make_nccl_exchange(indices);
  }
  Result<double> seconds(DeviceEvent& from, DeviceEvent& to) noexcept override {
    constexpr double kMilli = 1e-3;
    STERNA_TRY(use());
    float milliseconds = 0;
    STERNA_TRY(checked(cudaEventElapsedTime(&milliseconds, event_of(from), event_of(to)),
                       "cudaEventElapsedTime", index_));
    return milliseconds * kMilli;
  }
  void fail_soon() noexcept override { fails_soon_ = true; }

 private:
  Result<void> use() const { return use_device(index_); }
  // Memory is planned before step 0, so that waiting here costs no step anything.
  Result<void> zero(void* memory, std::size_t bytes) const {
    STERNA_TRY(checked(cudaMemset(memory, 0, bytes), "cudaMemset", index_));
    return checked(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize", index_);
  }

  int index_;
  DeviceFacts facts_;
  std::atomic<std::uint64_t> given_{0};
  std::atomic<std::uint64_t> given_on_host_{0};
  std::atomic<bool> fails_soon_{false};
};

}  // namespace

CUstream_st* stream_of(DeviceStream& stream) { return static_cast<CudaStream&>(stream).stream(); }

Result<std::unique_ptr<Device>> open_cuda_device(int index) {
  auto device = std::make_unique<CudaDevice>(index);
  STERNA_TRY(device->open());
  return std::unique_ptr<Device>(std::move(device));
}

}  // namespace sterna::kernels
