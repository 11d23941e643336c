// The live view, line by line at three widths.
#include "launcher/view/live_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/text/text_format.h"
#include "view_fixture.h"

namespace sterna::launcher {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> at(std::size_t width, std::size_t height = 24) {
  return render(status_in_training(), {width, height, false, true});
}

TEST(LiveRender, Has80Columns) {
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

TEST(LiveRender, OfAnActorThatHasNotToldOfItselfSaysNoNumbers) {
  RunStatus s = status_in_training();
  s.actors.resize(1);
  s.actors[0].memory_bytes = s.actors[0].bytes_in = s.actors[0].bytes_out = 0;
  s.actors[0].queue_bytes = 0;
  EXPECT_THAT(render(s, {80, 24, false, true}),
              Contains("server0  running      811        -        -        -        -        -"));
}

TEST(LiveRender, Has120Columns) {
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

TEST(LiveRender, DrawsTrendsInNoMoreThanTheWidth) {
  Trends trends;
  for (int i = 0; i < 100; ++i) trends.loss.add(100 - i);
  trends.precision.add(0.5);  // one is no trend
  const auto lines = render(status_in_training(), {40, 24, false, true}, trends);
  EXPECT_THAT(lines, Contains("loss         ██▇▇▇▇▆▆▆▆▅▅▅▅▄▄▄▃▃▃▃▂▂▂▂▁▁"));
  EXPECT_THAT(lines, Not(Contains(StartsWith("precision@1  "))));
  for (const std::size_t width : {1U, 10U, 13U, 14U, 20U, 40U, 200U}) {
    for (const std::string& line : render(status_in_training(), {width, 24, false, true}, trends)) {
      EXPECT_LE(columns(line), width) << line;
    }
  }
  EXPECT_THAT(render(status_in_training(), {40, 24, false, false}, trends),
              Not(Contains(StartsWith("loss         "))));
}

TEST(LiveRender, HasARowForEachHost) {
  RunStatus status = status_in_training();
  ASSERT_EQ(status.actors.size(), 2U);
  status.actors[0].host = status.actors[1].host = "node1";
  ActorStatus other = status.actors[0];
  other.host = "node2";
  status.actors.push_back(other);
  const auto lines =
      render(status, {.width = 80, .height = 24, .color = false, .utf8 = true, .by_host = true});
  EXPECT_THAT(lines, Contains(StartsWith("host   state    role ")));
  EXPECT_THAT(lines, Contains(StartsWith("node1  dead     2 actors ")));
  EXPECT_THAT(lines, Contains(AllOf(StartsWith("node2  running  1 actor "), EndsWith("6.28 GB"))));
}

TEST(LiveRender, Has40Columns) {
  EXPECT_THAT(
      at(40),
      ElementsAre("lenet_mnist", "━━━━━━━━─────  62 %  step 1,250 of 2,000", "loss 0.0833",
                  "precision@1 0.9812 at step 1,000", "3,912 examples/s",
                  "bits/element 2.03 up, 32.00 down", "21 s elapsed, 13 s left", "",
                  "actor    state         in      out", "server0  running   402 MB  6.28 GB",
                  "worker0  dead     3.14 GB   201 MB", "", "worker0: killed by signal 9"));
}

TEST(LiveRender, SaysOfEvaluationsWhatThereIsToSay) {
  RunStatus s = status_in_training();
  s.recall_at_5 = 0.9991;
  s.others = {{"on train", 0.99}, {"of parameters", 0.9712}};
  s.skipped_evaluations = 2;
  const std::string line = plain_line(s);
  EXPECT_THAT(line, HasSubstr("precision@1 0.9812, recall@5 0.9991 at step 1,000, on train 0.9900, "
                              "of parameters 0.9712, 2 evaluations skipped, 3,912 examples/s"));
  s.precision_what = "of averages";
  EXPECT_THAT(plain_line(s), HasSubstr("recall@5 0.9991 of averages at step 1,000, "));
  s.skipped_evaluations = 1;
  EXPECT_THAT(plain_line(s), HasSubstr("1 evaluation skipped"));
}

TEST(LiveRender, SaysHowMuchOfTheLossIsWeightDecay) {
  RunStatus s = status_in_training();
  s.decay_loss = 0.0712;
  EXPECT_THAT(plain_line(s), HasSubstr("loss 0.0833 (weight decay 0.0712), "));
  s.decay_loss = 0;
  EXPECT_THAT(plain_line(s), HasSubstr("loss 0.0833, "));
}

TEST(LiveRender, AdvisesNoMoreReadersWhereThoseThereAreHaveTimeLeft) {
  RunStatus s = status_in_training();
  s.data_wait = 0.3;
  s.examples_per_second = 233;
  s.readers = {{"reader0", 300, 1}, {"reader1", 300, 1}};
  EXPECT_THAT(plain_line(s), HasSubstr("input-bound: 30 % of the time waits for data"));
  EXPECT_THAT(plain_line(s), HasSubstr("more input readers or data.threads would help"));
  s.readers = {{"reader0", 194283, 1}};
  EXPECT_THAT(plain_line(s), HasSubstr(", 30 % of the time waits for data, reader0 decodes"));
  EXPECT_THAT(plain_line(s), Not(HasSubstr("would help")));
}

TEST(LiveRender, NamesTheEvaluatorWhereTrainingWaitsForItAndSaysWhatWouldHelp) {
  RunStatus s = status_in_training();
  s.evaluator_wait = 0.001;
  EXPECT_THAT(plain_line(s), Not(HasSubstr("evaluator")));
  s.evaluator_wait = 0.02;
  EXPECT_THAT(plain_line(s), HasSubstr("2 % of the time waits for the evaluator, "));
  EXPECT_THAT(plain_line(s), Not(HasSubstr("would help")));
  s.evaluator_wait = 0.62;
  EXPECT_THAT(plain_line(s),
              HasSubstr("62 % of the time waits for the evaluator, fewer evaluator.examples or "
                        "behind = \"skip\" would help"));
}

TEST(LiveRender, NoLineIsLongerAndNoViewHigherThanTheTerminal) {
  RunStatus s = status_in_training();
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

TEST(LiveRender, WhereNotAllActorsFitTheDeadComeFirst) {
  RunStatus s = status_in_training();
  for (int i = 0; i < 20; ++i) s.actors.insert(s.actors.begin(), s.actors.back());
  for (std::size_t i = 0; i + 1 < s.actors.size(); ++i) s.actors[i].state = "running";
  s.actors.back().name = "the_dead_one";
  const auto lines = render(s, {80, 16, false, true});
  EXPECT_THAT(lines[6], StartsWith("the_dead_one"));
  EXPECT_THAT(lines, testing::Contains(StartsWith("and ")));
  EXPECT_EQ(lines.back(), "worker0: killed by signal 9");
}

TEST(LiveRender, ColoursTakeNoColumnsAndCanBeLeftOut) {
  const auto plain = render(status_in_training(), {80, 24, false, true});
  const auto colored = render(status_in_training(), {80, 24, true, true});
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

TEST(LiveRender, WithoutUtf8EveryByteIsAscii) {
  for (const std::string& line : render(status_in_training(), {60, 24, false, false})) {
    for (const char c : line) EXPECT_TRUE(c >= ' ' && c <= '~') << line;
  }
}

TEST(LiveRender, WithoutUtf8WordsInOtherScriptsAreQuestionMarks) {
  RunStatus s = status_in_training();
  s.log_lines = {"ü日"};
  EXPECT_EQ(render(s, {80, 24, false, false}).back(), "??");
}

TEST(LiveRender, ALogLineCannotMoveTheCursor) {
  RunStatus s = status_in_training();
  s.log_lines = {
      "\x1b[2Jboo\r\n\xC2\x9B"
      "1A\xFF"};
  EXPECT_EQ(render(s, {80, 24, false, true}).back(), "?[2Jboo???1A?");
}

TEST(LiveRender, BeforeTheFirstStepNothingIsMadeUp) {
  RunStatus s;
  s.config = "x";
  s.phase = "starting";
  s.steps = 10;
  const auto lines = render(s, {40, 24, false, true});
  EXPECT_THAT(lines, ElementsAre("x", "────────────────────   0 %  step 0 of 10",
                                 "starting · 0 s elapsed"));
}

TEST(LiveRender, BeforeTheFirstStepItIsSeenThatBytesMove) {
  RunStatus s;
  s.phase = "starting";
  s.steps = 10;
  s.elapsed_seconds = 65;
  s.actors.resize(2);
  for (ActorStatus& actor : s.actors) actor.bytes_in = 600'000'000;
  EXPECT_EQ(plain_line(s), "step 0 of 10, starting, 1.20 GB received, 1:05 elapsed");
  s.phase = "training";
  EXPECT_EQ(plain_line(s), "step 0 of 10, 1:05 elapsed");
}

TEST(LiveRender, SaysWhatThePhaseIsWhereItIsNotTraining) {
  RunStatus s = status_in_training();
  s.phase = "failed";
  EXPECT_THAT(render(s, {80, 24, true, true})[2], StartsWith("\x1b[1;31mfailed\x1b[0m"));
}

RunStatus status_of_a_program() {
  RunStatus s;
  s.phase = "running";
  s.elapsed_seconds = 3;
  for (const char* state : {"running", "done", "running", "dead"}) {
    s.actors.push_back({"a", "counter", state});
  }
  return s;
}

TEST(LiveRender, OfActorsThatDoNotTrainSaysHowManyAreInWhichState) {
  EXPECT_EQ(render(status_of_a_program(), {80, 24, false, true})[1],
            "running · 4 actors: 2 running, 1 done, 1 dead · 3 s elapsed");
}

TEST(PlainLine, OfActorsThatDoNotTrainSaysHowManyAreInWhichState) {
  EXPECT_EQ(plain_line(status_of_a_program()),
            "running, 4 actors: 2 running, 1 done, 1 dead, 3 s elapsed");
}

TEST(PlainLine, OfActorsThatDoNotTrainHasNoSteps) {
  RunStatus s;
  s.phase = "starting";
  EXPECT_EQ(plain_line(s), "starting, 0 s elapsed");
}

}  // namespace
}  // namespace sterna::launcher
