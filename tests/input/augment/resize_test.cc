#include "input/augment/resize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "tests/input/augment/prepare.h"

namespace sterna::input {
namespace {

constexpr Filter kFilters[] = {Filter::bilinear, Filter::nearest, Filter::bicubic, Filter::area,
                               Filter::triangle};

std::vector<std::uint8_t> resized(const Picture& picture, Filter filter, std::uint32_t rows,
                                  std::uint32_t columns, kernels::Isa isa = kernels::best_isa()) {
  const Taps down = make_taps(filter, {picture.shape.rows, rows, 0, rows});
  const Taps along = make_taps(filter, {picture.shape.columns, columns, 0, columns});
  std::vector<std::uint8_t> pixels(std::size_t{rows} * columns * picture.shape.channels);
  Picture part{{down.end - down.begin, along.end - along.begin, picture.shape.channels}, {}};
  for (std::uint32_t y = down.begin; y < down.end; ++y) {
    const std::size_t channels = picture.shape.channels;
    const auto row = picture.pixels.begin() +
                     static_cast<std::ptrdiff_t>(std::size_t{y} * picture.shape.columns * channels);
    part.pixels.insert(part.pixels.end(), row + static_cast<std::ptrdiff_t>(along.begin * channels),
                       row + static_cast<std::ptrdiff_t>(along.end * channels));
  }
  resize(part, down, along, pixels, isa);
  return pixels;
}

std::vector<std::uint8_t> resized_row(std::vector<std::uint8_t> row, Filter filter,
                                      std::uint32_t columns) {
  const auto length = static_cast<std::uint32_t>(row.size());
  return resized({{1, length, 1}, std::move(row)}, filter, 1, columns);
}

using ::testing::ElementsAre;

TEST(Resize, TakesTheNeighboursWhereTf1Does) {
  EXPECT_THAT(resized_row({0, 100}, Filter::bilinear, 4), ElementsAre(0, 50, 100, 100));
  EXPECT_THAT(resized_row({0, 100}, Filter::nearest, 4), ElementsAre(0, 0, 100, 100));
  EXPECT_THAT(resized_row({10, 20, 30, 40}, Filter::nearest, 3), ElementsAre(10, 20, 30));
  EXPECT_THAT(resized_row({10, 20, 30, 40}, Filter::bilinear, 2), ElementsAre(10, 30));
  EXPECT_THAT(resized_row({0, 90, 180, 30}, Filter::area, 2), ElementsAre(45, 105));
  EXPECT_THAT(resized_row({0, 90, 180}, Filter::area, 2), ElementsAre(30, 150));
  // At the middle of two pixels: 0.59375 of each neighbour, -0.09375 of the next ones.
  EXPECT_THAT(resized_row({0, 0, 100, 100}, Filter::bicubic, 8),
              ElementsAre(0, 0, 0, 50, 100, 109, 100, 100));
}

TEST(Resize, KeepsAPictureThatKeepsItsSize) {
  const Picture picture = textured(13, 17, 3);
  for (const Filter filter : kFilters) {
    EXPECT_EQ(resized(picture, filter, 13, 17), picture.pixels) << static_cast<int>(filter);
  }
}

TEST(Resize, KeepsOneColourWhateverTheSizes) {
  for (const Filter filter : kFilters) {
    for (const auto& [from, to] : {std::pair{1, 7}, {7, 1}, {5000, 3}, {3, 500}, {1, 1}}) {
      const auto rows = static_cast<std::uint32_t>(from);
      Picture picture{{rows, 2, 3}, std::vector<std::uint8_t>(std::size_t{rows} * 6, 201)};
      const auto pixels = resized(picture, filter, static_cast<std::uint32_t>(to), 3);
      EXPECT_THAT(pixels, ::testing::Each(201)) << static_cast<int>(filter) << " from " << from;
    }
  }
}

TEST(Resize, GivesTheSameBitsOnEveryInstructionSet) {
  for (const Filter filter : kFilters) {
    for (const std::uint32_t channels : {1U, 3U}) {
      const Picture picture = textured(97, 61, channels);
      for (const std::uint32_t size : {1U, 31U, 160U}) {
        EXPECT_EQ(resized(picture, filter, size, size + 3, kernels::Isa::scalar),
                  resized(picture, filter, size, size + 3))
            << static_cast<int>(filter);
      }
    }
  }
}

TEST(Taps, OfAWindowAreThoseOfTheWhole) {
  for (const Filter filter : kFilters) {
    const Taps whole = make_taps(filter, {100, 37, 0, 37});
    const Taps window = make_taps(filter, {100, 37, 10, 5});
    EXPECT_LT(window.end - window.begin, 30U);
    for (std::size_t i = 0; i < 5; ++i) {
      std::vector<float> dense(200);
      for (std::uint32_t t = 0; t < whole.width; ++t) {
        dense[whole.begin + whole.starts[10 + i] + t] += whole.weights[(10 + i) * whole.width + t];
      }
      for (std::uint32_t t = 0; t < window.width; ++t) {
        dense[window.begin + window.starts[i] + t] -= window.weights[i * window.width + t];
      }
      EXPECT_THAT(dense, ::testing::Each(0)) << static_cast<int>(filter) << " at " << i;
    }
  }
}

TEST(Taps, ReadNothingBeyondTheirPart) {
  for (const Filter filter : kFilters) {
    for (std::uint32_t from = 1; from < 40; ++from) {
      for (std::uint32_t to = 1; to < 40; ++to) {
        Taps taps = make_taps(filter, {from, to, to / 3, to - to / 3});
        reverse(taps);
        ASSERT_LE(taps.end, from);
        for (const std::uint32_t start : taps.starts) {
          ASSERT_LE(taps.begin + start + taps.width, taps.end);
        }
        for (std::size_t i = 0; i < taps.starts.size(); ++i) {
          const auto first = taps.weights.begin() + static_cast<std::ptrdiff_t>(i * taps.width);
          ASSERT_NEAR(std::accumulate(first, first + taps.width, 0.0), 1, 1e-6);
        }
      }
    }
  }
}

TEST(Taps, ReversedOnesFlipThePicture) {
  const Picture picture = textured(4, 23, 3);
  const Taps rows = make_taps(Filter::area, {4, 2, 0, 2});
  Taps columns = make_taps(Filter::area, {23, 11, 0, 11});
  std::vector<std::uint8_t> straight(66);
  std::vector<std::uint8_t> flipped(66);
  resize(picture, rows, columns, straight);
  reverse(columns);
  resize(picture, rows, columns, flipped);
  for (std::size_t y = 0; y < 2; ++y) {
    for (std::size_t x = 0; x < 11; ++x) {
      for (std::size_t c = 0; c < 3; ++c) {
        EXPECT_EQ(flipped[(y * 11 + x) * 3 + c], straight[(y * 11 + 10 - x) * 3 + c]);
      }
    }
  }
}

}  // namespace
}  // namespace sterna::input
