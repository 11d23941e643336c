#include "launcher/data/contact_sheet.h"

#include <gtest/gtest.h>

namespace sterna::launcher {
namespace {

TEST(ContactSheet, SpreadsEachPictureFromItsLeastToItsMostAboveItsLabel) {
  // Two pixels beside each other, whose values are 10/255 - 0.5 and 20/255 - 0.5.
  const input::PictureShape shape{1, 2, 1};
  std::vector<std::uint8_t> pixels{10, 20};
  std::vector<float> levels{0.5F, 1};
  std::vector<std::uint16_t> labels{1};
  const input::Picture sheet = contact_sheet({pixels, levels, labels}, shape);
  ASSERT_EQ(sheet.shape, sheet_shape(shape));
  const std::uint32_t zoom = sheet_zoom(shape);
  const auto at = [&](std::uint32_t y, std::uint32_t x) {
    return sheet.pixels[y * sheet.shape.columns + x];
  };
  std::uint32_t left = 0;
  while (at(zoom / 2, left) == 128) ++left;
  EXPECT_EQ(at(zoom / 2, left), 0);
  EXPECT_EQ(at(zoom / 2, left + zoom), 255);
  EXPECT_EQ(at(zoom / 2, left + 2 * zoom), 128);
  // The digit below: white, and nothing else is on the grey.
  std::size_t ink = 0;
  for (const std::uint8_t pixel : sheet.pixels) ink += pixel == 255 ? 1 : 0;
  EXPECT_GT(ink, std::size_t{zoom} * zoom);
}

TEST(ContactSheet, OfPicturesNarrowerThanTheirLabelsKeepsWithinItsBounds) {
  const input::PictureShape shape{200, 1, 3};
  std::vector<std::uint8_t> pixels(64 * shape.bytes(), 7);
  std::vector<float> levels(std::size_t{64} * 6, 1);
  std::vector<std::uint16_t> labels(64, 65535);
  EXPECT_EQ(contact_sheet({pixels, levels, labels}, shape).pixels.size(),
            sheet_shape(shape).bytes());
}

}  // namespace
}  // namespace sterna::launcher
