// Where a backend's tensors lie, and what is done to them whatever computes them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "kernels/layers/runs.h"
#include "nets/tensor/pixels.h"
#include "nets/tensor/tensor.h"

namespace sterna::nets {

/// Of tensors that lie here, all of one shape where there are several. What is done comes after
/// whatever its backend was told before; only read() waits for it. Failures are thrown.
class Memory {
 public:
  virtual ~Memory() = default;
  /// Whether the host may look at it: else a tensor's address is another machine's.
  virtual bool on_host() const = 0;
  /// Bytes, zeroed, at a multiple of 64, for as long as the pointer lives.
  virtual std::shared_ptr<std::byte> allocate(std::size_t bytes) = 0;

  /// Makes room for what comes with the largest batch that will be written: so many pixels, and
  /// levels of theirs.
  virtual void expect_images(std::size_t pixels, std::size_t levels) = 0;
  /// From the host, element `first` on. `values` need not stay.
  virtual void write(std::span<const float> values, Tensor& to, std::size_t first) = 0;
  /// Images of the host's that write_staged() takes, in place of those before. On a device they
  /// are copied and come there beside whatever its backend was told before; on the host they stay
  /// where they are until then.
  virtual void stage(const PixelImages& images) = 0;
  /// What those `count` images stand for, to the first elements.
  virtual void write_staged(std::size_t count, std::size_t channels, Tensor& to) = 0;
  void write(const PixelImages& images, std::size_t count, std::size_t channels, Tensor& to) {
    stage(images);
    write_staged(count, channels, to);
  }
  /// To the host, which waits for it.
  virtual void read(const Tensor& from, std::size_t first, std::span<float> out) = 0;

  /// Waits until all is done, or never will be.
  virtual void finish() noexcept = 0;

  /// Nothing is done where both lie in one place.
  virtual void copy(const Tensor& from, Tensor& to) = 0;
  /// Runs of elements, to another tensor; what lies between them there is left as it is.
  virtual void copy(const Tensor& from, const kernels::Runs& runs, Tensor& to) = 0;
  /// Zeros from element `first` on.
  virtual void clear(Tensor& to, std::size_t first) = 0;
  /// out = a + b; `out` may be `a`.
  virtual void add(const Tensor& a, const Tensor& b, Tensor& out) = 0;
  /// Of fp32: a *= factor.
  virtual void scale(Tensor& a, float factor) = 0;
};

}  // namespace sterna::nets
