#include "input/augment/colour.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/input/augment/prepare.h"

namespace sterna::input {
namespace {

using ::testing::ElementsAre;

std::vector<std::uint8_t> changed(std::vector<std::uint8_t> pixels, const ColourChange& change,
                                  std::uint32_t channels = 3,
                                  kernels::Isa isa = kernels::best_isa()) {
  change_colours(pixels, channels, change, isa);
  return pixels;
}

TEST(Colours, StayWhereNothingChanges) {
  const std::vector<std::uint8_t> pixels = textured(40, 31, 3).pixels;
  for (const bool last : {true, false}) {
    EXPECT_EQ(changed(pixels, {.contrast_last = last}), pixels);
    EXPECT_EQ(changed(pixels, {.contrast_last = last}, 1), pixels);
  }
}

TEST(Colours, TurnBrightenAndFadeAsHsvSays) {
  const std::vector<std::uint8_t> red = {200, 100, 100};
  EXPECT_THAT(changed(red, {.hue = 1.0F / 3}), ElementsAre(100, 200, 100));
  EXPECT_THAT(changed(red, {.hue = -1.0F / 3}), ElementsAre(100, 100, 200));
  EXPECT_THAT(changed(red, {.hue = 1.0F / 6}), ElementsAre(200, 200, 100));
  EXPECT_THAT(changed(red, {.saturation = 0.5F}), ElementsAre(200, 150, 150));
  EXPECT_THAT(changed(red, {.saturation = 9}), ElementsAre(200, 0, 0));
  EXPECT_THAT(changed(red, {.brightness = 0.2F}), ElementsAre(251, 151, 151));
  EXPECT_THAT(changed(red, {.brightness = 1}), ElementsAre(255, 255, 255));
  EXPECT_THAT(changed(red, {.brightness = -1}), ElementsAre(0, 0, 0));
}

TEST(Colours, ContrastKeepsTheMeanOfEachChannel) {
  const std::vector<std::uint8_t> pixels = {100, 50, 0, 200, 70, 0};
  for (const bool last : {true, false}) {
    EXPECT_THAT(changed(pixels, {.contrast = 0.5F, .contrast_last = last}),
                ElementsAre(125, 55, 0, 175, 65, 0));
  }
  EXPECT_THAT(changed({100, 200}, {.contrast = 1.5F}, 1), ElementsAre(75, 225));
}

TEST(Colours, GiveTheSameBitsOnEveryInstructionSet) {
  // Sizes around a block's 256 pixels.
  for (const std::uint32_t columns : {1U, 255U, 256U, 257U, 1000U}) {
    const std::vector<std::uint8_t> pixels = textured(3, columns, 3).pixels;
    for (const bool last : {true, false}) {
      const ColourChange change{-0.1F, 1.4F, 0.17F, 1.3F, last};
      EXPECT_EQ(changed(pixels, change, 3, kernels::Isa::scalar), changed(pixels, change));
    }
  }
}

}  // namespace
}  // namespace sterna::input
