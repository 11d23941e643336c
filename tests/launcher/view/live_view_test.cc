// The live view, line by line at three widths, and how it behaves on a terminal and in a pipe.
#include "launcher/view/live_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "launcher/text/text_format.h"

namespace sterna::launcher {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

RunStatus status() {
  RunStatus s;
  s.config = "lenet_mnist";
  s.run_directory = "runs/lenet_mnist-20260102T030405Z";
  s.phase = "training";
  s.step = 1250;
  s.steps = 2000;
  s.elapsed_seconds = 21.3;
  s.left_seconds = 12.8;
  s.loss = 0.0833;
  s.examples_per_second = 3912.4;
  s.precision_at_1 = 0.9812;
  s.precision_step = 1000;
  s.bits_up = 2.031;
  s.bits_down = 32;
  s.actors = {{"server0", "parameter_server", "running", 811, 55'700'000, 0, 0.12, 402'000'000,
               6'280'000'000},
              {"worker0", "worker", "dead", 812, 0, 1'310'000, 11.5, 3'140'000'000, 201'000'000}};
  s.log_lines = {"worker0: killed by signal 9"};
  return s;
}

std::vector<std::string> at(std::size_t width, std::size_t height = 24) {
  return render(status(), {width, height, false, true});
}

TEST(Render, Fills80Columns) {
  EXPECT_THAT(
      at(80),
      ElementsAre(
          "lenet_mnist                                    runs/lenet_mnist-20260102T030405Z",
          "━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━────────────────────  62 %  step 1,250 of 2,000",
          "loss 0.0833 · precision@1 0.9812 at step 1,000 · 3,912 examples/s",
          "bits/element 2.03 up, 32.00 down · 21 s elapsed, 13 s left", "",
          "actor    state        pid   memory   queued      lag       in      out",
          "server0  running      811  55.7 MB      0 B   0.1 ms   402 MB  6.28 GB",
          "worker0  dead         812        -  1.31 MB  11.5 ms  3.14 GB   201 MB", "",
          "worker0: killed by signal 9"));
}

TEST(Render, Fills120Columns) {
  EXPECT_THAT(at(120), ElementsAre("lenet_mnist                                                    "
                                   "                        runs/lenet_mnist-20260102T030405Z",
                                   "━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━─────"
                                   "──────────────────────────────  62 %  step 1,250 of 2,000",
                                   "loss 0.0833 · precision@1 0.9812 at step 1,000 · 3,912 "
                                   "examples/s · bits/element 2.03 up, 32.00 down",
                                   "21 s elapsed, 13 s left", "",
                                   "actor    state    role                  pid   memory   queued  "
                                   "    lag       in      out",
                                   "server0  running  parameter_server      811  55.7 MB      0 B  "
                                   " 0.1 ms   402 MB  6.28 GB",
                                   "worker0  dead     worker                812        -  1.31 MB  "
                                   "11.5 ms  3.14 GB   201 MB",
                                   "", "worker0: killed by signal 9"));
}

TEST(Render, Fits40Columns) {
  EXPECT_THAT(
      at(40),
      ElementsAre("lenet_mnist", "━━━━━━━━─────  62 %  step 1,250 of 2,000", "loss 0.0833",
                  "precision@1 0.9812 at step 1,000", "3,912 examples/s",
                  "bits/element 2.03 up, 32.00 down", "21 s elapsed, 13 s left", "",
                  "actor    state         in      out", "server0  running   402 MB  6.28 GB",
                  "worker0  dead     3.14 GB   201 MB", "", "worker0: killed by signal 9"));
}

TEST(Render, NoLineIsLongerAndNoViewHigherThanTheTerminal) {
  RunStatus s = status();
  s.config = "a name that is long enough to be cut off, with ümläüts and 日本語の文字 in it";
  s.log_lines = {std::string(500, 'x'), "日本語の文字日本語の文字日本語の文字日本語の文字"};
  for (int i = 0; i < 40; ++i) s.actors.push_back(s.actors[static_cast<std::size_t>(i) % 2]);
  for (const bool utf8 : {true, false}) {
    for (std::size_t width = 1; width < 200; ++width) {
      for (const std::size_t height : {1U, 2U, 5U, 8U, 12U, 24U, 100U}) {
        const auto lines = render(s, {width, height, false, utf8});
        EXPECT_LE(lines.size(), std::max<std::size_t>(1, height - 1));
        for (const std::string& line : lines) EXPECT_LE(columns(line), width) << line;
      }
    }
  }
}

TEST(Render, WhereNotAllActorsFitTheDeadComeFirst) {
  RunStatus s = status();
  for (int i = 0; i < 20; ++i) s.actors.insert(s.actors.begin(), s.actors.back());
  for (std::size_t i = 0; i + 1 < s.actors.size(); ++i) s.actors[i].state = "running";
  s.actors.back().name = "the_dead_one";
  const auto lines = render(s, {80, 16, false, true});
  EXPECT_THAT(lines[6], StartsWith("the_dead_one"));
  EXPECT_THAT(lines, testing::Contains(StartsWith("and ")));
  EXPECT_EQ(lines.back(), "worker0: killed by signal 9");
}

TEST(Render, ColoursTakeNoColumnsAndCanBeLeftOut) {
  const auto plain = render(status(), {80, 24, false, true});
  const auto colored = render(status(), {80, 24, true, true});
  ASSERT_EQ(plain.size(), colored.size());
  for (std::size_t i = 0; i < plain.size(); ++i) {
    EXPECT_THAT(plain[i], Not(HasSubstr("\x1b")));
    std::string stripped;
    for (std::size_t at = 0; at < colored[i].size(); ++at) {
      if (colored[i][at] == '\x1b') {
        at = colored[i].find('m', at);
      } else {
        stripped += colored[i][at];
      }
    }
    EXPECT_EQ(stripped, plain[i]);
  }
  EXPECT_THAT(colored[7], HasSubstr("\x1b[1;31mdead\x1b[0m"));
}

TEST(Render, WithoutUtf8EveryByteIsAscii) {
  for (const std::string& line : render(status(), {60, 24, false, false})) {
    for (const char c : line) EXPECT_TRUE(c >= ' ' && c <= '~') << line;
  }
}

TEST(Render, ALogLineCannotMoveTheCursor) {
  RunStatus s = status();
  s.log_lines = {
      "\x1b[2Jboo\r\n\xC2\x9B"
      "1A\xFF"};
  EXPECT_EQ(render(s, {80, 24, false, true}).back(), "?[2Jboo???1A?");
}

TEST(Render, BeforeTheFirstStepNothingIsMadeUp) {
  RunStatus s;
  s.config = "x";
  s.phase = "starting";
  s.steps = 10;
  const auto lines = render(s, {40, 24, false, true});
  EXPECT_THAT(lines, ElementsAre("x", "────────────────────   0 %  step 0 of 10",
                                 "starting · 0 s elapsed"));
}

class TestClock final : public Clock {
 public:
  Time now() const override { return time; }
  Time time;
};

class ViewTest : public testing::Test {
 protected:
  ~ViewTest() override { std::fclose(out_); }
  /// What was written since the last call.
  std::string written() {
    std::fflush(out_);
    std::string text;
    std::fseek(out_, read_, SEEK_SET);
    for (int c = std::fgetc(out_); c != EOF; c = std::fgetc(out_)) text += static_cast<char>(c);
    read_ = std::ftell(out_);
    return text;
  }
  std::FILE* out_ = std::tmpfile();
  long read_ = 0;
  TestClock clock_;
};

TEST_F(ViewTest, TheLiveViewRedrawsInPlaceTenTimesASecondAndGivesTheCursorBack) {
  ViewOptions options{80, 24, false, true};
  {
    LiveView view(out_, clock_, [&] { return options; });
    view.update(status());
    EXPECT_THAT(written(), StartsWith("\x1b[?25l"));
    clock_.time = clock_.time + std::chrono::milliseconds(99);
    view.update(status());
    EXPECT_EQ(written(), "");
    clock_.time = clock_.time + std::chrono::milliseconds(1);
    view.update(status());
    EXPECT_THAT(written(), StartsWith("\x1b[10A\rlenet_mnist"));
    view.finish(status());
    EXPECT_THAT(written(), StartsWith("\x1b[10A"));
    // Half as wide: the seven lines of more than 40 columns take a second row.
    options.width = 40;
    view.finish(status());
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
  RunStatus s = status();
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
  s.phase = "stopping";
  log.update(s);
  EXPECT_THAT(written(), HasSubstr("stopping"));
  log.finish(s);
  EXPECT_EQ(written(), "");
  s.phase = "done";
  log.finish(s);
  EXPECT_THAT(written(), HasSubstr("done"));
}

TEST_F(ViewTest, AFileGetsThePlainLog) {
  make_run_view(out_, clock_)->update(status());
  EXPECT_THAT(written(), StartsWith("step 1,250"));
}

TEST(TextFormat, NumbersSizesAndTimesReadWell) {
  EXPECT_EQ(thousands(999), "999");
  EXPECT_EQ(thousands(-1234567), "-1,234,567");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(1000), "1.00 kB");
  EXPECT_EQ(bytes_text(999'949), "1.00 MB");
  EXPECT_EQ(bytes_text(12'345'678), "12.3 MB");
  EXPECT_EQ(seconds_text(59.4), "59 s");
  EXPECT_EQ(seconds_text(65), "1:05");
  EXPECT_EQ(seconds_text(7207), "2:00:07");
  EXPECT_EQ(cut("日本語", 5, "…"), "日本…");
  EXPECT_EQ(cut("abc", 3, "…"), "abc");
}

}  // namespace
}  // namespace sterna::launcher
