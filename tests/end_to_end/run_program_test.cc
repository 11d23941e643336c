// `sterna run` of a program with actors of its own, the README's counter: what it shows while they
// run, when it ends, and what its result says of each.
#include <csignal>
#include <cstdlib>

#include "tests/end_to_end/run_test.h"

namespace sterna::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class RunProgramTest : public RunTest {
 protected:
  /// sterna run of these tables, into the run directory "run".
  SternaProgram& run_counter(const std::string& done_when, const std::string& more = "") {
    const std::filesystem::path sterna = std::getenv("STERNA_BINARY");
    write("counter.toml", "format = 1\n[program]\npath = \"" +
                              (sterna.parent_path() / "tests/counter_example").string() + "\"\n" +
                              done_when + "[[actor]]\ntype = \"counter\"\nargs = { value = 40 }\n" +
                              more);
    return RunTest::sterna({"run", "counter.toml", "--run-dir", "run"});
  }
  /// Until it has said this.
  static bool says(SternaProgram& program, const std::string& text) {
    return eventually(kPatience, [&] { return program.out().find(text) != std::string::npos; });
  }
  std::string end_of(const std::string& name) const {
    const nlohmann::json json = result();
    for (const auto& actor : json.value("actors", nlohmann::json::array())) {
      if (actor["name"] == name) return actor["end"];
    }
    return "not there";
  }
};

constexpr const char* kTwoAdders =
    "[[actor]]\ntype = \"adder\"\ncount = 2\nargs = { amount = 1 }\n";

TEST_F(RunProgramTest, EndsWhenTheActorsOfDoneWhenHaveEndedAndSaysHowEachDid) {
  SternaProgram& program = run_counter("done_when = [\"adder\"]\n", kTwoAdders);
  ASSERT_EQ(program.exit_code(kPatience), 0) << program.story();
  const std::string out = program.out();
  EXPECT_THAT(out, ContainsRegex("running, 3 actors: .*, [0-9]+ s elapsed"));
  EXPECT_THAT(out, ContainsRegex("adder[01]: the counter is at 41"));
  EXPECT_THAT(out, ContainsRegex("adder[01]: the counter is at 42"));
  EXPECT_THAT(out, HasSubstr("adder0 has ended"));
  EXPECT_THAT(out, HasSubstr("done, 3 actors: 2 done, 1 stopped, "));
  EXPECT_THAT(out, HasSubstr("2 of 3 actors have ended, as program.done_when asks, and the others "
                             "were stopped; everything is in run\n"));
  const nlohmann::json json = result();
  EXPECT_EQ(json["exit"], 0);
  EXPECT_EQ(json["awaited"], (std::vector<std::string>{"adder0", "adder1"}));
  EXPECT_EQ(end_of("counter0"), "stopped");
  EXPECT_EQ(end_of("adder0"), "done");
  EXPECT_EQ(end_of("adder1"), "done");
  EXPECT_FALSE(json.contains("precision_at_1"));
}

TEST_F(RunProgramTest, WithoutDoneWhenItGoesOnUntilItIsInterrupted) {
  SternaProgram& program = run_counter("", kTwoAdders);
  for (const char* adder : {"adder0", "adder1"}) {
    ASSERT_TRUE(says(program, std::string(adder) + " has ended")) << program.story();
  }
  program.interrupt();
  ASSERT_EQ(program.exit_code(kPatience), 130) << program.story();
  EXPECT_THAT(program.err(), HasSubstr("interrupted: "));
  EXPECT_THAT(program.err(), Not(HasSubstr("step")));
  EXPECT_EQ(end_of("counter0"), "stopped");
  EXPECT_EQ(end_of("adder1"), "done");
}

TEST_F(RunProgramTest, ADeathEndsItWithItsCause) {
  SternaProgram& program = run_counter("");
  ASSERT_TRUE(says(program, "running, 1 actor: 1 running")) << program.story();
  ::kill(program.pid_of("counter0"), SIGKILL);
  ASSERT_EQ(program.exit_code(kPatience), 1) << program.story();
  EXPECT_EQ(end_of("counter0"), "dead");
  EXPECT_THAT(result()["actors"][0]["cause"].get<std::string>(), HasSubstr("SIGKILL"));
}

}  // namespace
}  // namespace sterna::test
