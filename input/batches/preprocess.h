// From bytes of the data set to what a net sees.
#pragma once

#include <cstdint>
#include <span>

#include "input/formats/dataset.h"

namespace sterna::input {

/// MNIST, for training and evaluation alike: (x / 255 - 0.5) * 2, so -1 is black and 1 is white
/// (TernGrad's lenet preprocessing; images are 28 x 28 already, so nothing is cropped or padded).
/// Both spans are of one size.
void preprocess_mnist(std::span<const std::uint8_t> image, std::span<float> out);

/// The preprocessed images and the labels of `indices`, in their order: `images` holds
/// indices.size() x image_size() floats (NCHW, as MNIST has one channel), `labels` one a index.
void gather(const Dataset& dataset, std::span<const std::uint64_t> indices, std::span<float> images,
            std::span<std::uint16_t> labels);

}  // namespace sterna::input
