// inception (TF's and TernGrad's pipeline of ImageNet and flowers): a random part of the picture,
// resized in one of four ways, flip, brightness, saturation, hue and contrast in one of two orders;
// in evaluation the middle 87.5 %. From black = -1 to white = 1.
#include "input/augment/colour.h"
#include "input/augment/crop.h"
#include "input/augment/family.h"
#include "input/augment/family_parts.h"
#include "input/augment/scale.h"
#include "input/pictures/decode.h"

namespace sterna::input {

namespace {

constexpr float kBrightness = 32.0F / 255.0F;
constexpr float kHue = 0.2F;
constexpr float kLeast = 0.5F;  // of saturation and of contrast
constexpr float kMost = 1.5F;

PictureShape inception_shape(const PictureShape& data) { return square_of(224, data); }

Scaling scaling_of(const Region& part, const PictureShape& shape) {
  return {.part = part,
          .rows = shape.rows,
          .columns = shape.columns,
          .window = {0, 0, shape.rows, shape.columns}};
}

Result<void> train_inception(const EncodedPicture& picture, std::span<const Box> boxes,
                             Draws& draws, const FamilyOptions& options, const Prepared& into) {
  const PictureShape& shape = options.shape;
  STERNA_ASSIGN(const PictureShape from, shape_of(picture, options.most_pixels));
  const auto filter = static_cast<Filter>(draws.below(4));
  const bool flip = draws.coin();
  ColourChange change;
  change.contrast_last = !draws.coin();
  change.brightness = draws.uniform(-kBrightness, kBrightness);
  change.saturation = draws.uniform(kLeast, kMost);
  change.hue = draws.uniform(-kHue, kHue);
  change.contrast = draws.uniform(kLeast, kMost);
  Scaling scaling = scaling_of(distorted_box(from, boxes, draws), shape);
  scaling.filter = filter;
  scaling.flip = flip;
  STERNA_TRY(scale(picture, from, scaling, shape.channels, options.most_pixels, into.pixels));
  change_colours(into.pixels, shape.channels, change);
  center_on_grey(into);
  return {};
}

Result<void> evaluate_inception(const EncodedPicture& picture, const FamilyOptions& options,
                                const Prepared& into) {
  const PictureShape& shape = options.shape;
  STERNA_ASSIGN(const PictureShape from, shape_of(picture, options.most_pixels));
  center_on_grey(into);
  return scale(picture, from, scaling_of(central_part(from), shape), shape.channels,
               options.most_pixels, into.pixels);
}

}  // namespace

extern constexpr Family kInceptionFamily{"inception", inception_shape, train_inception,
                                         evaluate_inception};

}  // namespace sterna::input
