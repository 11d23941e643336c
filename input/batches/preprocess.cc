#include "input/batches/preprocess.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>

namespace sterna::input {

/// Every family, a line each.
extern const Preprocessing kPreprocessMnist;

namespace {
constexpr std::array kFamilies{
    &kPreprocessMnist,
};
}  // namespace

const Preprocessing& preprocessing_of(std::string_view family) {
  const auto* found = std::ranges::find(kFamilies, family, &Preprocessing::family);
  assert(found != kFamilies.end());
  return **found;
}

void gather(const Dataset& dataset, std::span<const std::uint64_t> indices, std::span<float> images,
            std::span<std::uint16_t> labels) {
  const std::size_t size = dataset.image_size();
  assert(images.size() == indices.size() * size && labels.size() == indices.size());
  const auto preprocess = preprocessing_of(dataset.family).image;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    assert(indices[i] < dataset.count);
    preprocess(dataset.image(indices[i]), images.subspan(i * size, size));
    labels[i] = dataset.labels[indices[i]];
  }
}

}  // namespace sterna::input
