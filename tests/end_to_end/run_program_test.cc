// `sterna run` of a program with actors of its own, the README's counter: what it shows while they
// run, when it ends, and what its result says of each.
#include <csignal>
#include <cstdlib>
#include <set>

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
    write("counter.toml", program_table("counter_example") + done_when +
                              "[[actor]]\ntype = \"counter\"\nargs = { value = 40 }\n" + more);
    return RunTest::sterna({"run", "counter.toml", "--run-dir", "run"});
  }
  /// A file that begins with a program that was built beside sterna.
  static std::string program_table(const std::string& name) {
    const std::filesystem::path sterna = std::getenv("STERNA_BINARY");
    return "format = 1\n[program]\npath = \"" + (sterna.parent_path() / "tests" / name).string() +
           "\"\n";
  }
  /// Kills the process of that name; whether another one has it then.
  static bool comes_again(SternaProgram& program, const std::string& name) {
    const pid_t killed = program.pid_of(name);
    if (killed == 0) return false;
    strike(killed, SIGKILL);
    return eventually(kPatience, [&] {
      const pid_t next = program.pid_of(name);
      return next > 0 && next != killed;
    });
  }
  /// Until it has said this, so many times.
  static bool says(SternaProgram& program, const std::string& text, int times = 1) {
    return eventually(kPatience, [&] {
      const std::string out = program.out();
      std::size_t end = 0;
      for (int said = 0; said < times; ++said, end += text.size()) {
        end = out.find(text, end);
        if (end == std::string::npos) return false;
      }
      return true;
    });
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

TEST_F(RunProgramTest, JoinsAHostThatSomebodyElseStarts) {
  write("counter.toml",
        program_table("counter_example") +
            "done_when = [\"adder\"]\n[cluster]\nplacer = \"join\"\n"
            "[[host]]\nname = \"here\"\n"
            "[[host]]\nname = \"there\"\nssh = \"there\"\naddress = \"127.0.0.2\"\n"
            "[[actor]]\ntype = \"counter\"\nhosts = [\"there\"]\nargs = { value = 40 }\n" +
            kTwoAdders);
  SternaProgram& program = RunTest::sterna({"run", "counter.toml", "--run-dir", "run"});
  const std::string told = "run there: sterna join FILE --program counter_example";
  ASSERT_TRUE(eventually(kPatience, [&] { return program.err().find(told) != std::string::npos; }))
      << program.story();
  SternaProgram& nowhere = RunTest::sterna({"join", "run/join/there", "--program", "nowhere"});
  EXPECT_EQ(nowhere.exit_code(kPatience), 2) << nowhere.story();
  EXPECT_THAT(nowhere.err(), HasSubstr("--program nowhere: No such file"));
  const std::filesystem::path sterna = std::getenv("STERNA_BINARY");
  SternaProgram& node =
      RunTest::sterna({"join", "run/join/there", "--program",
                       (sterna.parent_path() / "tests/counter_example").string()});
  ASSERT_EQ(program.exit_code(kPatience), 0) << program.story() << node.story();
  EXPECT_EQ(node.exit_code(kPatience), 0) << node.story();
  EXPECT_EQ(end_of("counter0"), "stopped");
}

TEST_F(RunProgramTest, ADeathEndsItWithItsCause) {
  SternaProgram& program = run_counter("");
  ASSERT_TRUE(says(program, "running, 1 actor: 1 running")) << program.story();
  strike(program.pid_of("counter0"), SIGKILL);
  ASSERT_EQ(program.exit_code(kPatience), 1) << program.story();
  EXPECT_EQ(end_of("counter0"), "dead");
  EXPECT_THAT(result()["actors"][0]["cause"].get<std::string>(), HasSubstr("SIGKILL"));
}

TEST_F(RunProgramTest, ItsActorsAndTheCoordinatorAreKilledAndWhoAsksThemByNameGoesOn) {
  write("peers.toml", program_table("runtime_processes_test") +
                          "done_when = [\"asker\"]\n"
                          "[[actor]]\ntype = \"peer\"\nname = \"asked\"\n"
                          "restart = 2\nbackoff = \"20ms\"\n"
                          "[[actor]]\ntype = \"peer\"\nname = \"asker\"\n"
                          "args = { asks = \"asked\", until = \"" +
                          path("enough") + "\" }\n");
  SternaProgram& program = sterna({"run", "peers.toml", "--run-dir", "run"});
  ASSERT_TRUE(says(program, "asked: is asked")) << program.story();
  ASSERT_TRUE(comes_again(program, "asked")) << program.story();
  // A coordinator that dies while it starts somebody starts him again.
  ASSERT_TRUE(says(program, "asked: is asked", 2)) << program.story();
  ASSERT_TRUE(comes_again(program, "coordinator")) << program.story();
  ASSERT_TRUE(comes_again(program, "asked")) << program.story();
  write("enough", "");
  ASSERT_EQ(program.exit_code(kPatience), 0) << program.story();
  EXPECT_EQ(end_of("asker"), "done");
  const nlohmann::json json = result();
  std::multiset<std::string> restarted;
  for (const auto& one : json.value("actor_restarts", nlohmann::json::array())) {
    restarted.insert(one["actor"].get<std::string>());
  }
  EXPECT_EQ(restarted, (std::multiset<std::string>{"asked", "asked", "coordinator"})) << json;
}

}  // namespace
}  // namespace sterna::test
