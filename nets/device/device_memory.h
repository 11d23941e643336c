// Memory of a device: what is done to tensors are launches on the stream of its passes.
#pragma once

#include <memory>
#include <optional>

#include "nets/backend/memory.h"
#include "nets/device/context.h"
#include "nets/device/image_inbox.h"

namespace sterna::nets {

class DeviceMemory final : public Memory {
 public:
  /// `context` outlives it.
  explicit DeviceMemory(DeviceContext& context) : context_(context) {}

  bool on_host() const override { return false; }
  std::shared_ptr<std::byte> allocate(std::size_t bytes) override;
  void expect_images(std::size_t pixels, std::size_t levels) override;
  void write(std::span<const float> values, Tensor& to, std::size_t first) override;
  void stage(const PixelImages& images) override;
  void write_staged(std::size_t count, std::size_t channels, Tensor& to) override;
  void read(const Tensor& from, std::size_t first, std::span<float> out) override;
  void finish() noexcept override;
  void copy(const Tensor& from, Tensor& to) override;
  void copy(const Tensor& from, const kernels::Runs& runs, Tensor& to) override;
  void clear(Tensor& to, std::size_t first) override;
  void add(const Tensor& a, const Tensor& b, Tensor& out) override;
  void scale(Tensor& a, float factor) override;

 private:
  /// As large as the largest that was written.
  struct Values {
    std::optional<Inbox<float>> inbox;
    std::size_t most = 0;
  };
  /// As large as the largest that are expected or were staged.
  struct Images {
    std::optional<ImageInbox> inbox;
    std::size_t pixels = 0;
    std::size_t levels = 0;
  };

  DeviceContext& context_;
  Values values_;
  Images images_;
};

}  // namespace sterna::nets
