// How a window slides over an image: TensorFlow's two padding rules, or a number of pixels.
#pragma once

#include <cstddef>

namespace sterna::nets {

/// `same`: out = ceil(in / stride), and an odd padding puts the extra row at the bottom (the extra
/// column at the right). `valid`: no padding, out = floor((in - kernel) / stride) + 1. `given`: so
/// many pixels on each side, as PyTorch pads.
enum class Padding { same, valid, given };

/// A window along one direction, in pixels.
struct Slide {
  std::size_t kernel = 1;
  std::size_t stride = 1;
  Padding padding = Padding::same;
  std::size_t pad = 0;  ///< where `given`

  /// Whether it fits into an extent of `in` anywhere.
  bool fits(std::size_t in) const { return in > 0 && in + 2 * given() >= least(); }
  /// The extent after the window has slid over an extent of `in`, into which it must fit.
  std::size_t out(std::size_t in) const {
    if (padding == Padding::same) return (in + stride - 1) / stride;
    return (in + 2 * given() - kernel) / stride + 1;
  }
  /// Padding before the first pixel.
  std::size_t before(std::size_t in) const {
    return padding == Padding::same ? total(in) / 2 : given();
  }
  /// Padding after the last pixel that a window covers.
  std::size_t after(std::size_t in) const { return total(in) - before(in); }

 private:
  std::size_t given() const { return padding == Padding::given ? pad : 0; }
  std::size_t least() const { return padding == Padding::same ? 1 : kernel; }
  std::size_t total(std::size_t in) const {
    const std::size_t covered = (out(in) - 1) * stride + kernel;
    if (padding == Padding::given && covered < in + pad) return pad;  // the end is left out
    return covered > in ? covered - in : 0;
  }
};

/// A window and its step, the same in both directions but for its width where that differs.
struct Window {
  std::size_t kernel = 1;  ///< its height, and its width unless that is given
  std::size_t stride = 1;
  Padding padding = Padding::same;
  std::size_t pad = 0;    ///< where Padding::given
  std::size_t width = 0;  ///< 0: as high

  Slide down() const { return {kernel, stride, padding, pad}; }
  Slide across() const { return {width > 0 ? width : kernel, stride, padding, pad}; }
};

}  // namespace sterna::nets
