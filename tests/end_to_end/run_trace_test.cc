// A traced run of real processes: its picture holds together, a rank's exposed parts are its steps,
// and what was not traced is said in one line.
#include "tests/end_to_end/run_test.h"
#include "tests/launcher/traces/trace_checker.h"

namespace sterna::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class RunTraceTest : public RunTest {
 protected:
  void train(const Arguments& more) {
    Arguments arguments = {"--run-dir", "run"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    SternaProgram& program = run(arguments);
    ASSERT_EQ(program.exit_code(kPatience), 0) << program.story();
  }
  std::string trace(Arguments more) {
    more.insert(more.begin(), {"trace", "run"});
    SternaProgram& program = sterna(more);
    EXPECT_EQ(program.exit_code(kPatience), 0) << program.story();
    return program.out();
  }
  void expect_refused(Arguments more, const testing::Matcher<std::string>& line) {
    more.insert(more.begin(), {"trace", "run"});
    SternaProgram& program = sterna(more);
    EXPECT_EQ(program.exit_code(kPatience), 2) << program.story();
    const std::vector<std::string> lines = lines_of(program.err());
    ASSERT_EQ(lines.size(), 1U) << program.story();
    EXPECT_THAT(lines[0], line);
  }
};

TEST_F(RunTraceTest, ShowsEveryPartOfTheStepsThatWereAskedFor) {
  ASSERT_NO_FATAL_FAILURE(train(with({"trace.steps=5..20"})));
  trace({});
  const auto checked = launcher::test::check_trace(content_of(path("run/trace.json")));
  EXPECT_EQ(checked.processes.size(), 4U);  // a server, two workers, a reader
  EXPECT_EQ(checked.named.at("step"), 2U * 16);
  for (const char* name : {"forward", "backward", "encode", "apply", "decode", "sum and optimizer",
                           "decode and augment", "backward conv1/weights"}) {
    EXPECT_TRUE(checked.named.contains(name)) << name;
  }
  EXPECT_GT(checked.waits, 0U);
  EXPECT_GT(checked.counters, 0U);
  // Of each rank and step a push, an answer and a batch at least, but at the edges.
  EXPECT_GT(checked.arrows, 3U * 2 * 14);

  const auto json = nlohmann::json::parse(trace({"--summary", "--json"}));
  double exposed = 0;
  for (const auto& [part, time] : json["exposed"].items()) {
    if (part != "other") exposed += time.get<double>();
  }
  // What is left over is time in which nobody ran, and a machine that others use has more of it.
  EXPECT_GE(exposed, 0.75) << json.dump();
  EXPECT_LE(exposed, 1.0 + 1e-9);
  EXPECT_EQ(json["lost_blocks"], 0);
  EXPECT_EQ(lines_of(trace({"--summary"})).size(), 10U);
  trace({"--steps", "7", "-o", "one.json"});
  EXPECT_EQ(launcher::test::check_trace(content_of(path("one.json"))).named.at("step"), 2U);

  expect_refused({"--steps", "25..28"},
                 HasSubstr("steps 25 to 28 were not traced; traced were steps 5 to 20"));
  expect_refused({"--steps", "x"}, AllOf(HasSubstr("--steps"), HasSubstr("100..110")));
}

TEST_F(RunTraceTest, OfARunWithoutATraceOneLineSaysHowToGetOne) {
  std::filesystem::create_directories(path("run/logs"));
  expect_refused({}, AllOf(HasSubstr("run has no trace"), HasSubstr("trace.steps=100..110")));
}

}  // namespace
}  // namespace sterna::test
