// resize_crop (torchvision's RandomResizedCrop and flip): a random part of the picture, resized
// with Filter::triangle; in evaluation the middle of a shorter side a seventh above the crop's.
// Less the data set's mean, by its deviation.
#include <algorithm>

#include "input/augment/crop.h"
#include "input/augment/family.h"
#include "input/augment/family_parts.h"
#include "input/augment/scale.h"
#include "input/pictures/decode.h"

namespace sterna::input {

namespace {

PictureShape resize_crop_shape(const PictureShape& data) { return square_of(224, data); }

/// The shorter side for a crop of this length: 256 for 224.
std::uint32_t side_for(std::uint32_t length) { return (length * 8 + 3) / 7; }

void standardize_by_data(const FamilyOptions& options, const Prepared& into) {
  for (std::size_t c = 0; c < into.center.size(); ++c) {
    into.center[c] = options.mean[c];
    into.scale[c] = 1.0F / options.deviation[c];
  }
}

Result<void> train_resize_crop(const EncodedPicture& picture, std::span<const Box> /*boxes*/,
                               Draws& draws, const FamilyOptions& options, const Prepared& into) {
  const PictureShape& shape = options.shape;
  STERNA_ASSIGN(const PictureShape from, shape_of(picture, options.most_pixels));
  const bool flip = draws.coin();
  const Scaling scaling{.part = random_area(from, draws),
                        .rows = shape.rows,
                        .columns = shape.columns,
                        .window = {0, 0, shape.rows, shape.columns},
                        .filter = Filter::triangle,
                        .flip = flip};
  standardize_by_data(options, into);
  return scale(picture, from, scaling, shape.channels, options.most_pixels, into.pixels);
}

Result<void> evaluate_resize_crop(const EncodedPicture& picture, const FamilyOptions& options,
                                  const Prepared& into) {
  const PictureShape& shape = options.shape;
  STERNA_ASSIGN(const PictureShape from, shape_of(picture, options.most_pixels));
  Scaling scaling =
      whole_scaled_to_side(from, side_for(std::max(shape.rows, shape.columns)), shape);
  scaling.filter = Filter::triangle;
  standardize_by_data(options, into);
  return scale(picture, from, scaling, shape.channels, options.most_pixels, into.pixels);
}

}  // namespace

extern constexpr Family kResizeCropFamily{"resize_crop", resize_crop_shape, train_resize_crop,
                                          evaluate_resize_crop};

}  // namespace sterna::input
