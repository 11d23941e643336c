// A run's files become one trace of the steps that are asked for; what is not there is said.
#include "launcher/traces/run_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/traces/chrome_trace.h"
#include "runtime/base/file.h"
#include "tests/launcher/traces/made_trace.h"
#include "tests/launcher/traces/trace_checker.h"
#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string chrome(const RunTrace& trace) {
  std::string text;
  write_chrome_trace(trace, [&](std::string_view piece) { text += piece; });
  return text;
}

/// A run directory with these files as its processes'.
class RunTraceTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(folder / "logs"); }
  void write(const std::vector<std::string>& files) {
    for (std::size_t i = 0; i < files.size(); ++i) {
      const std::string name = "logs/process" + std::to_string(i) + ".trace";
      ASSERT_TRUE(write_atomically(folder / name, files[i]).ok());
    }
  }
  Error error(const std::optional<TracedSteps>& wanted = {}) {
    const Result<RunTrace> trace = read_run_trace(folder.path(), wanted);
    EXPECT_FALSE(trace.ok());
    return trace ? Error{} : trace.error();
  }
  TemporaryFolder folder;
};

TEST_F(RunTraceTest, ItsSpansNestAndEachArrowHasBothEnds) {
  write(test::made_trace({}, 1));
  const Result<RunTrace> trace = read_run_trace(folder.path(), {});
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace->steps, (TracedSteps{100, 119}));
  const test::CheckedTrace checked = test::check_trace(chrome(*trace));
  EXPECT_EQ(checked.processes.size(), 6U);
  EXPECT_EQ(checked.named.at("step"), 80U);
  EXPECT_EQ(checked.arrows, trace->arrows.size());
  // A push of each rank and step, and but for the last step an answer.
  EXPECT_EQ(checked.arrows, 80U + 76U);
  EXPECT_EQ(trace->loose_ends, 0U);
}

TEST_F(RunTraceTest, StepsCanBeChosen) {
  write(test::made_trace({}, 1));
  const Result<RunTrace> trace = read_run_trace(folder.path(), TracedSteps{105, 107});
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(test::check_trace(chrome(*trace)).named.at("step"), 12U);
  EXPECT_EQ(trace->steps, (TracedSteps{105, 107}));
}

TEST_F(RunTraceTest, OfAnArrowWithOneEndNothingIsShownAndItIsCounted) {
  std::vector<std::string> files = test::made_trace({}, 1);
  files.pop_back();  // a worker, whose pushes now come from nowhere
  write(files);
  const Result<RunTrace> trace = read_run_trace(folder.path(), {});
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->loose_ends, 20U + 19U);
  test::check_trace(chrome(*trace));
}

TEST_F(RunTraceTest, TheOlderPartOfATraceIsReadFirst) {
  const std::vector<std::string> files = test::made_trace({.ranks = 1}, 1);
  write(files);
  // Half of the worker's blocks are in the older part.
  const std::string& worker = files.back();
  const std::size_t at = *size_of_block(std::string_view(worker).substr(0, kBlockHead));
  ASSERT_TRUE(write_atomically(folder / "logs/process2.trace.old", worker.substr(0, at)).ok());
  ASSERT_TRUE(write_atomically(folder / "logs/process2.trace", worker.substr(at)).ok());
  const Result<RunTrace> trace = read_run_trace(folder.path(), {});
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(test::check_trace(chrome(*trace)).named.at("step"), 20U);
}

TEST_F(RunTraceTest, WhatIsNotThereIsSaid) {
  EXPECT_THAT(error().message,
              AllOf(HasSubstr(folder.path() + " has no trace"), HasSubstr("trace.steps=100..110")));
  EXPECT_EQ(error().code, Errc::not_found);
  EXPECT_THAT(read_run_trace(folder / "gone", {}).error().message,
              HasSubstr("is no run directory"));
  write(test::made_trace({}, 1));
  EXPECT_THAT(error(TracedSteps{5, 7}).message,
              HasSubstr("steps 5 to 7 were not traced; traced were steps 100 to 119"));
  EXPECT_THAT(error(TracedSteps{120, 120}).message, HasSubstr("step 120 was not traced"));
  ASSERT_TRUE(write_atomically(folder / "logs/other.trace", "what is this?").ok());
  EXPECT_EQ(error().code, Errc::malformed);
  EXPECT_THAT(error().message, HasSubstr("logs/other.trace"));
}

TEST_F(RunTraceTest, AFolderOfLogsThatCannotBeReadIsSaid) {
  std::filesystem::remove(folder / "logs");
  ASSERT_TRUE(write_atomically(folder / "logs", "a file").ok());
  EXPECT_EQ(error().message, "cannot read " + folder.path() + "/logs: Not a directory");
}

TEST_F(RunTraceTest, AHundredStepsOfFourWorkersAreNoLargeFile) {
  const Result<RunTrace> trace = make_run_trace(test::made_spans({.steps = 100}, 1), {});
  ASSERT_TRUE(trace.ok());
  EXPECT_LE(chrome(*trace).size(), 60'000'000U);
}

TEST_F(RunTraceTest, NamesAreTextWhateverIsInThem) {
  std::string records;
  append_record(records, {.kind = SpanKind::process, .value = 1}, "a\"\\\x01\xff\nhost\"");
  append_record(records, {.kind = SpanKind::name}, "step");
  append_record(records, {.kind = SpanKind::track}, "</script>\"");
  append_record(records, {.kind = SpanKind::span, .begin = 1, .end = 2});
  write({block_of(records)});
  const Result<RunTrace> trace = read_run_trace(folder.path(), {});
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(test::check_trace(chrome(*trace)).spans, 1U);
}

}  // namespace
}  // namespace sterna::launcher
