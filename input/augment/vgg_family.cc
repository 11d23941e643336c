// vgg (slim's vgg_preprocessing.py): resized to a random shorter side, a random crop, flip, less
// the means of red, green and blue; in evaluation the middle of a shorter side of 256.
#include "input/augment/cut.h"
#include "input/augment/family.h"
#include "input/augment/family_parts.h"
#include "input/augment/scale.h"
#include "input/pictures/decode.h"

namespace sterna::input {

namespace {

constexpr std::uint32_t kLeastSide = 256;
constexpr std::uint32_t kMostSide = 512;

PictureShape vgg_shape(const PictureShape& data) { return square_of(224, data); }

Result<void> train_vgg(const EncodedPicture& picture, std::span<const Box> /*boxes*/, Draws& draws,
                       const FamilyOptions& options, const Prepared& into) {
  const PictureShape& shape = options.shape;
  STERNA_ASSIGN(const PictureShape from, shape_of(picture, options.most_pixels));
  const std::uint32_t side = kLeastSide + draws.below(kMostSide - kLeastSide + 1);
  Scaling scaling = whole_scaled_to_side(from, side, shape);
  scaling.window.top = draws.below(places(scaling.rows, shape.rows));
  scaling.window.left = draws.below(places(scaling.columns, shape.columns));
  scaling.flip = draws.coin();
  subtract_channel_means(into);
  return scale(picture, from, scaling, shape.channels, options.most_pixels, into.pixels);
}

Result<void> evaluate_vgg(const EncodedPicture& picture, const FamilyOptions& options,
                          const Prepared& into) {
  const PictureShape& shape = options.shape;
  STERNA_ASSIGN(const PictureShape from, shape_of(picture, options.most_pixels));
  subtract_channel_means(into);
  const Scaling scaling = whole_scaled_to_side(from, kLeastSide, shape);
  return scale(picture, from, scaling, shape.channels, options.most_pixels, into.pixels);
}

}  // namespace

extern constexpr Family kVggFamily{"vgg", vgg_shape, train_vgg, evaluate_vgg};

}  // namespace sterna::input
