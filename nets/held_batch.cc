#include "nets/held_batch.h"

namespace sterna::nets {

void HeldBatch::hold(std::span<const float> images, std::span<const std::uint16_t> labels) {
  values_.assign(images.begin(), images.end());
  pixels_.clear();
  labels_.assign(labels.begin(), labels.end());
}

void HeldBatch::hold(const PixelImages& images, std::span<const std::uint16_t> labels) {
  values_.clear();
  pixels_.assign(images.pixels.begin(), images.pixels.end());
  levels_.assign(images.levels.begin(), images.levels.end());
  labels_.assign(labels.begin(), labels.end());
}

void HeldBatch::write(std::size_t first, std::size_t count, std::size_t channels, Memory& memory,
                      Tensor& out) const {
  const std::size_t each = out.size() / count;
  if (!values_.empty()) {
    memory.write(std::span(values_).subspan(first * each, out.size()), out, 0);
    return;
  }
  const std::size_t levels = 2 * channels;
  memory.write({std::span(pixels_).subspan(first * each, out.size()),
                std::span(levels_).subspan(first * levels, count * levels)},
               count, channels, out);
}

}  // namespace sterna::nets
