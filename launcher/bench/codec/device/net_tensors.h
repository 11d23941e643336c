// How many elements the tensors of two nets have, in their order.
#pragma once

#include <cstddef>
#include <vector>

namespace sterna::launcher {

/// LeNet's eight.
inline std::vector<std::size_t> lenet_tensors() {
  return {500, 20, 25'000, 50, 400'000, 500, 5'000, 10};
}

/// ResNet-50's 161: each convolution's weights, then the two of its batch norm; the last layer's.
inline std::vector<std::size_t> resnet50_tensors() {
  std::vector<std::size_t> all;
  const auto convolution = [&](std::size_t side, std::size_t in, std::size_t out) {
    all.insert(all.end(), {side * side * in * out, out, out});
  };
  convolution(7, 3, 64);
  std::size_t in = 64;
  const std::size_t blocks[] = {3, 4, 6, 3};
  std::size_t width = 64;
  for (const std::size_t count : blocks) {
    const std::size_t out = 4 * width;
    for (std::size_t block = 0; block < count; ++block) {
      convolution(1, in, width);
      convolution(3, width, width);
      convolution(1, width, out);
      if (block == 0) convolution(1, in, out);  // past the block
      in = out;
    }
    width *= 2;
  }
  all.insert(all.end(), {std::size_t{2048} * 1000, 1000});
  return all;
}

}  // namespace sterna::launcher
