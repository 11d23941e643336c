#include "actors/reader/input_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "input/records/example.h"
#include "tests/actors/simulated_job.h"
#include "tests/input/record_bytes.h"

namespace sterna::actors {
namespace {

using namespace std::chrono_literals;

class InputReaderTest : public test::SimFixture {
 protected:
  InputReaderTest() {
    data =
        std::filesystem::path(testing::TempDir()) / ("sterna-reader-" + std::to_string(::getpid()));
    write_small_dataset(data, 20, 5);
    args.job.net = "lenet";
    args.job.data.name = "mnist";
    args.job.data.dir = data.string();
    args.job.first_step = 2;
    args.job.steps = 5;
    args.job.batch = 4;
    args.job.ranks = 2;
    args.workers = {{"worker0", 0, 1}, {"worker1", 1, 1}};
    reader = host.spawn<InputReader>(args);
  }
  ~InputReaderTest() override { std::filesystem::remove_all(data); }
  Result<Batch> ask(Process& from, NextBatch question) {
    return from.wait(from.ask(reader, question, 10s));
  }

  std::filesystem::path data;
  ReaderArgs args;
  Process& host = *start("reader").process;
  Process& worker = *start("worker1").process;
  ActorRef<InputReaderInterface> reader;
};

TEST_F(InputReaderTest, AnswersTheStepsOfTheJobAndNoOthers) {
  for (const std::uint64_t step : {2U, 4U}) {
    const Result<Batch> batch = ask(worker, {.step = step, .rank = 1});
    ASSERT_TRUE(batch.ok()) << batch.error().message;
    EXPECT_EQ(batch->step, step);
    EXPECT_EQ(labels_of(*batch).size(), 4U);
  }
  for (const std::uint64_t step : {1U, 5U}) {
    EXPECT_FALSE(ask(worker, {.step = step, .rank = 1}).ok()) << step;
  }
}

TEST_F(InputReaderTest, AnswersTheRowsThatWereAskedFor) {
  const Result<Batch> all = ask(worker, {.step = 2, .rank = 1});
  const Result<Batch> middle = ask(worker, {.step = 2, .rank = 1, .first_row = 1, .rows = 2});
  ASSERT_TRUE(all.ok() && middle.ok());
  const std::vector<std::uint16_t> labels = labels_of(*all);
  EXPECT_EQ(labels_of(*middle), std::vector(labels.begin() + 1, labels.begin() + 3));
  const std::size_t image = all->pixels.size() / 4;
  EXPECT_TRUE(
      std::ranges::equal(middle->pixels.view(), all->pixels.view().subspan(image, 2 * image)));
  EXPECT_FALSE(ask(worker, {.step = 2, .rank = 1, .first_row = 4}).ok());
  EXPECT_FALSE(ask(worker, {.step = 2, .rank = 1, .first_row = 1, .rows = 4}).ok());
  EXPECT_FALSE(ask(worker, {.step = 2, .rank = 1, .first_row = 3, .rows = 0xFFFFFFFF}).ok());
}

TEST_F(InputReaderTest, AWorkerGetsTheBatchesOfItsOwnRanks) {
  const Result<Batch> others = ask(worker, {.step = 2, .rank = 0});
  ASSERT_FALSE(others.ok());
  EXPECT_EQ(host.links()->counters().faults, 1U);
  EXPECT_TRUE(ask(host, {.step = 2, .rank = 0}).ok());  // an actor of its own process
}

TEST_F(InputReaderTest, ARankThatAsksForTooManyAtOnceIsTurnedAway) {
  std::vector<Future<Batch>> answers;
  for (int i = 0; i < 20; ++i) answers.push_back(worker.ask(reader, NextBatch{2, 1}, 10s));
  int overloaded = 0;
  for (Future<Batch>& answer : answers) {
    const Result<Batch> batch = worker.wait(std::move(answer));
    if (!batch) overloaded += batch.error().message.find("too many") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(overloaded, 4);
}

TEST_F(InputReaderTest, PreparesNoMoreThanItsMemoryHolds) {
  args.job.data.memory = {args.job.batch_bytes()};
  const auto small = host.spawn<InputReader>(args);
  Future<Batch> first = host.ask(small, NextBatch{.step = 2, .rank = 1}, 10s);
  Future<Batch> second = host.ask(small, NextBatch{.step = 3, .rank = 1}, 10s);
  pass(1s);
  ASSERT_TRUE(first.ready());
  EXPECT_FALSE(second.ready());
  Result<Batch> batch = host.wait(std::move(first));
  ASSERT_TRUE(batch.ok()) << batch.error().message;
  Bytes labels = batch->labels;
  batch = Error{};
  pass(1s);
  EXPECT_FALSE(second.ready()) << "somebody holds the labels";
  labels = {};
  EXPECT_TRUE(host.wait(std::move(second)).ok());
}

/// A folder of TFRecord files to train on in which a byte of that record has changed.
std::filesystem::path write_damaged_records(const std::filesystem::path& folder,
                                            std::uint64_t damaged) {
  constexpr std::uint64_t kRecords = 8;
  std::vector<std::vector<std::uint8_t>> records;
  for (std::uint64_t i = 0; i < kRecords; ++i) {
    input::PictureRecord picture;
    picture.coding = input::Coding::pixels;
    picture.shape = {28, 28, 1};
    picture.bytes.assign(picture.shape.bytes(), static_cast<char>(i));
    picture.label = static_cast<std::int64_t>(i);
    records.push_back(input::pack_picture_record(picture));
  }
  std::filesystem::create_directories(folder);
  std::filesystem::path file = folder / "train-00000-of-00001";
  input::write_records(file, records);
  input::write_records(folder / "validation-00000-of-00001", {records[0]});
  const std::uint64_t bytes = std::filesystem::file_size(file) / kRecords;
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(static_cast<std::streamoff>(damaged * bytes + bytes / 2));
  stream.put('\x7f');
  return file;
}

TEST_F(InputReaderTest, EndsByItselfNamingFileAndPlaceWhereItsDataAreDamaged) {
  const std::filesystem::path file = write_damaged_records(data / "records", 3);
  args.job.data = {.name = "tfrecord",
                   .dir = file.parent_path().string(),
                   .preprocess = "mnist",
                   .classes = 10,
                   .most_bad = 0};
  std::string cause;
  host.set_on_death([&](LocalId, const std::string& why) { cause = why; });
  const auto damaged = host.spawn<InputReader>(args);
  // The two ranks' batches of a step are all examples.
  for (const std::uint32_t rank : {0U, 1U}) {
    const Result<Batch> batch = host.wait(host.ask(damaged, NextBatch{2, rank}, 10s));
    EXPECT_TRUE(batch || batch.error().code == Errc::actor_down) << batch.error().message;
  }
  EXPECT_THAT(cause, testing::StartsWith("step 2, batch of rank "));
  EXPECT_THAT(cause, testing::HasSubstr("1 of 8 examples are damaged"));
  EXPECT_THAT(cause, testing::HasSubstr(file.string() + ": record 3 at byte "));
}

TEST_F(InputReaderTest, TellsTheObserverWhatItHasPrepared) {
  RecordingObserver::Record record;
  const AnyRef observer = host.spawn<RecordingObserver>(record);
  args.observer = "launcher";
  const auto find = [&](Process&, std::string, Duration) -> Task<Result<AnyRef>> {
    co_return observer;
  };
  const auto told = host.spawn<InputReader>(args, find);
  for (const std::uint64_t step : {2U, 3U}) {
    pass(1s);
    ASSERT_TRUE(host.wait(host.ask(told, NextBatch{.step = step, .rank = 0}, 10s)).ok());
  }
  pass(1s);
  ASSERT_EQ(record.readers.size(), 2U);
  EXPECT_EQ(record.readers[1].reader, "reader");
  EXPECT_EQ(record.readers[1].pictures, 8U);
  EXPECT_GT(record.readers[1].busy_seconds, 0);
  EXPECT_LT(record.readers[1].busy_seconds, 0.1);
}

}  // namespace
}  // namespace sterna::actors
