#include "launcher/plots/run_curves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::SizeIs;

const std::string kHead = R"({"format":1,"kind":"run","run":"r"})"
                          "\n";

std::string step(int step, double seconds, int up, int down) {
  return "{\"kind\":\"step\",\"step\":" + std::to_string(step) +
         ",\"seconds\":" + std::to_string(seconds) + ",\"bytes_up\":" + std::to_string(up) +
         ",\"bytes_down\":" + std::to_string(down) + ",\"nonzero\":null}\n";
}
std::string evaluation(int step, double precision, const std::string& subset = "test") {
  return "{\"kind\":\"evaluation\",\"step\":" + std::to_string(step) + ",\"subset\":\"" + subset +
         "\",\"of\":\"parameters\",\"precision_at_1\":" + std::to_string(precision) + "}\n";
}
std::string loss(int step, double loss) {
  return "{\"kind\":\"loss\",\"step\":" + std::to_string(step) +
         ",\"loss\":" + std::to_string(loss) + ",\"decay_loss\":0.5}\n";
}

class RunCurvesTest : public testing::Test {
 protected:
  std::string run(const std::string& name, const std::string& metrics,
                  const std::string& resolved = "") {
    const std::string folder = temporary.path() + "/" + name;
    std::filesystem::create_directory(folder);
    std::ofstream(folder + "/metrics.jsonl") << metrics;
    std::ofstream(folder + "/resolved.toml") << resolved;
    return folder;
  }
  static std::string file(const std::string& codec, int seed) {
    return "format = 1\n\n[job]\nnet = \"lenet\"\nseed = " + std::to_string(seed) +
           "\n\n[gradient]\ncodec = \"" + codec + "\"\n";
  }
  static std::vector<double> xs(const Result<std::vector<RunPoint>>& points) {
    std::vector<double> all;
    if (points) {
      for (const RunPoint& point : *points) all.push_back(point.x);
    }
    return all;
  }
  static std::string error(const auto& result) {
    return result.ok() ? "no error" : result.error().message;
  }
  TemporaryFolder temporary;
};

TEST_F(RunCurvesTest, PointsLieAtTheirStepsSecondsOrBytes) {
  const std::string r =
      run("r", kHead + step(10, 1, 100, 300) + evaluation(10, 0.5) + step(30, 2, 300, 900) +
                   evaluation(20, 0.75) + evaluation(20, 0.9, "train") + evaluation(40, 0.8));
  EXPECT_THAT(xs(run_points(r, {})), ElementsAre(10, 20, 40));
  EXPECT_THAT(xs(run_points(r, {.x = "seconds"})), ElementsAre(1, 1.5, 2));
  EXPECT_THAT(xs(run_points(r, {.x = "bytes"})), ElementsAre(400, 800, 1200));
  const auto train = run_points(r, {.subset = "train"});
  ASSERT_TRUE(train.ok());
  ASSERT_THAT(*train, SizeIs(1));
  EXPECT_EQ(train->front().y, 0.9);
}

TEST_F(RunCurvesTest, WhatARestartDoesAgainCountsOnce) {
  const std::string r = run("r", kHead + loss(1, 3) + loss(2, 2) + loss(3, 9) +
                                     "{\"kind\":\"restart\",\"step\":1,\"cause\":\"x\"}\n" +
                                     loss(2, 2.5) + loss(3, 2.25));
  const auto points = run_points(r, {.y = "loss"});
  ASSERT_TRUE(points.ok());
  ASSERT_THAT(*points, SizeIs(3));
  EXPECT_EQ((*points)[1].y, 2.5);
  EXPECT_EQ((*points)[2].y, 2.25);
}

TEST_F(RunCurvesTest, SecondsAndBytesGoOnOverARestart) {
  const std::string r =
      run("r", kHead + step(10, 2, 100, 0) + evaluation(10, 0.5) + step(20, 4, 200, 0) +
                   "{\"kind\":\"restart\",\"step\":10,\"cause\":\"x\"}\n" + step(20, 1, 70, 0) +
                   evaluation(20, 0.6) + evaluation(20, 0.7));
  EXPECT_THAT(xs(run_points(r, {.x = "seconds"})), ElementsAre(2, 3));
  EXPECT_THAT(xs(run_points(r, {.x = "bytes"})), ElementsAre(100, 170));
  EXPECT_EQ(run_points(r, {})->back().y, 0.7) << "the later of two";
}

TEST_F(RunCurvesTest, OfRanksThatStepByThemselvesThereIsNoLossOfAll) {
  const std::string line = "{\"kind\":\"loss\",\"step\":1,\"rank\":0,\"loss\":2}\n";
  EXPECT_THAT(error(run_points(run("r", kHead + line), {.y = "loss"})),
              EndsWith("its ranks step by themselves, and have no loss in common"));
}

TEST_F(RunCurvesTest, ALastLineThatIsCutAnywhereCostsNoOther) {
  const std::string whole = kHead + loss(1, 3) + loss(2, 2);
  const std::string last = loss(3, 1);
  for (std::size_t cut = 0; cut < last.size() - 1; ++cut) {
    const auto points = run_points(run("r", whole + last.substr(0, cut)), {.y = "loss"});
    ASSERT_TRUE(points.ok()) << cut << ": " << points.error().message;
    EXPECT_THAT(*points, SizeIs(2)) << cut;
  }
  EXPECT_THAT(
      error(run_points(run("r", kHead + last.substr(0, 9) + "\n" + last), {.y = "loss"})),
      EndsWith("/r/metrics.jsonl:2: is no line of metrics; take it out, the others can be read"));
}

TEST_F(RunCurvesTest, WhatIsNotThereIsSaid) {
  EXPECT_THAT(error(run_points(temporary.path() + "/nowhere", {})),
              EndsWith("/nowhere/metrics.jsonl: there is no such file; name a run's directory"));
  EXPECT_THAT(error(run_points(run("r", kHead + loss(1, 3)), {.subset = "train"})),
              EndsWith("/r/metrics.jsonl: has no precision_at_1 of parameters on train"));
  EXPECT_THAT(error(run_points(run("r", "{\"format\":7,\"kind\":\"run\"}\n"), {})),
              EndsWith("/r/metrics.jsonl: is of format 7, and this program reads 1: read it with "
                       "the sterna that ran it"));
  EXPECT_THAT(error(run_points(run("r", kHead + "{\"kind\":3,\"step\":\"x\"}\n"), {})),
              HasSubstr("has no precision_at_1"));
}

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

}  // namespace
}  // namespace sterna::launcher
