// A run at a terminal whose user has pressed Ctrl-S and gone for lunch, or Ctrl-\ and stays.
#include <csignal>

#include "tests/end_to_end/run_test.h"
#include "tests/launcher/pseudo_terminal.h"

namespace sterna::test {
namespace {

using testing::HasSubstr;

class RunTerminal : public RunTest {
 protected:
  std::string job() const override { return of_a_small_net(); }
};

TEST_F(RunTerminal, ATerminalThatTakesNothingHoldsNobodyUp) {
  const launcher::PseudoTerminal terminal;
  // Frames of many seconds, of which a terminal that nobody reads takes four kilobytes.
  SternaProgram& program = sterna({"run", "job.toml", "--data", digits(), "--run-dir", "run",
                                   "--set", "job.steps=200", "--set", unhurried()},
                                  {"TERM=xterm"}, terminal.descriptor());
  ASSERT_TRUE(eventually(kPatience, [&] { return exists("run/result.json"); })) << program.story();
  EXPECT_EQ(result()["exit"], 0);
  EXPECT_EQ(result()["steps"], 200);
  // It still has its last words to say.
  std::string shown;
  EXPECT_TRUE(eventually(kPatience, [&] {
    shown += terminal.shown();
    return program.exit_code(Duration::zero()).has_value();
  }));
  shown += terminal.shown();
  EXPECT_EQ(program.exit_code(Duration::zero()), 0);
  EXPECT_THAT(shown, HasSubstr("everything is in run"));
}

TEST_F(RunTerminal, WhoQuitsOrIsEndedWhileWatchingGivesTheCursorBack) {
  may_leave_socket_folders();
  SternaProgram& program = run_for_ever({"--set", unhurried()});
  ASSERT_TRUE(trains(program)) << program.story();
  for (const int signal : {SIGQUIT, SIGTERM, SIGHUP}) {
    const launcher::PseudoTerminal terminal;
    SternaProgram& watch = sterna({"watch"}, {"TERM=xterm"}, terminal.descriptor());
    std::string shown;
    ASSERT_TRUE(eventually(kPatience, [&] {
      shown += terminal.shown();
      return shown.find("\x1b[?25l") != std::string::npos;
    })) << watch.story();
    strike(watch.pid(), signal);
    EXPECT_EQ(watch.exit_code(kPatience), 128 + signal) << watch.story();
    EXPECT_THAT(shown + terminal.shown(), testing::EndsWith("\x1b[?7h\x1b[?25h"));
  }
  program.interrupt();
  EXPECT_EQ(program.exit_code(kPatience), 130) << program.story();
}

}  // namespace
}  // namespace sterna::test
