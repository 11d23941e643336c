#include <cassert>
#include <cstddef>

#include "input/batches/preprocess.h"

namespace sterna::input {

namespace {

/// (x / 255 - 0.5) * 2, so -1 is black and 1 is white (TernGrad's lenet preprocessing; images are
/// 28 x 28 already, so nothing is cropped or padded).
void preprocess(std::span<const std::uint8_t> image, std::span<float> out) {
  assert(image.size() == out.size());
  for (std::size_t i = 0; i < image.size(); ++i) {
    out[i] = (static_cast<float>(image[i]) / 255.0F - 0.5F) * 2.0F;
  }
}

}  // namespace

extern constexpr Preprocessing kPreprocessMnist{"mnist", preprocess};

}  // namespace sterna::input
