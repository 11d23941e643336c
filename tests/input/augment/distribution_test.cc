// What is drawn, as seen in 10,000 prepared pictures. Seeded, so that a test holds always or never;
// the bound on a distance of Kolmogorov and Smirnov is met by 99.8 of 100 seeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "input/augment/crop.h"
#include "tests/input/augment/prepare.h"

namespace sterna::input {
namespace {

constexpr std::uint64_t kExamples = 10000;

Draws draws_of(std::uint64_t example) { return {20251, 3, example}; }

/// `steps`: what a sample is rounded to is this part of the range.
void expect_uniform(std::vector<double> samples, double low, double high, double steps = 0) {
  std::ranges::sort(samples);
  ASSERT_GE(samples.front(), low - steps * (high - low));
  ASSERT_LE(samples.back(), high + steps * (high - low));
  const auto count = static_cast<double>(samples.size());
  double farthest = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double part = (samples[i] - low) / (high - low);
    farthest = std::max({farthest, part - static_cast<double>(i) / count,
                         static_cast<double>(i + 1) / count - part});
  }
  EXPECT_LT(farthest, 1.86 / std::sqrt(count) + steps);
}

void expect_half(std::uint64_t hits, std::uint64_t of) {
  const auto count = static_cast<double>(of);
  EXPECT_NEAR(static_cast<double>(hits), count / 2, 3.1 * std::sqrt(count) / 2);
}

/// Red is the row and green the column, times `step`.
Picture coordinates(std::uint32_t side, std::uint32_t step) {
  Picture picture{{side, side, 3}, {}};
  for (std::uint32_t y = 0; y < side; ++y) {
    for (std::uint32_t x = 0; x < side; ++x) {
      for (const std::uint32_t value : {y * step, x * step, 128U}) {
        picture.pixels.push_back(static_cast<std::uint8_t>(value));
      }
    }
  }
  return picture;
}

TEST(Distribution, OfCifarsCropFlipAndContrast) {
  const Picture picture = coordinates(32, 8);
  std::vector<double> tops;
  std::vector<double> lefts;
  std::vector<double> contrasts;
  std::uint64_t flips = 0;
  std::set<std::pair<int, int>> places;
  for (std::uint64_t example = 0; example < kExamples; ++example) {
    const auto seen = trained("cifar", as_stored(picture), {24, 24, 3}, draws_of(example));
    const bool flip = seen.pixels[1] > seen.pixels[4];
    const int top = seen.pixels[0] / 8;
    const int left = seen.pixels[1] / 8 - (flip ? 23 : 0);
    flips += flip ? 1 : 0;
    places.insert({top, left});
    tops.push_back((top + 0.5) / 9);
    lefts.push_back((left + 0.5) / 9);
    // center = (mean - (1 - k) mean_c) / k of the third channel, whose mean is known.
    const double third = 128.0 / 255;
    const double mean = ((top + 11.5) * 8 / 255 + (left + 11.5) * 8 / 255 + third) / 3;
    if (std::abs(mean - third) > 0.01) {
      contrasts.push_back((mean - third) / (seen.center[2] - third));
    }
  }
  EXPECT_EQ(places.size(), 81U);
  expect_uniform(tops, 0, 1, 1.0 / 18);
  expect_uniform(lefts, 0, 1, 1.0 / 18);
  expect_half(flips, kExamples);
  ASSERT_GT(contrasts.size(), 8000U);
  expect_uniform(contrasts, 0.2, 1.8, 1e-4);
}

TEST(Distribution, OfAlexnetsCropAndFlip) {
  const Picture picture = coordinates(256, 1);
  std::vector<double> tops;
  std::vector<double> lefts;
  std::uint64_t flips = 0;
  for (std::uint64_t example = 0; example < kExamples; ++example) {
    const auto seen = trained("alexnet", as_stored(picture), {1, 2, 3}, draws_of(example));
    const bool flip = seen.pixels[1] > seen.pixels[4];
    flips += flip ? 1 : 0;
    tops.push_back(seen.pixels[0] + 0.5);
    lefts.push_back(std::min(seen.pixels[1], seen.pixels[4]) + 0.5);
  }
  expect_uniform(tops, 0, 256, 1.0 / 256);
  expect_uniform(lefts, 0, 255, 1.0 / 256);
  expect_half(flips, kExamples);
}

TEST(Distribution, OfVggsSideAndFlip) {
  // Two columns, 0 and 255: between them, a pixel is 2 * 255 / side brighter than the one before.
  const Picture picture{{2, 2, 1}, {0, 255, 0, 255}};
  std::vector<double> sides;
  std::uint64_t flips = 0;
  for (std::uint64_t example = 0; example < kExamples; ++example) {
    const auto seen = trained("vgg", as_stored(picture), {1, 200, 1}, draws_of(example)).pixels;
    const bool flip = seen.front() > seen.back();
    flips += flip ? 1 : 0;
    // Where the ramp lasts for 100 pixels, its slope; the windows that show less of it are left
    // out.
    const std::size_t first = flip ? 199 : 0;
    const std::size_t hundredth = flip ? 99 : 100;
    if (seen[hundredth] == 255) continue;
    sides.push_back(2.0 * 255 * 100 / (seen[hundredth] - seen[first]));
  }
  expect_half(flips, kExamples);
  ASSERT_GT(sides.size(), 4000U);
  const auto [least, most] = std::ranges::minmax(sides);
  EXPECT_NEAR(least, 256, 3);
  EXPECT_NEAR(most, 512, 6);
}

TEST(Distribution, OfInceptionsBrightnessSaturationAndHue) {
  // Of one colour, so that neither crop, method, contrast nor order change it: V tells the
  // brightness, the range of the channels the saturation, and HSV's hue the turn.
  Picture picture{{4, 4, 3}, {}};
  for (int i = 0; i < 16; ++i) picture.pixels.insert(picture.pixels.end(), {153, 102, 102});
  std::vector<double> brightness;
  std::vector<double> saturation;
  std::vector<double> hue;
  for (std::uint64_t example = 0; example < kExamples; ++example) {
    const auto seen = trained("inception", as_stored(picture), {1, 1, 3}, draws_of(example)).pixels;
    const int value = std::max({seen[0], seen[1], seen[2]});
    const double range = value - std::min({seen[0], seen[1], seen[2]});
    brightness.push_back((value - 153) / 255.0);
    saturation.push_back(range / 51);
    const double sixths = value == seen[0]   ? (seen[1] - seen[2]) / range
                          : value == seen[1] ? 2 + (seen[2] - seen[0]) / range
                                             : -2 + (seen[0] - seen[1]) / range;
    hue.push_back(sixths / 6);
  }
  expect_uniform(brightness, -32.0 / 255, 32.0 / 255, 1.0 / 64);
  expect_uniform(saturation, 0.5, 1.5, 1.0 / 51);
  expect_uniform(hue, -0.2, 0.2, 1.0 / 60);
}

TEST(Distribution, OfInceptionsMethodFlipOrderAndContrast) {
  // Tiles of two greys, of which each crop holds both and `nearest` keeps both as they are: their
  // distance tells the contrast. What the methods and orders are is the reference's to test; that
  // each comes as often, the first words tell.
  Picture picture{{64, 64, 3}, {}};
  for (int i = 0; i < 64 * 64; ++i) {
    const auto grey = static_cast<std::uint8_t>((i / 64 / 4 + i % 64 / 4) % 2 == 0 ? 110 : 146);
    picture.pixels.insert(picture.pixels.end(), {grey, grey, grey});
  }
  std::vector<double> contrasts;
  std::vector<int> methods(4);
  std::uint64_t flips = 0;
  std::uint64_t orders = 0;
  for (std::uint64_t example = 0; example < kExamples; ++example) {
    Draws draws = draws_of(example);
    const std::uint32_t method = draws.below(4);
    ++methods[method];
    flips += draws.coin() ? 1 : 0;
    orders += draws.coin() ? 1 : 0;
    if (method != 1) continue;
    const auto seen = trained("inception", as_stored(picture), {16, 16, 3}, draws_of(example));
    const auto [least, most] = std::ranges::minmax(seen.pixels);
    contrasts.push_back((most - least) / 36.0);
  }
  for (const int count : methods) EXPECT_NEAR(count, 2500, 134);  // 3.1 deviations
  expect_half(flips, kExamples);
  expect_half(orders, kExamples);
  expect_uniform(contrasts, 0.5, 1.5, 1.0 / 36);
}

TEST(Distribution, OfInceptionsBox) {
  const PictureShape picture{1000, 1000, 3};
  std::vector<double> heights;
  std::vector<double> tops;
  std::vector<double> lefts;
  for (std::uint64_t example = 0; example < kExamples; ++example) {
    Draws draws = draws_of(example);
    const Region crop = distorted_box(picture, {}, draws);
    const double aspect = static_cast<double>(crop.columns) / crop.rows;
    const double area = 1e-6 * crop.rows * crop.columns;
    ASSERT_TRUE(aspect > 0.748 && aspect < 1.333) << aspect;
    ASSERT_TRUE(area >= 0.1 && area <= 1) << area;  // it covers a tenth of the picture
    // Given the aspect, heights from that of a tenth of the area to the largest are alike.
    const double least = std::sqrt(1e5 / aspect);
    const double most = std::min({1000.0, std::sqrt(1e6 / aspect), 1000.5 / aspect});
    heights.push_back((crop.rows + 0.5 - least) / (most + 1 - least));
    tops.push_back((crop.top + 0.5) / (1001.0 - crop.rows));
    lefts.push_back((crop.left + 0.5) / (1001.0 - crop.columns));
  }
  expect_uniform(heights, 0, 1, 0.005);
  expect_uniform(tops, 0, 1, 0.002);
  expect_uniform(lefts, 0, 1, 0.002);
}

TEST(Distribution, OfResizeCropsAreaAndAspect) {
  const PictureShape picture{1000, 1000, 3};
  std::vector<double> areas;
  std::vector<double> aspects;
  std::vector<double> tops;
  for (std::uint64_t example = 0; example < kExamples; ++example) {
    Draws draws = draws_of(example);
    const Region crop = random_area(picture, draws);
    const double area = 1e-6 * crop.rows * crop.columns;
    ASSERT_TRUE(area > 0.079 && area <= 1) << area;
    if (area > 0.7) continue;  // of the larger ones, some do not fit
    areas.push_back(area);
    aspects.push_back(std::log(static_cast<double>(crop.columns) / crop.rows));
    tops.push_back((crop.top + 0.5) / (1001.0 - crop.rows));
  }
  ASSERT_GT(areas.size(), 5000U);
  expect_uniform(areas, 0.08, 0.7, 0.005);
  expect_uniform(aspects, -std::log(4.0 / 3), std::log(4.0 / 3), 0.01);
  expect_uniform(tops, 0, 1, 0.002);
}

}  // namespace
}  // namespace sterna::input
