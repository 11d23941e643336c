// A trace takes no more of the disk than it may, and keeps the newest; a process that was killed
// while it wrote spoils nothing for the one after it.
#include "runtime/trace/trace_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/base/file.h"
#include "tests/temporary_folder.h"

namespace sterna {
namespace {

std::string block(std::uint64_t step) {
  std::string records;
  append_record(records, {.kind = SpanKind::process, .value = 1}, "a\nhere");
  append_record(records, {.kind = SpanKind::name}, "n");
  append_record(records, {.kind = SpanKind::track}, "t");
  for (int i = 0; i < 20; ++i) append_record(records, {.kind = SpanKind::span, .step = step});
  return block_of(records);
}

std::vector<std::uint64_t> steps_in(const std::string& path) {
  std::vector<ProcessSpans> lives;
  EXPECT_TRUE(read_spans(read_file(path).value(), lives).ok());
  std::vector<std::uint64_t> steps;
  for (const ProcessSpans& life : lives) {
    for (const SpanRecord& record : life.records) {
      if (steps.empty() || steps.back() != record.step) steps.push_back(record.step);
    }
  }
  return steps;
}

TEST(TraceFile, KeepsTheNewestOfNoMoreThanItMayTake) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.trace";
  const std::size_t one = block(0).size();
  const std::uint64_t most = 6 * one + 10;
  const auto write = to_trace_file(path, most);
  for (std::uint64_t step = 0; step < 20; ++step) {
    write(block(step));
    const std::string old = path + ".old";
    const std::uint64_t old_size =
        std::filesystem::exists(old) ? std::filesystem::file_size(old) : 0;
    ASSERT_LE(std::filesystem::file_size(path) + old_size, most);
  }
  EXPECT_THAT(steps_in(path + ".old"), testing::ElementsAre(15, 16, 17));
  EXPECT_THAT(steps_in(path), testing::ElementsAre(18, 19));
}

TEST(TraceFile, WhatAKilledProcessLeftHalfWrittenIsTakenAway) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.trace";
  const std::string cut = block(1).substr(0, block(1).size() / 2);
  ASSERT_TRUE(write_atomically(path, block(0) + cut).ok());
  to_trace_file(path, 1'000'000)(block(2));
  EXPECT_THAT(steps_in(path), testing::ElementsAre(0, 2));
}

TEST(TraceFile, AFolderThatIsNotThereCostsTheTraceAndNothingElse) {
  const TemporaryFolder folder;
  const auto sink = open_trace(folder / "gone" / "a.trace", 1000, {.name = "a", .host = "here"});
  sink->put(block(0));
  EXPECT_FALSE(std::filesystem::exists(folder / "gone"));
}

}  // namespace
}  // namespace sterna
