// A batch put together from shards, and every way in which a reader can lie about its part.
#include "actors/reader/batch_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace sterna::actors {
namespace {

using testing::HasSubstr;

constexpr std::uint32_t kShards = 3;
constexpr std::uint64_t kExamples = 100;
constexpr std::size_t kPixels = 4;

class BatchParts : public testing::Test {
 protected:
  BatchParts() {
    for (std::uint32_t shard = 0; shard < kShards; ++shard) {
      parts.push_back(
          answer_of(question, part(input::range_of({shard, kShards}, kExamples), "ab12"), how, pool)
              .value());
    }
  }

  /// Example i has the label 950 + i mod 51, which takes two bytes, and pixels that tell it
  /// from others.
  static input::TrainingPart part(const input::ExampleRange& range, const std::string& sha256) {
    input::TrainingPart part;
    part.range = range;
    part.first = range.first;
    part.examples = kExamples;
    part.sha256 = sha256;
    input::Dataset dataset{.count = range.count(),
                           .rows = 2,
                           .columns = 2,
                           .classes = 1001,
                           .images = {},
                           .labels = {}};
    for (std::uint64_t i = range.first; i < range.end; ++i) {
      dataset.labels.push_back(static_cast<std::uint16_t>(950 + i % 51));
      for (std::size_t pixel = 0; pixel < kPixels; ++pixel) {
        dataset.images.push_back(static_cast<std::uint8_t>(i * 2 + pixel));
      }
    }
    part.source = std::make_shared<const input::MemorySource>(std::move(dataset));
    return part;
  }

  static Result<Batch> answer_of(const input::BatchQuestion& question,
                                 const input::TrainingPart& part, const input::Preparation& how,
                                 BufferPool& pool) {
    return rows_of(question, own_rows(question, part), part, how, pool);
  }
  Result<Batch> whole() { return put_together(question, parts, readers, pool); }
  std::string complaint() {
    const Result<Batch> batch = whole();
    return batch.ok() ? "none" : batch.error().message;
  }

  const input::BatchQuestion question{.seed = 3, .step = 5, .rank = 1, .ranks = 2, .batch = 16};
  const std::vector<std::string> readers = {"reader0", "reader1", "reader2"};
  const input::Preparation how{.family = input::find_family("mnist"),
                               .options = {.shape = {2, 2, 1}}};
  BufferPool pool;
  std::vector<Batch> parts;
};

TEST_F(BatchParts, MakeTheBatchOfAReaderThatHoldsAll) {
  const Batch all = answer_of(question, part({0, kExamples}, ""), how, pool).value();
  EXPECT_TRUE(all.rows.empty());
  EXPECT_EQ(all.of, ShardOf{});
  const Result<Batch> batch = whole();
  ASSERT_TRUE(batch.ok()) << batch.error().message;
  EXPECT_TRUE(std::ranges::equal(batch->pixels.view(), all.pixels.view()));
  EXPECT_TRUE(std::ranges::equal(batch->levels.view(), all.levels.view()));
  EXPECT_TRUE(std::ranges::equal(batch->labels.view(), all.labels.view()));
  const auto indices = input::batch_indices(question, kExamples);
  for (std::size_t row = 0; row < indices.size(); ++row)
    EXPECT_EQ(labels_of(*batch)[row], 950 + indices[row] % 51) << row;
  EXPECT_EQ(batch->step, question.step);
  EXPECT_EQ(batch->rank, question.rank);
}

TEST_F(BatchParts, OfCifarAreAQuarterOfTheirNumbers) {
  constexpr std::uint32_t kRows = 16;
  input::TrainingPart cifar;
  cifar.examples = 4;
  cifar.range = {0, 4};
  input::Dataset dataset{.count = 4,
                         .rows = 32,
                         .columns = 32,
                         .channels = 3,
                         .classes = 10,
                         .images = {},
                         .labels = {0, 1, 2, 3}};
  dataset.images.resize(4 * dataset.image_size(), 7);
  cifar.source = std::make_shared<const input::MemorySource>(std::move(dataset));
  const input::Preparation small{.family = input::find_family("cifar"),
                                 .options = {.shape = {24, 24, 3}}};
  const Batch batch = answer_of(question, cifar, small, pool).value();
  const std::size_t sent = batch.pixels.size() + batch.levels.size() + batch.labels.size();
  const std::size_t numbers = kRows * (24 * 24 * 3 * sizeof(float) + sizeof(std::uint16_t));
  EXPECT_LE(static_cast<double>(sent), 0.27 * static_cast<double>(numbers));
}

TEST_F(BatchParts, MakeSomeRowsOfItAndTheseTheWhole) {
  const Batch all = answer_of(question, part({0, kExamples}, ""), how, pool).value();
  std::vector<Batch> pieces;
  for (const std::uint32_t first : {0U, 5U, 10U}) {
    input::BatchQuestion some = question;
    some.first_row = first;
    some.rows = first == 10 ? 6 : 5;
    parts.clear();
    for (std::uint32_t shard = 0; shard < kShards; ++shard) {
      parts.push_back(
          answer_of(some, part(input::range_of({shard, kShards}, kExamples), "ab12"), how, pool)
              .value());
    }
    Result<Batch> piece = put_together(some, parts, readers, pool);
    ASSERT_TRUE(piece.ok()) << piece.error().message;
    pieces.push_back(std::move(*piece));
    if (first != 5) continue;
    parts[0].rows[0] = 12;
    EXPECT_EQ(put_together(some, parts, readers, pool).error().message,
              "reader0: it answers row 12 where rows 5 to 9 were asked for");
  }
  const Batch whole = joined(std::move(pieces), pool);
  EXPECT_TRUE(std::ranges::equal(whole.pixels.view(), all.pixels.view()));
  EXPECT_TRUE(std::ranges::equal(whole.labels.view(), all.labels.view()));
}

TEST_F(BatchParts, MayBeEmpty) {
  const input::BatchQuestion small{.seed = 3, .step = 0, .rank = 0, .ranks = 1, .batch = 1};
  parts.clear();
  for (std::uint32_t shard = 0; shard < kShards; ++shard) {
    parts.push_back(
        answer_of(small, part(input::range_of({shard, kShards}, kExamples), "ab12"), how, pool)
            .value());
  }
  const Result<Batch> batch = put_together(small, parts, readers, pool);
  ASSERT_TRUE(batch.ok()) << batch.error().message;
  EXPECT_EQ(labels_of(*batch).size(), 1U);
}

TEST_F(BatchParts, ARowThatIsMissingIsItsReaders) {
  parts[1].rows.pop_back();
  EXPECT_THAT(complaint(), HasSubstr("reader1: it answers "));
  const std::size_t rows = parts[1].rows.size();
  parts[1].labels = share(make_buffer(2 * rows));
  parts[1].pixels = share(make_buffer(rows * kPixels));
  parts[1].levels = share(make_buffer(rows * 2 * sizeof(float)));
  EXPECT_THAT(complaint(), HasSubstr("reader1: it leaves out row "));
}

TEST_F(BatchParts, ARowThatComesTwiceIsItsReaders) {
  parts[1].rows[1] = parts[1].rows[0];
  EXPECT_THAT(complaint(), HasSubstr("reader1: it answers row"));
  EXPECT_THAT(complaint(), HasSubstr("twice"));
}

TEST_F(BatchParts, ARowOfAnotherShardIsRefused) {
  parts[1].rows[0] = parts[2].rows[0];
  EXPECT_THAT(complaint(), HasSubstr("reader1: it answers row"));
  EXPECT_THAT(complaint(), HasSubstr("which lies in the shard of reader2"));
}

TEST_F(BatchParts, ARowBeyondTheBatchIsRefused) {
  parts[2].rows.back() = 16;
  EXPECT_EQ(complaint(), "reader2: it answers row 16 where rows 0 to 15 were asked for");
}

TEST_F(BatchParts, LabelsAndImagesAreAsManyAsRows) {
  parts[0].labels = share(make_buffer(2 * parts[0].rows.size() + 2));
  EXPECT_THAT(complaint(), HasSubstr("reader0: it answers"));
  parts[0].labels = share(make_buffer(2 * parts[0].rows.size()));
  parts[0].pixels = share(make_buffer(parts[0].pixels.size() + 1));
  EXPECT_THAT(complaint(), HasSubstr("reader0: it answers"));
  parts[0].pixels = share(make_buffer(parts[0].rows.size() * 2));
  EXPECT_THAT(complaint(), HasSubstr("reader1: its pictures have 4 bytes, those of reader0 2"));
  parts[0].rows.clear();
  EXPECT_THAT(complaint(), HasSubstr("reader0: it answers 0 rows"));
}

TEST_F(BatchParts, AShardOfAnotherTrainingSetIsRefused) {
  parts[2].of.dataset = 1;
  EXPECT_THAT(complaint(), HasSubstr("reader2: its shard is of another training set"));
  EXPECT_THAT(complaint(), HasSubstr("than reader0's"));
  parts[2].of = {.examples = 0, .dataset = 0};
  EXPECT_THAT(complaint(), HasSubstr("reader2: it does not say which training set"));
  parts[2].of.examples = ~std::uint64_t{0};
  EXPECT_THAT(complaint(), HasSubstr("reader2: it does not say which training set"));
}

}  // namespace
}  // namespace sterna::actors
