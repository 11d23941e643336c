#include "input/augment/crop.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

namespace sterna::input {

namespace {

// Of sample_distorted_bounding_box, as the Inception pipeline calls it.
constexpr int kBoxAttempts = 100;
constexpr float kLeastAspect = 0.75F;  // width over height
constexpr float kMostAspect = 1.33F;
constexpr double kLeastArea = 0.05;
constexpr double kLeastCovered = 0.1;

// Of RandomResizedCrop.
constexpr int kAreaAttempts = 10;
constexpr float kSmallestPart = 0.08F;
constexpr double kLogAspect = 0.28768207245178085;  // log(4/3)

std::uint32_t rounded(double x) { return static_cast<std::uint32_t>(std::nearbyint(x)); }

/// e^x for |x| < 0.3: its series, as libraries differ in the last bit.
double exponential(double x) {
  double sum = 1;
  for (int n = 14; n > 0; --n) sum = 1 + sum * x / n;
  return sum;
}

/// Height and width of an attempt, or nothing where the constraints cannot be met.
std::optional<Region> distorted_size(const PictureShape& picture, double aspect,
                                     std::uint32_t word) {
  const double all = static_cast<double>(picture.rows) * picture.columns;
  const double least = kLeastArea * all;
  std::uint32_t height = rounded(std::sqrt(least / aspect));
  std::uint32_t most = rounded(std::sqrt(all / aspect));
  if (rounded(most * aspect) > picture.columns) {
    // The largest height whose width, rounded, still fits.
    most = static_cast<std::uint32_t>((picture.columns + 0.5 - 1e-7) / aspect);
  }
  most = std::min(most, picture.rows);
  height = height < most ? height + scaled(word, most - height + 1) : most;
  double width = std::nearbyint(height * aspect);
  if (width * height < least) width = std::nearbyint(++height * aspect);
  if (width * height > all && height > 0) width = std::nearbyint(--height * aspect);
  const bool fits = width * height >= least && width * height <= all && width <= picture.columns &&
                    height <= picture.rows && width > 0 && height > 0;
  if (!fits) return std::nullopt;
  return Region{0, 0, height, static_cast<std::uint32_t>(width)};
}

/// A box's border in pixels, in fp32 as TF does, rounded down; of a part that is no number, 0.
std::uint32_t border(float part, std::uint32_t length) {
  if (!(part > 0)) return 0;
  if (part >= 1) return length;
  return std::min(static_cast<std::uint32_t>(part * static_cast<float>(length)), length);
}

/// Whether `crop` holds enough of one of the boxes that have pixels.
bool covers_one(const Region& crop, const PictureShape& picture, std::span<const Box> boxes) {
  constexpr Box kWhole;
  if (boxes.empty()) boxes = {&kWhole, 1};
  const auto shared = [](std::uint32_t first, std::uint32_t last, std::uint32_t from,
                         std::uint32_t count) {
    const std::uint32_t begin = std::max(first, from);
    const std::uint32_t end = std::min(last, from + count);
    return end > begin ? static_cast<double>(end - begin) : 0.0;
  };
  return std::ranges::any_of(boxes, [&](const Box& box) {
    const std::uint32_t top = border(box.top, picture.rows);
    const std::uint32_t bottom = border(box.bottom, picture.rows);
    const std::uint32_t left = border(box.left, picture.columns);
    const std::uint32_t right = border(box.right, picture.columns);
    if (bottom <= top || right <= left) return false;
    const double area = static_cast<double>(bottom - top) * (right - left);
    return shared(top, bottom, crop.top, crop.rows) *
               shared(left, right, crop.left, crop.columns) >=
           kLeastCovered * area;
  });
}

/// A region of this size, anywhere.
Region placed(const Region& size, const PictureShape& picture, Draws& draws) {
  const std::uint32_t top = draws.below(picture.rows - size.rows + 1);
  const std::uint32_t left = draws.below(picture.columns - size.columns + 1);
  return {top, left, size.rows, size.columns};
}

Region middle(const PictureShape& picture, std::uint32_t rows, std::uint32_t columns) {
  return {(picture.rows - rows) / 2, (picture.columns - columns) / 2, rows, columns};
}

}  // namespace

Region distorted_box(const PictureShape& picture, std::span<const Box> boxes, Draws& draws) {
  for (int attempt = 0; attempt < kBoxAttempts; ++attempt) {
    const double aspect = draws.uniform(kLeastAspect, kMostAspect);
    const std::optional<Region> size = distorted_size(picture, aspect, draws.word());
    const Region crop =
        placed(size.value_or(Region{0, 0, picture.rows, picture.columns}), picture, draws);
    if (size && covers_one(crop, picture, boxes)) return crop;
  }
  return {0, 0, picture.rows, picture.columns};
}

Region random_area(const PictureShape& picture, Draws& draws) {
  const double all = static_cast<double>(picture.rows) * picture.columns;
  for (int attempt = 0; attempt < kAreaAttempts; ++attempt) {
    const double area = all * draws.uniform(kSmallestPart, 1);
    const double aspect = exponential((2 * static_cast<double>(draws.uniform()) - 1) * kLogAspect);
    const double width = std::nearbyint(std::sqrt(area * aspect));
    const double height = std::nearbyint(std::sqrt(area / aspect));
    const bool fits = width > 0 && height > 0 && width <= picture.columns && height <= picture.rows;
    const Region size = fits ? Region{0, 0, rounded(height), rounded(width)}
                             : Region{0, 0, picture.rows, picture.columns};
    const Region crop = placed(size, picture, draws);
    if (fits) return crop;
  }
  const double aspect = static_cast<double>(picture.columns) / picture.rows;
  if (aspect < 3.0 / 4) {
    return middle(picture, std::min(rounded(picture.columns / (3.0 / 4)), picture.rows),
                  picture.columns);
  }
  if (aspect > 4.0 / 3) {
    return middle(picture, picture.rows,
                  std::min(rounded(picture.rows * (4.0 / 3)), picture.columns));
  }
  return {0, 0, picture.rows, picture.columns};
}

Region central_part(const PictureShape& picture) {
  const std::uint32_t top = picture.rows / 16;
  const std::uint32_t left = picture.columns / 16;
  return {top, left, picture.rows - 2 * top, picture.columns - 2 * left};
}

}  // namespace sterna::input
