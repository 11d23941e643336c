// How far ahead of its steps a rank's batches are asked for, of whom, and what it gets of the
// answers, in whatever order they come.
#include "actors/worker/batches_ahead.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/actors/worker/worker_parts.h"

namespace sterna::actors {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

constexpr std::size_t kSmall = 10;  // bytes of an image

class BatchesAheadTest : public WorkerParts {
 protected:
  BatchesAheadTest() {
    job.batch = 4;
    job.steps = 5;
    job.ranks = 1;
  }
  void begin_with_readers(std::uint32_t readers, std::size_t image_bytes) {
    for (std::uint32_t i = 0; i < readers; ++i)
      args.readers.push_back("reader" + std::to_string(i));
    begin();
    std::vector<Peer<InputReaderInterface>> found;
    for (const std::string& name : args.readers) {
      spawn_reader(name);
      found.push_back(peer<InputReaderInterface>(name));
    }
    ahead = &make<BatchesAhead>(*context, std::move(found), worker->poster(),
                                std::make_shared<BufferPool>());
    ahead->begin(0, 0, image_bytes);
  }
  void ask(std::uint64_t step) {
    ahead->ask(0, step);
    settle();
  }
  std::vector<std::uint64_t> steps_asked(const std::string& reader) {
    std::vector<std::uint64_t> steps;
    for (std::size_t i = 0; i < batches[reader].size(); ++i) {
      steps.push_back(batches[reader][i].step);
    }
    return steps;
  }
  /// To a question, labelled by the rows that it is about.
  static Batch answer_to(const NextBatch& question) {
    const auto labels = make_buffer(question.rows * sizeof(std::uint16_t));
    for (std::uint32_t row = 0; row < question.rows; ++row) {
      labels->as<std::uint16_t>()[row] = static_cast<std::uint16_t>(question.first_row + row);
    }
    return {.step = question.step,
            .rank = question.rank,
            .pixels = share(make_buffer(question.rows)),
            .levels = share(make_buffer(question.rows * sizeof(float))),
            .labels = share(labels)};
  }
  void answer(const std::string& reader, std::size_t i) {
    batches[reader].answer(i, answer_to(batches[reader][i]));
    settle();
  }
  std::shared_ptr<std::optional<Result<Batch>>> next(std::uint64_t step) {
    return result_of(ahead->next(0, step));
  }
  /// What the first batch ends as, of which the only answer is this.
  Error error_of(Batch wrong) {
    const auto batch = next(0);
    batches["reader0"].answer(0, std::move(wrong));
    settle();
    return batch->has_value() && !(*batch)->ok() ? (*batch)->error() : Error{Errc::io, "none"};
  }

  BatchesAhead* ahead = nullptr;
};

TEST_F(BatchesAheadTest, AreAskedForUpToThreeStepsAheadEachOnceAndNoneBehindTheLast) {
  begin_with_readers(1, kSmall);
  EXPECT_FALSE(ahead->has(0));
  ask(0);
  EXPECT_THAT(steps_asked("reader0"), ElementsAre(0, 1, 2));
  EXPECT_TRUE(ahead->has(0));
  ask(0);
  ask(1);
  EXPECT_THAT(steps_asked("reader0"), ElementsAre(0, 1, 2, 3));
  ask(4);
  EXPECT_THAT(steps_asked("reader0"), ElementsAre(0, 1, 2, 3, 4));
}

TEST_F(BatchesAheadTest, OfManyBytesOnlyTheNextStepsAreAhead) {
  begin_with_readers(1, 6U << 20);  // three of four such images are above 64 MB
  ask(0);
  // One is all that may be under way.
  for (std::size_t i = 0; i < batches["reader0"].size(); ++i) answer("reader0", i);
  EXPECT_THAT(steps_asked("reader0"), ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
}

TEST_F(BatchesAheadTest, AreTakenInTheOrderOfStepsWhicheverAnswerComesFirst) {
  begin_with_readers(1, kSmall);
  ask(0);
  const auto first = next(0);
  answer("reader0", 1);
  EXPECT_FALSE(first->has_value());
  answer("reader0", 0);
  ASSERT_TRUE(first->has_value() && (*first)->ok());
  EXPECT_EQ((**first)->step, 0U);
  const auto second = next(1);
  settle();
  ASSERT_TRUE(second->has_value() && (*second)->ok());
  EXPECT_EQ((**second)->step, 1U);
}

TEST_F(BatchesAheadTest, RowsOfALargeOneComeFromReadersByTurnsAndLieInTheirOrder) {
  job.steps = 1;
  begin_with_readers(2, 1U << 19);  // two images a piece
  ask(0);
  ASSERT_EQ(batches["reader0"].size(), 1U);
  ASSERT_EQ(batches["reader1"].size(), 1U);
  EXPECT_EQ(batches["reader0"][0].first_row, 0U);
  EXPECT_EQ(batches["reader1"][0].first_row, 2U);
  const auto batch = next(0);
  answer("reader1", 0);
  EXPECT_FALSE(batch->has_value());
  answer("reader0", 0);
  ASSERT_TRUE(batch->has_value() && (*batch)->ok());
  EXPECT_THAT(labels_of(***batch), ElementsAre(0, 1, 2, 3));
}

TEST_F(BatchesAheadTest, AnAnswerToAnotherQuestionIsMalformedAndNamesStepAndReader) {
  begin_with_readers(1, kSmall);
  ask(0);
  Batch late = answer_to(batches["reader0"][0]);
  late.step = 1;
  const Error error = error_of(late);
  EXPECT_EQ(error.code, Errc::malformed);
  EXPECT_THAT(error.message, testing::StartsWith("step 0, batch of rank 0: "));
  EXPECT_THAT(error.message, testing::HasSubstr("reader0: the answer is to another question"));
}

TEST_F(BatchesAheadTest, AnAnswerOfFewerRowsThanWereAskedForIsMalformed) {
  begin_with_readers(1, kSmall);
  ask(0);
  NextBatch fewer = batches["reader0"][0];
  fewer.rows = 3;
  const Error error = error_of(answer_to(fewer));
  EXPECT_EQ(error.code, Errc::malformed);
  EXPECT_THAT(error.message, testing::HasSubstr("3 labels for 4 rows"));
}

TEST_F(BatchesAheadTest, AShardsAnswerIsMalformedWhereReadersHoldAllExamples) {
  begin_with_readers(1, kSmall);
  ask(0);
  Batch shards = answer_to(batches["reader0"][0]);
  shards.rows = {0, 1, 2, 3};
  EXPECT_THAT(error_of(shards).message, testing::HasSubstr("reader0: the answer is a shard's"));
}

TEST_F(BatchesAheadTest, OfALostReaderTheOneInItsPlaceIsAskedAgain) {
  begin_with_readers(1, kSmall);
  ask(0);
  const auto batch = next(0);
  lose("reader0");
  pass(100ms);
  EXPECT_FALSE(batch->has_value());
  spawn_reader("reader0", 2);
  pass(100ms);
  ASSERT_EQ(batches["reader0"].size(), 6U) << "three of the one before";
  EXPECT_THAT(steps_asked("reader0"), ElementsAre(0, 1, 2, 0, 1, 2));
  answer("reader0", 3);
  ASSERT_TRUE(batch->has_value());
  EXPECT_TRUE((*batch)->ok());
}

TEST_F(BatchesAheadTest, AnAnswerThatIsTooLateEndsItsStepAndNoOther) {
  begin_with_readers(1, kSmall);
  ask(0);
  const auto first = next(0);
  answer("reader0", 1);
  pass(job.deadlines.step);
  answer("reader0", 0);
  ASSERT_TRUE(first->has_value());
  ASSERT_FALSE((*first)->ok());
  EXPECT_EQ((*first)->error().code, Errc::deadline);
  EXPECT_THAT((*first)->error().message, testing::StartsWith("step 0, batch of rank 0: "));
  const auto second = next(1);
  settle();
  ASSERT_TRUE(second->has_value());
  EXPECT_TRUE((*second)->ok());
}

}  // namespace
}  // namespace sterna::actors
