// alexnet (slim's and TernGrad's pipeline): resized to 256 x 256 whatever its aspect, a random
// crop, flip, less the means of red, green and blue; in evaluation the middle.
#include <algorithm>

#include "input/augment/cut.h"
#include "input/augment/family.h"
#include "input/augment/family_parts.h"
#include "input/augment/scale.h"
#include "input/pictures/decode.h"

namespace sterna::input {

namespace {

constexpr std::uint32_t kSide = 256;

PictureShape alexnet_shape(const PictureShape& data) { return square_of(224, data); }

/// The whole picture, resized so that the crop fits.
Scaling resized(const PictureShape& from, const PictureShape& shape) {
  return whole_scaled(from, std::max(kSide, shape.rows), std::max(kSide, shape.columns), shape);
}

Result<void> train_alexnet(const EncodedPicture& picture, std::span<const Box> /*boxes*/,
                           Draws& draws, const FamilyOptions& options, const Prepared& into) {
  const PictureShape& shape = options.shape;
  STERNA_ASSIGN(const PictureShape from, shape_of(picture, options.most_pixels));
  Scaling scaling = resized(from, shape);
  scaling.window.top = draws.below(places(scaling.rows, shape.rows));
  scaling.window.left = draws.below(places(scaling.columns, shape.columns));
  scaling.flip = draws.coin();
  subtract_channel_means(into);
  return scale(picture, from, scaling, shape.channels, options.most_pixels, into.pixels);
}

Result<void> evaluate_alexnet(const EncodedPicture& picture, const FamilyOptions& options,
                              const Prepared& into) {
  const PictureShape& shape = options.shape;
  STERNA_ASSIGN(const PictureShape from, shape_of(picture, options.most_pixels));
  subtract_channel_means(into);
  return scale(picture, from, resized(from, shape), shape.channels, options.most_pixels,
               into.pixels);
}

}  // namespace

extern constexpr Family kAlexnetFamily{"alexnet", alexnet_shape, train_alexnet, evaluate_alexnet};

}  // namespace sterna::input
