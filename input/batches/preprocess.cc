#include "input/batches/preprocess.h"

#include <cassert>
#include <cstddef>

namespace sterna::input {

void preprocess_mnist(std::span<const std::uint8_t> image, std::span<float> out) {
  assert(image.size() == out.size());
  for (std::size_t i = 0; i < image.size(); ++i) {
    out[i] = (static_cast<float>(image[i]) / 255.0F - 0.5F) * 2.0F;
  }
}

void gather(const Dataset& dataset, std::span<const std::uint64_t> indices, std::span<float> images,
            std::span<std::uint16_t> labels) {
  const std::size_t size = dataset.image_size();
  assert(images.size() == indices.size() * size && labels.size() == indices.size());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    assert(indices[i] < dataset.count);
    preprocess_mnist(dataset.image(indices[i]), images.subspan(i * size, size));
    labels[i] = dataset.labels[indices[i]];
  }
}

}  // namespace sterna::input
