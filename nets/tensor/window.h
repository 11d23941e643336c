// How a window slides over an image: TensorFlow's two padding rules.
#pragma once

#include <cstddef>

namespace sterna::nets {

/// `same`: out = ceil(in / stride), and an odd padding puts the extra row at the bottom (the extra
/// column at the right). `valid`: no padding, out = floor((in - kernel) / stride) + 1.
enum class Padding { same, valid };

/// A square window and its step, in pixels.
struct Window {
  std::size_t kernel = 1;
  std::size_t stride = 1;
  Padding padding = Padding::same;

  /// The extent after the window has slid over an extent of `in` (>= kernel where `valid`).
  std::size_t out(std::size_t in) const {
    return padding == Padding::same ? (in + stride - 1) / stride : (in - kernel) / stride + 1;
  }
  /// Padding before the first pixel.
  std::size_t before(std::size_t in) const { return total(in) / 2; }
  /// Padding after the last pixel.
  std::size_t after(std::size_t in) const { return total(in) - before(in); }

 private:
  std::size_t total(std::size_t in) const {
    const std::size_t covered = (out(in) - 1) * stride + kernel;
    return covered > in ? covered - in : 0;
  }
};

}  // namespace sterna::nets
