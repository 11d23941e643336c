// Runs of neighbouring elements at even distances: what is copied where tensors are laid beside
// each other or thinned out. Plain data that host and device read alike.
#pragma once

#include <cstddef>

namespace sterna::kernels {

/// Of each image, row and column one run. All numbers are elements.
struct Runs {
  /// Where the first begins, and how far it is from one to the next.
  struct Place {
    std::size_t first = 0;
    std::size_t image = 0;
    std::size_t row = 0;
    std::size_t column = 0;
  };
  std::size_t images = 1;
  std::size_t rows = 1;
  std::size_t columns = 1;
  std::size_t length = 0;  ///< of each run
  Place from;
  Place to;

  constexpr std::size_t elements() const { return images * rows * columns * length; }
  constexpr Runs turned() const { return {images, rows, columns, length, to, from}; }  ///< and back
};

}  // namespace sterna::kernels
