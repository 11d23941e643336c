#include "input/batches/batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "input/batches/permutation.h"
#include "page_vectors.h"

namespace sterna::input {
namespace {

std::vector<std::uint64_t> first_images(const Permutation& order, std::uint64_t count) {
  std::vector<std::uint64_t> images;
  for (std::uint64_t i = 0; i < count; ++i) images.push_back(order(i));
  return images;
}

TEST(Permutation, IsABijectionForSizesAroundPowersOfFourAndOthers) {
  for (const std::uint64_t n : {1, 2, 3, 4, 5, 10, 15, 16, 17, 63, 64, 65, 1000, 10000, 60000}) {
    const Permutation order(7, n, 3);
    std::vector<bool> seen(n);
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t image = order(i);
      ASSERT_LT(image, n);
      EXPECT_FALSE(seen[image]) << image << " twice of " << n;
      seen[image] = true;
    }
  }
}

TEST(Permutation, StaysBelowNForSizesBeyond32Bits) {
  for (const std::uint64_t n : {(1ULL << 32) - 1, (1ULL << 32) + 1, 1ULL << 40, ~0ULL}) {
    const Permutation order(7, n, 0);
    for (const std::uint64_t i : {std::uint64_t{0}, n / 2, n - 1}) EXPECT_LT(order(i), n);
  }
}

TEST(Permutation, DiffersBySeedAndByAll64BitsOfTheEpoch) {
  const auto base = first_images(Permutation(1, 60000, 0), 32);
  EXPECT_NE(base, first_images(Permutation(2, 60000, 0), 32));
  EXPECT_NE(base, first_images(Permutation(1ULL << 40, 60000, 0), 32));
  EXPECT_NE(base, first_images(Permutation(1, 60000, 1), 32));
  EXPECT_NE(base, first_images(Permutation(1, 60000, 1ULL << 33), 32));
}

TEST(Permutation, SpreadsNeighboursEvenly) {
  // The first tenth of an epoch hits each tenth of the data about equally: 600 times, deviation 22.
  std::vector<int> hits(10);
  const Permutation order(11, 60000, 2);
  for (std::uint64_t i = 0; i < 6000; ++i) ++hits[order(i) / 6000];
  for (const int count : hits) EXPECT_NEAR(count, 600, 110);
}

TEST(Batch, AgreesWithTheTestVectorsOfThePage) {
  const std::vector<std::string> lines = page_vectors("vectors");
  ASSERT_GE(lines.size(), 6U);
  for (const std::string& line : lines) {
    BatchQuestion question;
    std::uint64_t size = 0;
    std::istringstream words(line);
    char colon = 0;
    words >> question.seed >> size >> question.step >> question.rank >> question.ranks >>
        question.batch >> colon;
    ASSERT_TRUE(words.good() && colon == ':') << line;
    std::vector<std::uint64_t> expected;
    for (std::uint64_t index = 0; words >> index;) expected.push_back(index);
    EXPECT_EQ(batch_indices(question, size), expected) << line;
  }
}

TEST(Batch, TheBatchesOfAnEpochCoverEachExampleOnce) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t step = 0; step < 25; ++step) {
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      for (const std::uint64_t index : batch_indices({5, step, rank, 4, 10}, 1000)) {
        EXPECT_LT(index, 1000U);
        EXPECT_TRUE(seen.insert(index).second);
      }
    }
  }
  EXPECT_EQ(seen.size(), 1000U);
}

TEST(Batch, OneThatStraddlesAnEpochsBorderIsFullAndTakesFromBoth) {
  const auto indices = batch_indices({9, 3, 0, 1, 8}, 27);  // positions 24 .. 31
  const Permutation first(9, 27, 0);
  const Permutation second(9, 27, 1);
  EXPECT_THAT(indices, ::testing::ElementsAre(first(24), first(25), first(26), second(0), second(1),
                                              second(2), second(3), second(4)));
}

TEST(Batch, OneLargerThanTheDataSetTakesSeveralEpochs) {
  const auto indices = batch_indices({9, 0, 0, 1, 12}, 4);
  ASSERT_EQ(indices.size(), 12U);
  for (std::size_t epoch = 0; epoch < 3; ++epoch) {
    const auto begin = indices.begin() + static_cast<std::ptrdiff_t>(4 * epoch);
    EXPECT_THAT(std::vector<std::uint64_t>(begin, begin + 4),
                ::testing::UnorderedElementsAre(0, 1, 2, 3));
  }
}

TEST(Batch, SomeRowsAreAPartOfTheWhole) {
  const auto whole = batch_indices({9, 2, 0, 1, 12}, 27);  // straddles the first epoch's end
  for (const std::uint32_t first : {0U, 2U, 3U, 4U, 11U}) {
    for (const std::uint32_t rows : {0U, 1U}) {
      const auto end = rows == 0 ? whole.end() : whole.begin() + first + rows;
      EXPECT_EQ(batch_indices({9, 2, 0, 1, 12, first, rows}, 27),
                std::vector(whole.begin() + first, end));
    }
  }
}

TEST(Batch, RanksSplitAStepAsOneRankOfTheWholeBatchWouldSeeIt) {
  const auto whole = batch_indices({5, 6, 0, 1, 64}, 60000);
  auto halves = batch_indices({5, 6, 0, 2, 32}, 60000);
  const auto second = batch_indices({5, 6, 1, 2, 32}, 60000);
  halves.insert(halves.end(), second.begin(), second.end());
  EXPECT_EQ(whole, halves);
}

}  // namespace
}  // namespace sterna::input
