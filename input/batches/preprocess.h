// From bytes of the data set to what a net sees.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "input/formats/dataset.h"

namespace sterna::input {

/// How the images of a family of data sets become a net's input, for training and evaluation alike.
/// Each family has a file of its own, preprocess_NAME.cc, and a line in preprocess.cc.
struct Preprocessing {
  std::string_view family;
  /// Fills `out`, one number for each byte of `image`.
  void (*image)(std::span<const std::uint8_t> image, std::span<float> out);
};

/// The preprocessing of a family (Dataset::family), which must be one of the table's.
const Preprocessing& preprocessing_of(std::string_view family);

/// The preprocessed images and the labels of `indices`, in their order: `images` holds
/// indices.size() x image_size() floats (NCHW, as MNIST has one channel), `labels` one a index.
void gather(const Dataset& dataset, std::span<const std::uint64_t> indices, std::span<float> images,
            std::span<std::uint16_t> labels);

}  // namespace sterna::input
