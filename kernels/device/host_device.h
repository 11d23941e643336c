// A device in the host's own memory, for tests: what a stream is given runs as late as it may, in
// any order that the streams and events allow, drawn from a seed; and it fails on demand. So what
// works here needs no luck on a real device. Any threads may use it at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/device/device.h"

namespace sterna::kernels {

/// Hears what a host device is asked for, and what it does, on the threads that ask or wait.
class HostDeviceWatch {
 public:
  virtual ~HostDeviceWatch() = default;
  virtual void launched(EncodePass /*pass*/, const EncodeLaunch& /*launch*/) {}
  virtual void computes(const LayerLaunch& /*launch*/) {}  ///< when it does, however late
  virtual void copies(std::size_t /*bytes*/) {}            ///< likewise
  virtual void plans(const ConvolutionShape& /*shape*/) {}
  virtual void given_on_host(const void* /*memory*/, std::size_t /*bytes*/) {}
  virtual void released_on_host(const void* /*memory*/) {}
};

struct HostDeviceOptions {
  std::uint64_t seed = 0;  ///< of the order
  bool late = true;        ///< else all work is done when it is given
  /// Its memory cannot be touched but by its work, as a card's cannot: who does ends by a signal.
  bool hidden = false;
  std::size_t memory = 1U << 30U;  ///< bytes that can be allocated in all
  /// Whether it has products and convolutions as a library has them, with sums in their own order,
  /// and of numbers that are rounded to TF32 where they are to be.
  bool libraries = false;
  /// Whether what a stream records comes to nothing, as some work of a card's may not be recorded.
  bool fails_recording = false;
  /// How many pieces of work are done before the device fails, for good; 0: it never does.
  std::uint64_t fails_after = 0;
  std::shared_ptr<HostDeviceWatch> watch = nullptr;
};

std::unique_ptr<Device> make_host_device(const HostDeviceOptions& options);

}  // namespace sterna::kernels
