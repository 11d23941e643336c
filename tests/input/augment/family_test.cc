#include "input/augment/family.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "input/augment/crop.h"
#include "input/augment/scale.h"
#include "input/pictures/encode.h"
#include "tests/input/augment/prepare.h"

namespace sterna::input {
namespace {

TEST(Families, AreKnownByTheirNames) {
  EXPECT_THAT(family_names(), ::testing::ElementsAre("mnist", "cifar", "alexnet", "vgg",
                                                     "inception", "resize_crop", "unit"));
  for (const std::string_view name : family_names()) EXPECT_EQ(find_family(name)->name, name);
  EXPECT_EQ(find_family("lenet"), nullptr);
}

TEST(Families, SayTheShapeOfWhatTheyPrepare) {
  const auto shape_of = [](std::string_view name, const PictureShape& data) {
    return find_family(name)->shape(data);
  };
  EXPECT_EQ(shape_of("mnist", {28, 28, 1}), (PictureShape{28, 28, 1}));
  EXPECT_EQ(shape_of("cifar", {32, 32, 3}), (PictureShape{24, 24, 3}));
  EXPECT_EQ(shape_of("vgg", {0, 0, 3}), (PictureShape{224, 224, 3}));
  EXPECT_EQ(shape_of("inception", {0, 0, 1}), (PictureShape{224, 224, 1}));
}

TEST(Families, PrepareMnistToTheBitAsItsFormulaSays) {
  Picture picture{{16, 16, 1}, {}};
  for (int i = 0; i < 256; ++i) picture.pixels.push_back(static_cast<std::uint8_t>(i));
  const auto prepared = trained("mnist", as_stored(picture), picture.shape, Draws(1, 2, 3));
  for (std::size_t i = 0; i < 256; ++i) {
    EXPECT_EQ(prepared.value(i), (static_cast<float>(i) / 255.0F - 0.5F) * 2.0F);
  }
}

TEST(Families, PrepareUnitFrom0To1) {
  const Picture picture{{2, 2, 1}, {0, 51, 102, 255}};
  const auto prepared = trained("unit", as_stored(picture), picture.shape, Draws(1, 2, 3));
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(prepared.value(i), static_cast<float>(picture.pixels[i]) / 255.0F);
  }
}

TEST(Families, CifarStandardizesAPictureOfOneColour) {
  const Picture grey{{32, 32, 3}, std::vector<std::uint8_t>(3072, 90)};
  const auto prepared = trained("cifar", as_stored(grey), {24, 24, 3}, Draws(1, 2, 3));
  EXPECT_NEAR(prepared.value(100), 0, 1e-5);
}

TEST(Families, TakePicturesOfAnySize) {
  const PictureShape shapes[] = {{1, 1, 3}, {1, 5000, 3}, {5000, 1, 1}, {2, 3, 1}, {300, 400, 3}};
  for (const PictureShape& source : shapes) {
    const Picture picture = textured(source.rows, source.columns, source.channels);
    for (const std::string_view name : family_names()) {
      for (const PictureShape& shape : {PictureShape{1, 1, 1}, {24, 24, 3}, {32, 300, 3}}) {
        SCOPED_TRACE(std::string(name) + " of " + std::to_string(source.rows));
        for (std::uint64_t example = 0; example < 3; ++example) {
          trained(name, as_stored(picture), shape, Draws(3, 1, example));
        }
        evaluated(name, as_stored(picture), shape);
      }
    }
  }
}

TEST(Families, RefusePicturesThatAreTooLargeOrDamaged) {
  const Picture picture = textured(20, 20, 3);
  EncodedPicture cut_short = as_stored(picture);
  cut_short.bytes = cut_short.bytes.first(100);
  for (const std::string_view name : family_names()) {
    FamilyOptions options = options_for({8, 8, 3});
    PreparedPicture prepared(options.shape);
    EXPECT_FALSE(find_family(name)->evaluate(cut_short, options, prepared.into()).ok()) << name;
    options.most_pixels = 399;
    Draws draws(1, 2, 3);
    EXPECT_FALSE(
        find_family(name)->train(as_stored(picture), {}, draws, options, prepared.into()).ok())
        << name;
  }
}

TEST(Families, GiveTheSameBitsForAnyNumberOfThreads) {
  const Picture picture = textured(90, 70, 3);
  constexpr std::uint64_t kExamples = 40;
  for (const std::string_view name : family_names()) {
    const auto prepare = [&](std::uint64_t example) {
      return trained(name, as_stored(picture), {24, 24, 3}, Draws(8, 0, example));
    };
    std::vector<PreparedPicture> alone;
    for (std::uint64_t i = 0; i < kExamples; ++i) alone.push_back(prepare(i));
    std::vector<PreparedPicture> together(kExamples, PreparedPicture({24, 24, 3}));
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (std::uint64_t i = t; i < kExamples; i += 4) together[i] = prepare(i);
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(together, alone) << name;
  }
}

TEST(Crop, DistortedBoxCoversATenthOfABoxOrIsTheWholePicture) {
  const PictureShape picture{200, 300, 3};
  const Box box{0.1F, 0.8F, 0.2F, 0.95F};  // rows 20 to 40, columns 240 to 285
  int whole = 0;
  for (std::uint64_t example = 0; example < 1000; ++example) {
    Draws draws(4, 0, example);
    const Region crop = distorted_box(picture, {&box, 1}, draws);
    const auto shared = [](std::uint32_t first, std::uint32_t last, std::uint32_t from,
                           std::uint32_t count) {
      const std::uint32_t begin = std::max(first, from);
      const std::uint32_t end = std::min(last, from + count);
      return end > begin ? end - begin : 0;
    };
    EXPECT_GE(shared(20, 40, crop.top, crop.rows) * shared(240, 285, crop.left, crop.columns), 90U);
    whole += crop == Region{0, 0, 200, 300} ? 1 : 0;
  }
  EXPECT_EQ(whole, 0);
  const Box nowhere{0.5F, 0.5F, 0.5F, 0.5F};
  Draws draws(4, 0, 0);
  EXPECT_EQ(distorted_box(picture, {&nowhere, 1}, draws), (Region{0, 0, 200, 300}));
}

TEST(Crop, RandomAreaOfAStripIsItsMiddle) {
  Draws draws(4, 0, 0);
  EXPECT_EQ(random_area({2, 1000, 3}, draws), (Region{0, 498, 2, 3}));
  EXPECT_EQ(random_area({1000, 2, 3}, draws), (Region{498, 0, 3, 2}));
}

/// A picture that no JPEG changes much.
Picture smooth(std::uint32_t rows, std::uint32_t columns) {
  Picture picture{{rows, columns, 3}, {}};
  for (std::uint32_t y = 0; y < rows; ++y) {
    for (std::uint32_t x = 0; x < columns; ++x) {
      for (const std::uint32_t value : {40 + 160 * y / rows, 40 + 160 * x / columns, 128U}) {
        picture.pixels.push_back(static_cast<std::uint8_t>(value));
      }
    }
  }
  return picture;
}

TEST(Families, SeeOfAJpegWhatTheySeeOfItsPixels) {
  for (const std::uint32_t side : {90U, 700U}) {  // the larger one shrinks for most families
    const Picture picture = smooth(side, side + 30);
    const auto file = encode_jpeg(picture, 98);
    ASSERT_TRUE(file.ok());
    const EncodedPicture jpeg{Coding::jpeg, *file, {}};
    for (const std::string_view name : family_names()) {
      const PictureShape shape{64, 64, 3};
      const auto of_file = trained(name, jpeg, shape, Draws(3, 1, side));
      const auto of_pixels = trained(name, as_stored(picture), shape, Draws(3, 1, side));
      for (std::size_t i = 0; i < of_file.pixels.size(); ++i) {
        ASSERT_NEAR(of_file.pixels[i], of_pixels.pixels[i], 16)
            << name << " " << side << " at " << i;
      }
    }
  }
}

TEST(Scale, ShrinksOnlyJpegsAndNeverBelowTheNewSize) {
  const auto shrink = [](Coding coding, std::uint32_t rows, std::uint32_t columns) {
    return shrink_for(coding, {.part = {5, 5, rows, columns}, .rows = 100, .columns = 50});
  };
  EXPECT_EQ(shrink(Coding::pixels, 1000, 1000), 1U);
  EXPECT_EQ(shrink(Coding::png, 1000, 1000), 1U);
  EXPECT_EQ(shrink(Coding::jpeg, 199, 1000), 1U);
  EXPECT_EQ(shrink(Coding::jpeg, 200, 1000), 2U);
  EXPECT_EQ(shrink(Coding::jpeg, 1000, 200), 4U);
  EXPECT_EQ(shrink(Coding::jpeg, 9000, 9000), 8U);
}

}  // namespace
}  // namespace sterna::input
