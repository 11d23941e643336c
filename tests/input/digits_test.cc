#include "input/digits/digits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <vector>

#include "input/digits/digit_glyphs.h"
#include "input/formats/idx.h"
#include "scratch.h"

namespace sterna::input {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::uint64_t fnv1a(const std::vector<std::uint8_t>& bytes) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3ULL;
  return hash;
}

TEST(Alphabet, TheSkeletonsOfAFamilyCanBeMixed) {
  for (const auto& families : handwritten_digits()) {
    ASSERT_FALSE(families.empty());
    for (const GlyphFamily& family : families) {
      const Skeleton& first = family.skeletons.at(0);
      for (const Skeleton& skeleton : family.skeletons) {
        ASSERT_EQ(skeleton.size(), first.size());
        for (std::size_t i = 0; i < first.size(); ++i) {
          EXPECT_EQ(skeleton[i].size(), first[i].size());
          EXPECT_GE(skeleton[i].size(), 2U);
        }
      }
    }
  }
}

TEST(Digits, AreAFunctionOfSeedSplitAndIndex) {
  const Dataset once = draw_digits(1, Split::train, 50);
  EXPECT_EQ(once.images, draw_digits(1, Split::train, 50).images);
  const Dataset more = draw_digits(1, Split::train, 60);
  EXPECT_TRUE(std::equal(once.images.begin(), once.images.end(), more.images.begin()));
  EXPECT_NE(once.images, draw_digits(2, Split::train, 50).images);
  EXPECT_NE(once.images, draw_digits(1, Split::test, 50).images);
}

TEST(Digits, AreTheSameOnEveryMachineAndCompiler) {
  // Only IEEE arithmetic without contraction is used, so the bytes are pinned.
  const Dataset digits = draw_digits(1, Split::train, 200);
  EXPECT_EQ(fnv1a(digits.images), 0x72752c8860b9dea7ULL);
  EXPECT_EQ(fnv1a({digits.labels.begin(), digits.labels.end()}), 0x57d1ccb9aa40b985ULL);
}

TEST(Digits, HaveAllTenClassesAboutEquallyOften) {
  const Dataset digits = draw_digits(1, Split::test, 2000);
  std::array<int, 10> histogram{};
  for (const std::uint16_t label : digits.labels) ++histogram.at(label);
  for (const int count : histogram) EXPECT_NEAR(count, 200, 60);
}

TEST(Digits, AreWhiteOnBlackAndCentredWithAnEmptyBorder) {
  const Dataset digits = draw_digits(1, Split::test, 300);
  for (std::size_t i = 0; i < digits.count; ++i) {
    const auto image = digits.image(i);
    double mass = 0;
    double rows = 0;
    double columns = 0;
    for (std::size_t p = 0; p < image.size(); ++p) {
      mass += image[p];
      const std::size_t row = p / 28;
      const std::size_t column = p % 28;
      rows += image[p] * static_cast<double>(row);
      columns += image[p] * static_cast<double>(column);
    }
    EXPECT_GT(mass / 784, 8) << i;
    EXPECT_LT(mass / 784, 100) << i;
    EXPECT_NEAR(rows / mass, 13.5, 0.7) << i;
    EXPECT_NEAR(columns / mass, 13.5, 0.7) << i;
    EXPECT_GT(*std::max_element(image.begin(), image.end()), 150) << i;
  }
}

TEST(Digits, AreWrittenAsIdxFilesThatLoadAsMnistDoes) {
  const TemporaryFolder scratch;
  std::vector<std::size_t> progress;
  const Result<void> made = make_digits(scratch / "digits", {.seed = 3, .train = 30, .test = 20},
                                        [&](std::size_t done, std::size_t total) {
                                          progress.push_back(done);
                                          EXPECT_EQ(total, 50U);
                                        });
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_THAT(progress, ElementsAre(30, 50));
  EXPECT_THAT(files_in(scratch / "digits"),
              ElementsAre("DRAWN.txt", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte",
                          "train-images-idx3-ubyte", "train-labels-idx1-ubyte"));
  const Result<Dataset> train = load_mnist(scratch / "digits", Split::train);
  const Result<Dataset> test = load_mnist(scratch / "digits", Split::test);
  ASSERT_TRUE(train.ok() && test.ok());
  EXPECT_EQ(train->images, draw_digits(3, Split::train, 30).images);
  EXPECT_EQ(test->labels, draw_digits(3, Split::test, 20).labels);
}

TEST(Digits, ReplaceDrawnDigitsButNeverSomebodysMnist) {
  const TemporaryFolder scratch;
  ASSERT_TRUE(make_digits(scratch / "digits", {.seed = 3, .train = 3, .test = 2}).ok());
  EXPECT_TRUE(make_digits(scratch / "digits", {.seed = 4, .train = 3, .test = 2}).ok());
  std::filesystem::remove(scratch / "digits/DRAWN.txt");
  const Result<void> refused = make_digits(scratch / "digits", {.seed = 5, .train = 3, .test = 2});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Errc::already_exists);
  EXPECT_THAT(refused.error().message, HasSubstr("train-images-idx3-ubyte"));
}

}  // namespace
}  // namespace sterna::input
