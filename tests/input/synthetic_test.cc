#include "input/formats/synthetic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "input/batches/prepare.h"
#include "input/place/data_set.h"
#include "input/place/data_shard.h"
#include "input/place/data_source.h"

namespace sterna::input {
namespace {

std::shared_ptr<const Source> source(const PictureShape& shape, std::uint64_t seed = 1,
                                     Split split = Split::train, std::uint32_t classes = 0) {
  return open_data({}, split, {.classes = classes, .synthetic = SyntheticPictures{shape, seed}})
      .value();
}

std::vector<std::uint8_t> pixels(const Source& source, std::uint64_t index) {
  return source.read(index)->own;
}

TEST(Synthetic, LiesInNoFolderAndIsFoundOnlyByItsName) {
  const Result<DataLocation> found = find_data({.name = "synthetic"});
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->dir, "");
  EXPECT_EQ(found->name, "synthetic");
  EXPECT_FALSE(find_data({}).ok());
}

TEST(Synthetic, HasPicturesOfAnyShapeAndAllClasses) {
  const auto set = source({5, 7, 1}, 1, Split::test, 3);
  EXPECT_EQ(set->facts().shape, (PictureShape{5, 7, 1}));
  EXPECT_EQ(set->facts().classes, 3U);
  std::set<std::uint16_t> labels;
  for (std::uint64_t i = 0; i < set->facts().count; ++i) labels.insert(set->read(i)->label);
  EXPECT_EQ(labels, (std::set<std::uint16_t>{0, 1, 2}));
  EXPECT_EQ(pixels(*set, 0).size(), 35U);
  EXPECT_EQ(source({1, 1, 3})->facts().classes, 10U);
  EXPECT_EQ(source({1, 1, 3}, 1, Split::test, 40'000)->facts().count, 40'000U);
}

TEST(Synthetic, IsAFunctionOfSeedSplitAndIndex) {
  const PictureShape shape{8, 8, 3};
  const auto set = source(shape);
  EXPECT_EQ(pixels(*set, 7), pixels(*source(shape), 7));
  const std::set<std::vector<std::uint8_t>> all{pixels(*set, 7), pixels(*set, 8),
                                                pixels(*set, 65'535), pixels(*source(shape, 2), 7),
                                                pixels(*source(shape, 1, Split::test), 7)};
  EXPECT_EQ(all.size(), 5U);
  // The first word of Philox4x32-10 of the counter (0, 7, 0, 6) and the key 1, computed elsewhere.
  const std::vector<std::uint8_t> first = pixels(*set, 7);
  EXPECT_THAT(std::vector(first.begin(), first.begin() + 4),
              testing::ElementsAre(0x1d, 0x20, 0xdd, 0xc8));
}

TEST(Synthetic, EveryByteIsAsOftenAsAnyOther) {
  std::array<int, 256> times{};
  for (const std::uint8_t byte : pixels(*source({256, 256, 3}), 0)) ++times[byte];
  const auto [least, most] = std::ranges::minmax(times);  // 768 each, deviation 28
  EXPECT_GT(least, 630);
  EXPECT_LT(most, 910);
}

TEST(Synthetic, IsReadInShardsLikeAnyOther) {
  const DataOptions options{.synthetic = SyntheticPictures{}};
  const auto part = load_training_part({}, ShardId{1, 2}, options).value();
  EXPECT_EQ(part.range, (ExampleRange{32'768, 65'536}));
  EXPECT_EQ(part.sha256, load_training_part({}, ShardId{0, 2}, options)->sha256);
  const DataOptions other{.synthetic = SyntheticPictures{.seed = 2}};
  EXPECT_NE(part.sha256, load_training_part({}, ShardId{1, 2}, other)->sha256);
}

TEST(Synthetic, ReachesTheNetAsItIs) {
  const auto set = source({6, 6, 3});
  const Preparation how{
      .family = find_family(data_set_in({}, {.synthetic = SyntheticPictures{}}).family),
      .options = {.shape = {6, 6, 3}}};
  PreparedBatch batch(how, 1);
  const std::vector<BatchRow> rows{{0, 12}};
  ASSERT_TRUE(prepare_training(*set, 0, rows, how, batch.rows()).ok());
  EXPECT_EQ(batch.pixels, pixels(*set, 12));
  EXPECT_EQ(batch.labels[0], 2);
}

}  // namespace
}  // namespace sterna::input
