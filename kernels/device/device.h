// A device that computes beside the host: its memory, its streams of work, and the passes on it of
// the codec and of a net's layers. Pure interfaces: a CUDA device's are implemented by a module
// that is loaded where there is one (cuda_module.h), the host's own by host_device.h, for tests.
//
// Nothing waits but DeviceStream::finish() and DeviceEvent::wait(): the rest puts work on a stream
// and returns. What it reads and writes, tables included, must stay until the stream has done it.
// An error that comes late is the result of a later call, and overloaded where memory is lacking,
// the device's or the host's, whatever wanted it. No function throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/device/operation.h"
#include "kernels/layers/layer_launch.h"
#include "kernels/optimizer/update_launch.h"
#include "kernels/sums/sum_launch.h"
#include "kernels/trits/encode_launch.h"
#include "runtime/base/result.h"

namespace sterna::kernels {

class DeviceExchange;

struct DeviceFacts {
  std::string name;  ///< "NVIDIA H100 80GB HBM3"
  int major = 0;     ///< of its compute capability
  int minor = 0;
  std::size_t memory = 0;  ///< bytes
  std::size_t cache = 0;   ///< bytes of the cache that all of it shares
  int multiprocessors = 0;
  int index = 0;  ///< of those that the driver shows
};

/// A point in a stream. Made by a Device, and recorded again and again.
class DeviceEvent {
 public:
  virtual ~DeviceEvent() = default;
  /// Whether the stream has passed where it was recorded last; true before it is.
  virtual Result<bool> passed() noexcept = 0;
  /// Sleeps until it has.
  virtual Result<void> wait() noexcept = 0;

 protected:
  DeviceEvent() = default;
  DeviceEvent(const DeviceEvent&) = default;
  DeviceEvent& operator=(const DeviceEvent&) = default;
};

/// Work that a stream has recorded, to be put on it again as one piece.
class DeviceRecording {
 public:
  virtual ~DeviceRecording() = default;

 protected:
  DeviceRecording() = default;
  DeviceRecording(const DeviceRecording&) = default;
  DeviceRecording& operator=(const DeviceRecording&) = default;
};

/// Work that is done in the order in which it came; streams wait for each other only by events.
class DeviceStream {
 public:
  virtual ~DeviceStream() = default;

  /// Copies bytes between any two places, the host's or the device's.
  virtual Result<void> copy(void* to, const void* from, std::size_t bytes) noexcept = 0;
  virtual Result<void> record(DeviceEvent& event) noexcept = 0;
  /// What comes next waits until `event`'s stream has passed where it was recorded last.
  virtual Result<void> wait_for(DeviceEvent& event) noexcept = 0;
  /// Waits until all is done.
  virtual Result<void> finish() noexcept = 0;

  virtual Result<void> encode(EncodePass pass, const EncodeLaunch& launch) noexcept = 0;
  virtual Result<void> encode_bf16(const EncodeLaunch& launch) noexcept = 0;
  virtual Result<void> sum_trits(const SumLaunch& launch) noexcept = 0;
  virtual Result<void> update(const UpdateLaunch& launch) noexcept = 0;
  virtual Result<void> layer(const LayerLaunch& launch) noexcept = 0;
  /// What comes next is not done but kept, events included, until end_recording(). Errors:
  /// unavailable, where the device cannot; nothing is recorded then.
  virtual Result<void> begin_recording() noexcept = 0;
  /// What was kept. Errors: some of it cannot be done so; the stream is as before either way.
  virtual Result<std::unique_ptr<DeviceRecording>> end_recording() noexcept = 0;
  /// As if all of it were put on the stream anew, with the same arguments. Its events count as
  /// recorded from now on.
  virtual Result<void> repeat(DeviceRecording& recording) noexcept = 0;
  /// A library's, for this stream alone, which outlives it: what a library keeps between calls no
  /// two streams share. Null: it has none of this shape. Errors: unavailable, where the library
  /// that a device of this kind computes with is not there.
  virtual Result<std::unique_ptr<DeviceOperation>> product(const ProductShape& shape) noexcept = 0;
  virtual Result<std::unique_ptr<DeviceOperation>> convolution(
      const ConvolutionShape& shape) noexcept = 0;
  /// One that this stream has made.
  virtual Result<void> run(DeviceOperation& operation,
                           const OperationTensors& tensors) noexcept = 0;

 protected:
  DeviceStream() = default;
  DeviceStream(const DeviceStream&) = default;
  DeviceStream& operator=(const DeviceStream&) = default;
};

/// How often a device has given out memory since it was opened: a step that is planned takes none.
struct DeviceAllocations {
  std::uint64_t device = 0;  ///< of its own
  std::uint64_t host = 0;    ///< of the host's
  friend bool operator==(const DeviceAllocations&, const DeviceAllocations&) = default;
};

/// What an event is for: the less, the less a device does where it is recorded.
enum class EventUse : std::uint8_t {
  streams,  ///< others wait for it; the host may, too, but would spin
  host,     ///< the host waits for it as well, asleep
  timing,   ///< likewise, and asks when it was (Device::seconds)
};

/// Outlives what it has made. Any thread may call it and what it has made, one at a time each.
class Device {
 public:
  virtual ~Device() = default;

  virtual DeviceFacts facts() const noexcept = 0;
  /// Bytes of the device's memory, zeroed, at a multiple of 256. Errors: overloaded where so many
  /// are not free, with how many are; unavailable, the device's.
  virtual Result<void*> allocate(std::size_t bytes) noexcept = 0;
  virtual void release(void* memory) noexcept = 0;
  /// Bytes of the device's memory that nobody has, other processes included. Errors: the device's.
  virtual Result<std::size_t> free_memory() noexcept = 0;
  /// How many of them allocate() takes for so many.
  virtual std::size_t taken_by(std::size_t bytes) const noexcept = 0;
  virtual DeviceAllocations allocations() const noexcept = 0;
  /// Bytes of the host's memory, zeroed, at a multiple of 256, that copies need not stage.
  virtual Result<void*> allocate_on_host(std::size_t bytes) noexcept = 0;
  virtual void release_on_host(void* memory) noexcept = 0;
  virtual Result<std::unique_ptr<DeviceStream>> make_stream() noexcept = 0;
  virtual Result<std::unique_ptr<DeviceEvent>> make_event(EventUse use) noexcept = 0;
  /// Whether copies from `other`, which is of the same kind, come straight from its memory from now
  /// on: what this machine has no way for is staged through the host's. Errors: the device's.
  virtual Result<bool> reach(Device& other) noexcept = 0;
  /// A library's among `all`, which are distinct, of this kind, and this one among them; null:
  /// there is none for this kind. Errors: unavailable, where that library is not there or does not
  /// start.
  virtual Result<std::unique_ptr<DeviceExchange>> exchange(
      const std::vector<std::shared_ptr<Device>>& all) noexcept = 0;
  /// Seconds from one event to another, both for timing, recorded and passed.
  virtual Result<double> seconds(DeviceEvent& from, DeviceEvent& to) noexcept = 0;
  /// On purpose: behind what one of its streams is given next to compute, the device fails for
  /// good, as one does of which a kernel traps. May be called while others use it.
  virtual void fail_soon() noexcept = 0;

 protected:
  Device() = default;
  Device(const Device&) = default;
  Device& operator=(const Device&) = default;
};

/// What the module of a kind of device gives.
class DeviceModule {
 public:
  virtual ~DeviceModule() = default;
  /// Device `index` of those that the driver shows.
  virtual Result<std::unique_ptr<Device>> open(int index) noexcept = 0;

 protected:
  DeviceModule() = default;
  DeviceModule(const DeviceModule&) = default;
  DeviceModule& operator=(const DeviceModule&) = default;
};

}  // namespace sterna::kernels
