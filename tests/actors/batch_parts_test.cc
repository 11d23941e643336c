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
          rows_of(question, part(input::range_of({shard, kShards}, kExamples), "ab12"), pool));
    }
  }

  /// Example i has the label 950 + i mod 51, which takes two bytes, and pixels that tell it
  /// from others.
  static input::TrainingPart part(const input::ExampleRange& range, const std::string& sha256) {
    input::TrainingPart part;
    part.range = range;
    part.examples = kExamples;
    part.sha256 = sha256;
    part.dataset.count = range.count();
    part.dataset.rows = part.dataset.columns = 2;
    part.dataset.classes = 1001;
    for (std::uint64_t i = range.first; i < range.end; ++i) {
      part.dataset.labels.push_back(static_cast<std::uint16_t>(950 + i % 51));
      for (std::size_t pixel = 0; pixel < kPixels; ++pixel) {
        part.dataset.images.push_back(static_cast<std::uint8_t>(i * 2 + pixel));
      }
    }
    return part;
  }

  Result<Batch> whole() { return put_together(question, parts, readers, pool); }
  std::string complaint() {
    const Result<Batch> batch = whole();
    return batch.ok() ? "none" : batch.error().message;
  }

  const input::BatchQuestion question{.seed = 3, .step = 5, .rank = 1, .ranks = 2, .batch = 16};
  const std::vector<std::string> readers = {"reader0", "reader1", "reader2"};
  BufferPool pool;
  std::vector<Batch> parts;
};

TEST_F(BatchParts, MakeTheBatchOfAReaderThatHoldsAll) {
  const Batch all = rows_of(question, part({0, kExamples}, ""), pool);
  EXPECT_TRUE(all.rows.empty());
  EXPECT_EQ(all.of, ShardOf{});
  const Result<Batch> batch = whole();
  ASSERT_TRUE(batch.ok()) << batch.error().message;
  EXPECT_TRUE(std::ranges::equal(batch->images.view(), all.images.view()));
  EXPECT_TRUE(std::ranges::equal(batch->labels.view(), all.labels.view()));
  const auto indices = input::batch_indices(question, kExamples);
  for (std::size_t row = 0; row < indices.size(); ++row)
    EXPECT_EQ(labels_of(*batch)[row], 950 + indices[row] % 51) << row;
  EXPECT_EQ(batch->step, question.step);
  EXPECT_EQ(batch->rank, question.rank);
}

TEST_F(BatchParts, MayBeEmpty) {
  const input::BatchQuestion small{.seed = 3, .step = 0, .rank = 0, .ranks = 1, .batch = 1};
  parts.clear();
  for (std::uint32_t shard = 0; shard < kShards; ++shard) {
    parts.push_back(
        rows_of(small, part(input::range_of({shard, kShards}, kExamples), "ab12"), pool));
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
  parts[1].images = share(make_buffer(rows * kPixels * sizeof(float)));
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
  EXPECT_EQ(complaint(), "reader2: it answers row 16 of a batch of 16");
}

TEST_F(BatchParts, LabelsAndImagesAreAsManyAsRows) {
  parts[0].labels = share(make_buffer(2 * parts[0].rows.size() + 2));
  EXPECT_THAT(complaint(), HasSubstr("reader0: it answers"));
  parts[0].labels = share(make_buffer(2 * parts[0].rows.size()));
  parts[0].images = share(make_buffer(parts[0].images.size() + 1));
  EXPECT_THAT(complaint(), HasSubstr("reader0: it answers"));
  parts[0].images = share(make_buffer(parts[0].rows.size() * 8));
  EXPECT_THAT(complaint(), HasSubstr("reader1: its images have 16 bytes, those of reader0 8"));
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
