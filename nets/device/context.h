// What the operations of a device's backend share. Internal to this room.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/device/device_array.h"
#include "nets/backend/failure.h"
#include "nets/tensor/tensor.h"

namespace sterna::nets {

/// What a launch is told of a tensor's elements.
inline kernels::Numbers numbers(const Tensor& of) {
  if (of.element() == Element::bf16) return of.bf16();
  return of.data();
}

/// The device, and the stream on which passes run, one operation after the other.
struct DeviceContext {
  explicit DeviceContext(std::shared_ptr<kernels::Device> which)
      : device(std::move(which)), stream(must(device->make_stream())) {}
  void run(const kernels::LayerLaunch& launch) const { must(stream->layer(launch)); }
  /// With the workspace, which is its own until the next.
  void run(kernels::DeviceOperation& operation, kernels::OperationTensors tensors) const {
    tensors.workspace = workspace_.data();
    must(stream->run(operation, tensors));
  }
  /// Before it is run.
  void prepare(const kernels::DeviceOperation& operation) {
    if (operation.workspace() <= workspace_.size()) return;
    workspace_ = must(kernels::DeviceArray<std::byte>::make(*device, operation.workspace()));
  }

  /// Memory that operations share, one after the other; before any runs.
  template <class T>
  void reserve(std::size_t elements) {
    const std::size_t bytes = elements * sizeof(T);
    if (bytes > scratch_.size()) {
      scratch_ = must(kernels::DeviceArray<std::byte>::make(*device, bytes));
    }
  }
  template <class T>
  T* scratch() const {
    return reinterpret_cast<T*>(scratch_.data());
  }

  /// Memory for what a library makes of another kind of number than is wanted, until that is made
  /// of it; before any operation runs.
  void reserve_made(std::size_t bytes) {
    if (bytes > made_.size()) made_ = must(kernels::DeviceArray<std::byte>::make(*device, bytes));
  }
  kernels::Numbers made(bool bf16s) const { return {made_.data(), bf16s}; }

  /// Room for what is summed of each channel, within what operations share; reserve_sums() first.
  kernels::ChannelSums sums_of(std::size_t pixels, std::size_t channels) const {
    return {.pixels = pixels, .channels = channels, .sums = scratch<kernels::TwoSums>()};
  }
  void reserve_sums(std::size_t pixels, std::size_t channels) {
    reserve<kernels::TwoSums>(kernels::channel_sums(pixels, channels));
  }

  std::shared_ptr<kernels::Device> device;
  std::unique_ptr<kernels::DeviceStream> stream;
  kernels::Arithmetic arithmetic = kernels::Arithmetic::fp32;
  /// Whether products and convolutions multiply bf16s.
  bool multiplies_bf16s() const { return arithmetic == kernels::Arithmetic::bf16; }
  /// Which passes could not be recorded, and what libraries say that they run, in the order of the
  /// operations.
  std::vector<std::string> plans;

 private:
  kernels::DeviceArray<std::byte> scratch_;
  kernels::DeviceArray<std::byte> workspace_;
  kernels::DeviceArray<std::byte> made_;
};

/// Elements that come from the host again and again: what is sent lies still until it is there.
template <class T>
class Inbox {
 public:
  Inbox(DeviceContext& context, std::size_t most)
      : context_(context),
        sent_(must(context.device->make_event(kernels::EventUse::host))),
        here_(must(kernels::PinnedArray<T>::make(*context.device, most))),
        there_(must(kernels::DeviceArray<T>::make(*context.device, most))) {}

  ~Inbox() { static_cast<void>(context_.stream->finish()); }  // what is under way may still read it
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  /// Puts a copy on the stream; where it lies on the device, until the next.
  const T* send(std::span<const T> elements) {
    must(sent_->wait());  // for the last to leave
    std::ranges::copy(elements, here_.elements().begin());
    must(there_.upload(*context_.stream, here_.elements().first(elements.size())));
    must(context_.stream->record(*sent_));
    return there_.data();
  }

 private:
  DeviceContext& context_;
  std::unique_ptr<kernels::DeviceEvent> sent_;
  kernels::PinnedArray<T> here_;
  kernels::DeviceArray<T> there_;
};

/// A number that comes to the host, again and again; so many that come one after the other stay
/// there beside each other.
template <class T>
class Outbox {
 public:
  explicit Outbox(DeviceContext& context, std::size_t stay = 1)
      : context_(context),
        arrived_(must(context.device->make_event(kernels::EventUse::host))),
        here_(must(kernels::PinnedArray<T>::make(*context.device, stay))),
        there_(must(kernels::DeviceArray<T>::make(*context.device, 1))) {}

  T* place() const { return there_.data(); }  ///< where the device writes it
  /// Puts a copy on the stream, which will be number `which` of those that stay.
  void send(std::size_t which = 0) {
    must(there_.download(*context_.stream, here_.elements().subspan(which, 1)));
    must(context_.stream->record(*arrived_));
  }
  /// That one, once all that was sent is here.
  T wait(std::size_t which = 0) {
    must(arrived_->wait());
    return here_.elements()[which];
  }

 private:
  DeviceContext& context_;
  std::unique_ptr<kernels::DeviceEvent> arrived_;
  kernels::PinnedArray<T> here_;
  kernels::DeviceArray<T> there_;
};

}  // namespace sterna::nets
