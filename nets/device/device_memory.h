// Memory of a device: what is done to tensors are launches on the stream of its passes.
#pragma once

#include <memory>
#include <optional>

#include "nets/backend/memory.h"
#include "nets/device/context.h"

namespace sterna::nets {

class DeviceMemory final : public Memory {
 public:
  /// `context` outlives it.
  explicit DeviceMemory(DeviceContext& context) : context_(context) {}

  bool on_host() const override { return false; }
  std::shared_ptr<std::byte> allocate(std::size_t bytes) override;
  void expect_images(std::size_t pixels, std::size_t levels) override;
  void write(std::span<const float> values, Tensor& to, std::size_t first) override;
  void write(const PixelImages& images, std::size_t count, std::size_t channels,
             Tensor& to) override;
  void read(const Tensor& from, std::size_t first, std::span<float> out) override;
  void finish() noexcept override;
  void copy(const Tensor& from, Tensor& to) override;
  void copy(const Tensor& from, const kernels::Runs& runs, Tensor& to) override;
  void clear(Tensor& to, std::size_t first) override;
  void add(const Tensor& a, const Tensor& b, Tensor& out) override;
  void scale(Tensor& a, float factor) override;

 private:
  /// As large as the largest that is expected or was written.
  template <class T>
  struct Growing {
    std::optional<Inbox<T>> inbox;
    std::size_t most = 0;
    void expect(DeviceContext& context, std::size_t elements) {
      if (elements <= most) return;
      inbox.emplace(context, elements);
      most = elements;
    }
    const T* send(DeviceContext& context, std::span<const T> elements) {
      expect(context, elements.size());
      return elements.empty() ? nullptr : inbox->send(elements);
    }
  };

  DeviceContext& context_;
  Growing<float> values_;
  Growing<std::uint8_t> pixels_;
  Growing<float> levels_;
};

}  // namespace sterna::nets
