// Which part of a picture is used: drawn, or in the middle.
#pragma once

#include <span>

#include "input/augment/draws.h"
#include "input/augment/family.h"
#include "input/pictures/picture.h"

namespace sterna::input {

/// TF1's sample_distorted_bounding_box: width over height and area as the constants of crop.cc say,
/// covering at least a tenth of one of the boxes (none: of the picture), or the whole picture after
/// 100 attempts. Four words an attempt: aspect, height, top, left. Unlike TF's, the last place of a
/// crop is drawn as often as the others.
Region distorted_box(const PictureShape& picture, std::span<const Box> boxes, Draws& draws);

/// torchvision's RandomResizedCrop: 0.08 to 1 of the area, width over height 3/4 to 4/3 (its
/// logarithm is uniform), or after 10 attempts the largest middle part of such an aspect. Four
/// words an attempt: area, aspect, top, left.
Region random_area(const PictureShape& picture, Draws& draws);

/// TF1's central_crop of 87.5 %: a sixteenth less, rounded down, on each side.
Region central_part(const PictureShape& picture);

}  // namespace sterna::input
