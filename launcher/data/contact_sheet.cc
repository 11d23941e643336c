#include "launcher/data/contact_sheet.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "nets/tensor/pixels.h"

namespace sterna::launcher {

namespace {

// In pixels of the sheet.
constexpr std::uint32_t kLeastLength = 96;  // that small pictures are magnified to, about
constexpr std::uint32_t kGap = 4;
constexpr std::uint32_t kPen = 2;  // of a label
constexpr std::uint32_t kGlyphRows = 5;
constexpr std::uint32_t kGlyphColumns = 3;
constexpr std::uint32_t kLabelRows = kGap + kGlyphRows * kPen;

constexpr std::uint8_t kGrey = 128;
constexpr std::uint8_t kInk = 255;

/// The digits' pixels, three bits a row from the top.
constexpr std::array<std::uint16_t, 10> kDigits{
    0b111'101'101'101'111, 0b010'110'010'010'111, 0b111'001'111'100'111, 0b111'001'111'001'111,
    0b101'101'111'001'001, 0b111'100'111'001'111, 0b111'100'111'101'111, 0b111'001'010'010'010,
    0b111'101'111'101'111, 0b111'101'111'001'111};

struct Place {
  std::uint32_t top = 0;
  std::uint32_t left = 0;
};

/// The sheet in the making.
class Sheet {
 public:
  explicit Sheet(const input::PictureShape& shape)
      : picture_{shape, std::vector<std::uint8_t>(shape.bytes(), kGrey)} {}

  /// A pixel of the original as a square of `side`, as far as it is on the sheet: the labels of
  /// narrow pictures are wider than they.
  void square(Place at, std::uint32_t side, std::span<const std::uint8_t> color) {
    const input::PictureShape& shape = picture_.shape;
    for (std::uint32_t y = at.top; y < std::min(at.top + side, shape.rows); ++y) {
      for (std::uint32_t x = at.left; x < std::min(at.left + side, shape.columns); ++x) {
        std::ranges::copy(color,
                          &picture_.pixels[(std::size_t{y} * shape.columns + x) * shape.channels]);
      }
    }
  }

  void number(Place at, std::uint16_t label) {
    const std::array<std::uint8_t, 3> ink{kInk, kInk, kInk};
    const std::span color = std::span(ink).first(picture_.shape.channels);
    for (const char digit : std::to_string(label)) {
      const std::uint16_t glyph = kDigits[static_cast<std::size_t>(digit - '0')];
      for (std::uint32_t bit = 0; bit < kGlyphRows * kGlyphColumns; ++bit) {
        if ((glyph >> (kGlyphRows * kGlyphColumns - 1 - bit) & 1U) == 0) continue;
        square({at.top + bit / kGlyphColumns * kPen, at.left + bit % kGlyphColumns * kPen}, kPen,
               color);
      }
      at.left += (kGlyphColumns + 1) * kPen;
    }
  }

  input::Picture take() { return std::move(picture_); }

 private:
  input::Picture picture_;
};

/// The values from their least to their most as 0 to 255; all alike: grey.
std::vector<std::uint8_t> spread(std::span<const float> values) {
  const auto [least, most] = std::ranges::minmax(values);
  std::vector<std::uint8_t> bytes(values.size(), kGrey);
  if (!(most > least)) return bytes;
  for (std::size_t i = 0; i < values.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(std::lround((values[i] - least) / (most - least) * 255));
  }
  return bytes;
}

/// From the top left of a picture to the next one's.
Place pitch(const input::PictureShape& shape) {
  const std::uint32_t zoom = sheet_zoom(shape);
  return {shape.rows * zoom + kLabelRows + 2 * kGap, shape.columns * zoom + kGap};
}

}  // namespace

std::uint32_t sheet_zoom(const input::PictureShape& shape) {
  return std::max<std::uint32_t>(1, kLeastLength / std::max(shape.rows, shape.columns));
}

input::PictureShape sheet_shape(const input::PictureShape& shape) {
  constexpr auto kSide = static_cast<std::uint32_t>(kSheetSide);
  const Place step = pitch(shape);
  return {kSide * step.top + kGap, kSide * step.left + kGap, shape.channels};
}

input::Picture contact_sheet(const input::PreparedRows& rows, const input::PictureShape& shape) {
  const std::size_t count = rows.labels.size();
  assert(count > 0 && count <= kSheetSide * kSheetSide);
  std::vector<float> values(rows.pixels.size());
  nets::to_values({rows.pixels, rows.levels}, count, shape.channels, values);
  Sheet sheet(sheet_shape(shape));
  const std::uint32_t zoom = sheet_zoom(shape);
  const Place step = pitch(shape);
  for (std::size_t i = 0; i < count; ++i) {
    const Place at{kGap + static_cast<std::uint32_t>(i / kSheetSide) * step.top,
                   kGap + static_cast<std::uint32_t>(i % kSheetSide) * step.left};
    const std::vector<std::uint8_t> bytes =
        spread(std::span(values).subspan(i * shape.bytes(), shape.bytes()));
    for (std::uint32_t p = 0; p < shape.rows * shape.columns; ++p) {
      sheet.square({at.top + p / shape.columns * zoom, at.left + p % shape.columns * zoom}, zoom,
                   std::span(bytes).subspan(std::size_t{p} * shape.channels, shape.channels));
    }
    sheet.number({at.top + shape.rows * zoom + kGap, at.left}, rows.labels[i]);
  }
  return sheet.take();
}

}  // namespace sterna::launcher
