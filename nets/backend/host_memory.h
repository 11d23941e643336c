// The host's own memory: at once, by what stands in nets/tensor/.
#pragma once

#include "nets/backend/memory.h"

namespace sterna::nets {

class HostMemory final : public Memory {
 public:
  bool on_host() const override { return true; }
  std::shared_ptr<std::byte> allocate(std::size_t bytes) override;
  void write(std::span<const float> values, Tensor& to, std::size_t first) override;
  void stage(const PixelImages& images) override { staged_ = images; }
  void write_staged(std::size_t count, std::size_t channels, Tensor& to) override;
  void expect_images(std::size_t /*pixels*/, std::size_t /*levels*/) override {}
  void read(const Tensor& from, std::size_t first, std::span<float> out) override;
  void finish() noexcept override {}
  void copy(const Tensor& from, Tensor& to) override;
  void copy(const Tensor& from, const kernels::Runs& runs, Tensor& to) override;
  void clear(Tensor& to, std::size_t first) override;
  void add(const Tensor& a, const Tensor& b, Tensor& out) override;
  void scale(Tensor& a, float factor) override;

 private:
  PixelImages staged_;
};

}  // namespace sterna::nets
