// From a stored picture to what a net sees, in training and in evaluation: the preprocessing
// families.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "input/augment/draws.h"
#include "input/pictures/decode.h"
#include "input/pictures/picture.h"
#include "runtime/base/result.h"

namespace sterna::input {

/// What a family makes, and what it may need to know for it.
struct FamilyOptions {
  PictureShape shape;  ///< of every prepared picture: 1 or 3 channels, no length 0
  /// Of the whole data set, by channel, where pixels are 0 to 1: resize_crop's.
  std::array<float, 3> mean{};
  std::array<float, 3> deviation{1, 1, 1};
  std::uint64_t most_pixels = kMostPixels;  ///< larger pictures are refused undecoded
};

/// Where a prepared picture goes. Of channel c the net sees (pixel / 255 - center[c]) * scale[c],
/// in fp32, in this order, each step rounded: the worker computes it.
struct Prepared {
  std::span<std::uint8_t> pixels;  ///< FamilyOptions::shape, the channels beside each other
  std::span<float> center;         ///< one a channel
  std::span<float> scale;          ///< one a channel
};

/// One way to prepare pictures. Each family has a file of its own, NAME_family.cc, and a line in
/// family.cc. Pure functions of their arguments: any thread may call them. Errors: what decoding
/// refuses, and a picture that the family cannot take, in one line without the picture's name.
struct Family {
  std::string_view name;
  /// The shape of what is prepared where the user names none, for a data set of this shape (of
  /// channels only, where its pictures differ in size).
  PictureShape (*shape)(const PictureShape& data);
  Result<void> (*train)(const EncodedPicture& picture, std::span<const Box> boxes, Draws& draws,
                        const FamilyOptions& options, const Prepared& into);
  Result<void> (*evaluate)(const EncodedPicture& picture, const FamilyOptions& options,
                           const Prepared& into);
  /// Whether evaluation takes the middle of a picture at its own size, and resizes none.
  bool takes_middle = false;
};

/// The family of this name, or null.
const Family* find_family(std::string_view name);
std::vector<std::string_view> family_names();

}  // namespace sterna::input
