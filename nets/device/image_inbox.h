// Where images come to a device, while it computes on those that came before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "nets/device/context.h"
#include "nets/tensor/pixels.h"

namespace sterna::nets {

/// Bytes and levels of images, on a stream beside the passes' own. A pass turns them into numbers
/// before all else, and then they may be replaced: so the next ones travel during nearly all of it,
/// and have one place, not two in turn.
class ImageInbox {
 public:
  /// Of so many bytes and levels at most. `context` outlives it.
  ImageInbox(DeviceContext& context, std::size_t pixels, std::size_t levels)
      : context_(context),
        uploads_(must(context.device->make_stream())),
        arrived_(must(context.device->make_event(kernels::EventUse::host))),
        read_(must(context.device->make_event(kernels::EventUse::streams))),
        pixels_(*context.device, pixels),
        levels_(*context.device, levels) {}

  ~ImageInbox() {  // what is under way may still read or write it
    static_cast<void>(uploads_->finish());
    static_cast<void>(context_.stream->finish());
  }
  ImageInbox(const ImageInbox&) = delete;
  ImageInbox& operator=(const ImageInbox&) = delete;

  /// Copies them, and puts them on their way. Also for another thread than that of the passes, but
  /// not beside write().
  void send(const PixelImages& images) {
    must(arrived_->wait());  // for the last to leave the host
    bytes_ = images.pixels.size();
    must(uploads_->wait_for(*read_));
    pixels_.send(*uploads_, images.pixels);
    levels_.send(*uploads_, images.levels);
    must(uploads_->record(*arrived_));
  }
  /// Puts on the passes' stream what turns those that were sent last into numbers.
  void write(std::size_t count, std::size_t channels, kernels::Numbers to) {
    must(context_.stream->wait_for(*arrived_));
    context_.run(kernels::PixelLaunch{.pixels = pixels_.there.data(),
                                      .levels = levels_.there.data(),
                                      .out = to,
                                      .image = bytes_ / count,
                                      .channels = channels,
                                      .images = count});
    must(context_.stream->record(*read_));
  }

 private:
  template <class T>
  struct Place {
    Place(kernels::Device& device, std::size_t most)
        : here(must(kernels::PinnedArray<T>::make(device, most))),
          there(must(kernels::DeviceArray<T>::make(device, most))) {}
    void send(kernels::DeviceStream& stream, std::span<const T> elements) {
      std::ranges::copy(elements, here.elements().begin());
      must(there.upload(stream, here.elements().first(elements.size())));
    }
    kernels::PinnedArray<T> here;
    kernels::DeviceArray<T> there;
  };

  DeviceContext& context_;
  std::unique_ptr<kernels::DeviceStream> uploads_;
  std::unique_ptr<kernels::DeviceEvent> arrived_;  // what was sent last
  std::unique_ptr<kernels::DeviceEvent> read_;     // by the pass that took it last
  Place<std::uint8_t> pixels_;
  Place<float> levels_;
  std::size_t bytes_ = 0;  // of what was sent last
};

}  // namespace sterna::nets
