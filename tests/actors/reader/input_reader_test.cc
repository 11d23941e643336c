#include "actors/reader/input_reader.h"

#include <gtest/gtest.h>

#include "tests/actors/simulated_job.h"

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

}  // namespace
}  // namespace sterna::actors
