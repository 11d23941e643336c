#include "launcher/plots/run_curves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/launcher/plots/run_folders.h"

namespace sterna::launcher {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::SizeIs;

using RunCurvesTest = RunFolders;

TEST_F(RunCurvesTest, RunsThatDifferByTheirSeedAloneMakeOneCurveWithABand) {
  const std::vector<std::string> runs = {
      run("a1", kHead + evaluation(10, 0.5) + evaluation(20, 0.75), file("none", 1)),
      run("b1", kHead + evaluation(10, 0.25), file("ternary", 1)),
      run("a2", kHead + evaluation(10, 0.75) + evaluation(20, 0.875), file("none", 2))};
  const auto plot = plot_of_runs(runs, {});
  ASSERT_TRUE(plot.ok()) << plot.error().message;
  EXPECT_EQ(plot->y_label, "precision@1");
  ASSERT_THAT(plot->curves, SizeIs(2));
  const PlotCurve& both = plot->curves[0];
  EXPECT_EQ(both.label, "codec none (2 runs)");
  EXPECT_THAT(both.x, ElementsAre(10, 20));
  EXPECT_THAT(both.mean, ElementsAre(0.625, 0.8125));
  EXPECT_THAT(both.low, ElementsAre(0.5, 0.75));
  EXPECT_THAT(both.high, ElementsAre(0.75, 0.875));
  EXPECT_EQ(plot->curves[1].label, "codec ternary");
  EXPECT_THAT(plot->curves[1].low, ElementsAre());
}

TEST_F(RunCurvesTest, RunsWithNothingOfWhatIsAskedAreLeftOutWithAWord) {
  const std::vector<std::string> runs = {
      run("early", kHead, file("none", 1)),
      run("whole", kHead + evaluation(10, 0.5), file("none", 2))};
  EXPECT_THAT(error(plot_of_runs(runs, {})), HasSubstr("early/metrics.jsonl: has no"));
  std::vector<std::string> said;
  const auto say = [&](const std::string& why) { said.push_back(why); };
  const auto plot = plot_of_runs(runs, {}, say);
  ASSERT_TRUE(plot.ok()) << plot.error().message;
  ASSERT_THAT(plot->curves, SizeIs(1));
  EXPECT_EQ(plot->curves[0].label, "whole");
  const auto odd = plot_of_runs({run("odd\xff", kHead + evaluation(10, 0.5))}, {});
  ASSERT_TRUE(odd.ok()) << odd.error().message;
  EXPECT_EQ(odd->curves[0].label, "odd?");
  EXPECT_THAT(said, ElementsAre(HasSubstr("early/metrics.jsonl: has no")));
  EXPECT_THAT(error(plot_of_runs({runs[0]}, {}, say)), HasSubstr("has no precision_at_1"));
  EXPECT_THAT(error(plot_of_runs({runs[1], temporary.path() + "/nowhere"}, {}, say)),
              HasSubstr("there is no such file"));
}

TEST_F(RunCurvesTest, AKeyIsCalledByItsLastWordWhereThatSaysWhichItIs) {
  const auto labels = [&](const std::string& a, const std::string& b) {
    const auto plot = plot_of_runs(
        {run("a", kHead + evaluation(10, 0.5), a), run("b", kHead + evaluation(10, 0.5), b)}, {});
    std::filesystem::remove_all(temporary.path() + "/a");
    std::filesystem::remove_all(temporary.path() + "/b");
    return plot ? std::vector{plot->curves[0].label, plot->curves[1].label}
                : std::vector{plot.error().message};
  };
  EXPECT_THAT(labels("[scheme]\nname = \"sync\"\n[optimizer]\nlearning_rate = 0.1\n",
                     "[scheme]\nname = \"async\"\n[optimizer]\nlearning_rate = 0.2\n"),
              ElementsAre("learning_rate 0.1, scheme sync", "learning_rate 0.2, scheme async"));
  EXPECT_THAT(labels("[optimizer]\nlearning_rate = 0.1\n[local_optimizer]\nlearning_rate = 0.1\n",
                     "[optimizer]\nlearning_rate = 0.2\n[local_optimizer]\nlearning_rate = 0.4\n"),
              ElementsAre("local_optimizer.learning_rate 0.1, optimizer.learning_rate 0.1",
                          "local_optimizer.learning_rate 0.4, optimizer.learning_rate 0.2"));
}

TEST_F(RunCurvesTest, ACurveGoesAsFarAsAnyOfItsRunsAndSaysHowManyDo) {
  const auto plot =
      plot_of_runs({run("killed", kHead + loss(1, 3), file("none", 1)),
                    run("whole", kHead + loss(1, 2) + loss(2, 1.5) + loss(3, 1), file("none", 2)),
                    run("other", kHead + loss(1, 4), file("ternary", 1))},
                   {.y = "loss"});
  ASSERT_TRUE(plot.ok()) << plot.error().message;
  ASSERT_THAT(plot->curves, SizeIs(2));
  EXPECT_EQ(plot->curves[0].label, "codec none (2 runs, 1 of them to the end)");
  EXPECT_THAT(plot->curves[0].x, ElementsAre(1, 2, 3));
  EXPECT_THAT(plot->curves[0].mean, ElementsAre(2.5, 1.5, 1));
  EXPECT_EQ(plot->curves[1].label, "codec ternary");
  EXPECT_THAT(plot->curves[1].x, ElementsAre(1));
}

TEST_F(RunCurvesTest, ADirectoryThatIsNamedAgainCountsOnce) {
  const std::string r = run("r", kHead + evaluation(10, 0.5));
  const std::string link = temporary.path() + "/link";
  std::filesystem::create_directory_symlink(r, link);
  const std::vector<std::string> runs = {r + "/", link, temporary.path() + "/./r", r};
  EXPECT_THAT(each_once(runs), ElementsAre(r + "/"));
  const auto plot = plot_of_runs(runs, {});
  ASSERT_TRUE(plot.ok()) << plot.error().message;
  ASSERT_THAT(plot->curves, SizeIs(1));
  EXPECT_EQ(plot->curves[0].label, "r");
  EXPECT_THAT(plot->curves[0].low, ElementsAre()) << "no band";
  const std::string nowhere = temporary.path() + "/nowhere";
  EXPECT_THAT(each_once({nowhere, r, nowhere}), ElementsAre(nowhere, r));
}

TEST_F(RunCurvesTest, WhatWasOnlyMeasuredOrMeantToHappenMakesNoOtherCurve) {
  const std::string with =
      file("none", 2) +
      "[evaluator]\nevery = 10\n[trace]\nsteps = \"5-9\"\n[chaos]\nallow = true\n";
  const auto plot = plot_of_runs({run("a", kHead + evaluation(10, 0.5), file("none", 1)),
                                  run("b", kHead + evaluation(10, 0.75), with)},
                                 {});
  ASSERT_TRUE(plot.ok()) << plot.error().message;
  ASSERT_THAT(plot->curves, SizeIs(1));
  EXPECT_EQ(plot->curves[0].label, "a (2 runs)");
}

TEST_F(RunCurvesTest, ACopyCountsOnceAndAnotherRunOfItsSeedIsSaid) {
  const std::string whole = kHead + evaluation(10, 0.5) + evaluation(20, 0.75);
  const auto plot = plot_of_runs({run("killed", kHead + evaluation(10, 0.5), file("none", 1)),
                                  run("whole", whole, file("none", 1)),
                                  run("rarely", kHead + evaluation(20, 0.75), file("none", 1)),
                                  run("other", kHead + evaluation(10, 0.75), file("none", 1))},
                                 {});
  ASSERT_TRUE(plot.ok()) << plot.error().message;
  ASSERT_THAT(plot->curves, SizeIs(1));
  EXPECT_EQ(plot->curves[0].label, "whole (2 runs of 1 seed, 1 of them to the end)");
  EXPECT_THAT(plot->curves[0].mean, ElementsAre(0.625, 0.75));
  EXPECT_THAT(plot->words, ElementsAre(EndsWith("/killed has its seed and its numbers"),
                                       EndsWith("/rarely has its seed and its numbers")));
}

TEST_F(RunCurvesTest, ALastEvaluationOnOtherExamplesIsAMark) {
  const auto evaluated = [](double first, double last) {
    return kHead + evaluation(10, 0.25, "test", 2000) + evaluation(20, first, "test", 2000) +
           evaluation(30, last, "test", 10000);
  };
  const auto plot = plot_of_runs({run("a", evaluated(0.5, 0.75), file("none", 1)),
                                  run("b", evaluated(0.5, 1), file("none", 2))},
                                 {});
  ASSERT_TRUE(plot.ok()) << plot.error().message;
  ASSERT_THAT(plot->curves, SizeIs(1));
  const PlotCurve& curve = plot->curves[0];
  EXPECT_THAT(curve.x, ElementsAre(10, 20));
  EXPECT_EQ(curve.examples, 2000);
  ASSERT_THAT(curve.marks, SizeIs(1));
  EXPECT_EQ(curve.marks[0].x, 30);
  EXPECT_EQ(curve.marks[0].mean, 0.875);
  EXPECT_EQ(curve.marks[0].low, 0.75);
  EXPECT_EQ(curve.marks[0].examples, 10000);
  EXPECT_EQ(plot->note, "measured on 10,000 examples, the line on 2,000");
}

TEST_F(RunCurvesTest, ARunThatGoesOnFromAnothersCheckpointSaysFromWhereItsBytesAreCounted) {
  const std::string whole = kHead + step(1, 1, 10, 0) + step(200, 200, 2000, 0);
  const std::string rest = kHead + loss(161, 2) + step(161, 1, 10, 0) + step(200, 40, 400, 0);
  const std::vector<std::string> runs = {
      run("whole", whole + evaluation(200, 0.5), file("none", 1)),
      run("rest", rest + evaluation(200, 0.25),
          file("none", 2) + "[checkpoint]\nresume = \"runs/other\"\n")};
  const auto bytes = plot_of_runs(runs, {.x = "bytes"});
  ASSERT_TRUE(bytes.ok()) << bytes.error().message;
  ASSERT_THAT(bytes->curves, SizeIs(2)) << "no mean of both";
  EXPECT_EQ(bytes->curves[1].label, "rest, counted from step 160 on");
  const auto steps = plot_of_runs(runs, {});
  ASSERT_TRUE(steps.ok()) << steps.error().message;
  ASSERT_THAT(steps->curves, SizeIs(1)) << "its steps are those of the whole";
}

TEST_F(RunCurvesTest, AveragesBesideParametersAreSaid) {
  const auto plot = plot_of_runs(
      {run("a", kHead + evaluation(10, 0.5), file("none", 1)),
       run("b", kHead + evaluation(10, 0.75, "test", 0, "averages"), file("ternary", 1))},
      {});
  ASSERT_TRUE(plot.ok()) << plot.error().message;
  ASSERT_THAT(plot->curves, SizeIs(2));
  EXPECT_EQ(plot->curves[0].label, "codec none, of parameters");
  EXPECT_EQ(plot->curves[1].label, "codec ternary, of averages");
}

TEST_F(RunCurvesTest, WhatIsNoRunAmongOthersIsLeftOutInOneLine) {
  const std::string r = run("r", kHead + evaluation(10, 0.5));
  const std::string out = temporary.path() + "/r.out";
  const std::string batch = temporary.path() + "/r.sbatch";
  std::ofstream(out) << "x";
  std::ofstream(batch) << "x";
  std::vector<std::string> said;
  const auto say = [&](const std::string& why) { said.push_back(why); };
  EXPECT_THAT(runs_among({r, out, batch, r}, say), ElementsAre(r));
  EXPECT_THAT(said, ElementsAre(EndsWith("/r.out and 1 more: no metrics.jsonl is there")));
  const std::string nowhere = temporary.path() + "/nowhere";
  EXPECT_THAT(runs_among({r, nowhere}, say), ElementsAre(r, nowhere)) << "which is a mistake";
  EXPECT_THAT(runs_among({out}, say), ElementsAre(out)) << "so that somebody says what it is";
}

TEST_F(RunCurvesTest, MoreCurvesThanLookDifferentAreSaid) {
  std::vector<std::string> runs;
  const auto add = [&] {
    const std::string name = std::to_string(runs.size());
    runs.push_back(run(name, kHead + evaluation(10, 0.5), file(name, 1)));
  };
  while (runs.size() < kDistinctCurves) add();
  EXPECT_THAT(plot_of_runs(runs, {})->words, ElementsAre());
  add();
  EXPECT_THAT(plot_of_runs(runs, {})->words,
              ElementsAre("22 curves: beyond 21 the colors and dashes repeat"));
}

}  // namespace
}  // namespace sterna::launcher
