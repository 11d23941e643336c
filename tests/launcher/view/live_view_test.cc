// How the live view and the plain log behave, and which of them a terminal and a pipe get.
#include "launcher/view/live_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <termios.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "tests/launcher/pseudo_terminal.h"
#include "tests/launcher/test_clock.h"
#include "view_fixture.h"

namespace sterna::launcher {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ViewTest : public testing::Test {
 protected:
  /// What was written since the last call.
  std::string written() { return out_.taken(); }
  RecordedText out_;
  TestClock clock_;
};

TEST_F(ViewTest, TheLiveViewRedrawsInPlaceTenTimesASecondAndGivesTheCursorBack) {
  ViewOptions options{80, 24, false, true};
  {
    LiveView view(out_, clock_, [&] { return options; });
    view.update(status_in_training());
    EXPECT_THAT(written(), StartsWith("\x1b[?25l"));
    clock_.time = clock_.time + std::chrono::milliseconds(99);
    view.update(status_in_training());
    EXPECT_EQ(written(), "");
    clock_.time = clock_.time + std::chrono::milliseconds(1);
    view.update(status_in_training());
    EXPECT_THAT(written(), StartsWith("\x1b[10A\rlenet_mnist"));
    view.finish(status_in_training());
    EXPECT_THAT(written(), StartsWith("\x1b[10A"));
    // Half as wide: the seven lines of more than 40 columns take a second row.
    options.width = 40;
    view.finish(status_in_training());
    EXPECT_THAT(written(), StartsWith("\x1b[17A"));
  }
  EXPECT_THAT(written(), HasSubstr("\x1b[?25h"));
}

TEST_F(ViewTest, ALiveViewThatNeverDrewLeavesTheTerminalAlone) {
  {
    LiveView view(out_, clock_, [] { return ViewOptions{}; });
  }
  EXPECT_EQ(written(), "");
}

TEST_F(ViewTest, ThePlainLogPrintsOnTimeOnEvaluationsAndOnNewPhases) {
  PlainLog log(out_, clock_);
  RunStatus s = status_in_training();
  log.update(s);
  EXPECT_EQ(written(),
            "step 1,250 of 2,000, loss 0.0833, precision@1 0.9812 at step 1,000, 3,912 examples/s, "
            "bits/element 2.03 up, 32.00 down, 21 s elapsed, 13 s left\n");
  log.update(s);
  EXPECT_EQ(written(), "");
  s.precision_step = 1250;
  log.update(s);
  EXPECT_THAT(written(), HasSubstr("at step 1,250"));
  clock_.time = clock_.time + std::chrono::seconds(5);
  s.step = 1300;
  log.update(s);
  EXPECT_THAT(written(), StartsWith("step 1,300"));
  s.data_wait = 0.05;
  s.readers = {{"reader0", 410.4, 1}};
  s.step = 1301;
  clock_.time = clock_.time + std::chrono::seconds(5);
  log.update(s);
  EXPECT_THAT(written(), HasSubstr("3,912 examples/s, 5 % of the time waits for data, reader0 "
                                   "decodes 410 pictures/s on 1 thread, bits"));
  s.data_wait = 0.62;
  s.readers.push_back({"reader1", 1250, 1});
  clock_.time = clock_.time + std::chrono::seconds(5);
  log.update(s);
  EXPECT_THAT(written(), HasSubstr("input-bound: 62 % of the time waits for data, 2 readers decode "
                                   "410 to 1,250 pictures/s each on 1 thread, more input readers "
                                   "or data.threads would help, bits"));
  s.phase = "stopping";
  log.update(s);
  EXPECT_THAT(written(), HasSubstr("stopping"));
  log.finish(s);
  EXPECT_EQ(written(), "");
  s.phase = "done";
  log.finish(s);
  EXPECT_THAT(written(), HasSubstr("done"));
}

TEST_F(ViewTest, ThePlainLogSaysOnceWhichCodecsWereChosen) {
  PlainLog log(out_, clock_);
  RunStatus s = status_in_training();
  s.codecs = "ternary for 3 tensors";
  log.update(s);
  EXPECT_THAT(written(), StartsWith("codec auto: ternary for 3 tensors\nstep 1,250"));
  log.update(s);
  EXPECT_EQ(written(), "");
}

TEST_F(ViewTest, ThePlainLogSaysOnceOfEachActorThatItIsStartedAgain) {
  PlainLog log(out_, clock_);
  RunStatus s = status_in_training();
  log.update(s);
  written();
  s.actor_restarts = 1;
  s.actor_restart = "worker0#1 is dead: killed by SIGKILL";
  log.update(s);
  EXPECT_EQ(written(), "worker0#1 is dead: killed by SIGKILL; it is started again\n");
  log.update(s);
  EXPECT_EQ(written(), "");
  s.actor_restarts = 0;  // all are started again, and counted anew
  log.update(s);
  s.actor_restarts = 1;
  s.actor_restart = "reader0#1 is dead: silence";
  log.update(s);
  EXPECT_EQ(written(), "reader0#1 is dead: silence; it is started again\n");
  s.actor_restarts = 2;
  s.actor_restart = "reader0#2 is dead: host a is gone; it moves to b";
  log.update(s);
  EXPECT_EQ(written(), "reader0#2 is dead: host a is gone; it moves to b\n");
}

TEST_F(ViewTest, NewsAreALineOfThePlainLogAndNoneInPlace) {
  PlainLog(out_, clock_).say("no checkpoint of step 10: the disk is full\x1b");
  EXPECT_EQ(written(), "no checkpoint of step 10: the disk is full?\n");
  LiveView view(out_, clock_, [] { return ViewOptions{}; });
  view.say("no checkpoint of step 10");
  EXPECT_EQ(written(), "");
}

TEST_F(ViewTest, ThePlainLogOfActorsThatDoNotTrainHasEveryLogLineOnce) {
  PlainLog log(out_, clock_);
  RunStatus s;
  s.phase = "running";
  s.log_lines = {"b: two", "a: three\x1b"};
  s.logged = 3;  // the first is there no longer
  log.update(s);
  EXPECT_EQ(written(), "b: two\na: three?\nrunning, 0 s elapsed\n");
  log.update(s);
  EXPECT_EQ(written(), "");
  s.log_lines = {"a: three", "b: four"};
  s.logged = 4;
  log.finish(s);
  EXPECT_EQ(written(), "b: four\n");
}

TEST_F(ViewTest, ATerminalThatTakesNothingGetsNoMoreDrawings) {
  LiveView view(out_, clock_, [] { return ViewOptions{}; });
  view.update(status_in_training());
  written();
  out_.slow = true;
  clock_.time = clock_.time + std::chrono::seconds(1);
  view.update(status_in_training());
  EXPECT_EQ(written(), "");
  view.finish(status_in_training());
  EXPECT_NE(written(), "") << "the last one is always drawn";
}

TEST_F(ViewTest, SaysThatADiskIsFull) {
  std::FILE* const full = std::fopen("/dev/full", "w");
  const auto view = make_run_view(full, clock_);
  EXPECT_EQ(view->failed(), 0);
  view->finish(status_in_training());
  const SteadyClock real;
  const Time until = real.now() + std::chrono::seconds(60);
  while (view->failed() == 0 && real.now() < until) std::this_thread::yield();
  EXPECT_EQ(view->failed(), ENOSPC);
  std::fclose(full);
}

TEST_F(ViewTest, AFileGetsThePlainLog) {
  std::FILE* file = std::tmpfile();
  make_run_view(file, clock_)->update(status_in_training());
  std::rewind(file);
  char line[100] = {};
  ASSERT_NE(std::fgets(line, sizeof line, file), nullptr);
  EXPECT_THAT(line, StartsWith("step 1,250"));
  std::fclose(file);
}

/// A terminal with an environment of its own.
class TerminalViewTest : public testing::Test {
 protected:
  TerminalViewTest() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "NO_COLOR"}) ::unsetenv(name);
    ::setenv("TERM", "xterm", 1);
    ::setenv("LANG", "en_US.UTF-8", 1);
  }
  ~TerminalViewTest() override { std::fclose(out_); }
  /// What the first drawing writes.
  std::string first_drawing() {
    make_run_view(out_, clock_)->update(status_in_training());
    return terminal_.shown();
  }
  PseudoTerminal terminal_;
  std::FILE* out_ = ::fdopen(::dup(terminal_.descriptor()), "w");
  TestClock clock_;
};

TEST_F(TerminalViewTest, ATerminalGetsTheLiveViewInColour) {
  const std::string drawing = first_drawing();
  EXPECT_THAT(drawing, StartsWith("\x1b[?25l"));
  EXPECT_THAT(drawing, HasSubstr("\x1b[1;31mdead\x1b[0m"));
  EXPECT_THAT(drawing, HasSubstr("━"));
}

TEST_F(TerminalViewTest, ASignalThatEndsTheProcessBringsTheCursorBack) {
  for (const int signal : {SIGQUIT, SIGTERM, SIGHUP}) {
    const auto die_of_it = [&] {
      const auto view = make_run_view(out_, clock_);
      view->update(status_in_training());
      std::string shown;
      while (shown.find("\x1b[J") == std::string::npos) shown += terminal_.shown();
      ::raise(signal);
    };
    EXPECT_EXIT(die_of_it(), testing::KilledBySignal(signal), "");
    EXPECT_THAT(terminal_.shown(), EndsWith("\x1b[?7h\x1b[?25h")) << signal;
  }
}

TEST_F(TerminalViewTest, ATerminalThatTakesNothingHoldsNoSignalUp) {
  const auto die_of_it = [&] {
    const auto view = make_run_view(out_, clock_);
    ::tcflow(terminal_.descriptor(), TCOOFF);
    ::raise(SIGQUIT);
  };
  EXPECT_EXIT(die_of_it(), testing::KilledBySignal(SIGQUIT), "");
}

TEST_F(TerminalViewTest, SignalsAreWhatTheyWereOnceItIsGone) {
  ::signal(SIGHUP, SIG_IGN);  // as nohup does
  make_run_view(out_, clock_)->update(status_in_training());
  EXPECT_EQ(::signal(SIGHUP, SIG_DFL), SIG_IGN);
  EXPECT_EQ(::signal(SIGTERM, SIG_DFL), SIG_DFL);
  EXPECT_EQ(::signal(SIGQUIT, SIG_DFL), SIG_DFL);
}

TEST_F(TerminalViewTest, ItsWidthIsTheTerminals) {
  terminal_.resize(40, 24);
  EXPECT_THAT(first_drawing(), Not(HasSubstr("runs/lenet_mnist")));
  terminal_.resize(120, 24);
  EXPECT_THAT(first_drawing(), HasSubstr("runs/lenet_mnist"));
}

TEST_F(TerminalViewTest, NoColorIsRespected) {
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_THAT(first_drawing(), Not(HasSubstr("\x1b[1;31m")));
}

TEST_F(TerminalViewTest, WhereTheLocaleIsNotUtf8TheBarIsAscii) {
  ::setenv("LC_ALL", "C", 1);
  const std::string drawing = first_drawing();
  EXPECT_THAT(drawing, Not(HasSubstr("━")));
  EXPECT_THAT(drawing, HasSubstr("####"));
}

TEST_F(TerminalViewTest, ADumbTerminalGetsThePlainLog) {
  ::setenv("TERM", "dumb", 1);
  EXPECT_THAT(first_drawing(), StartsWith("step 1,250"));
}

}  // namespace
}  // namespace sterna::launcher
