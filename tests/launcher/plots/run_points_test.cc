#include "launcher/plots/run_points.h"

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

class RunPointsTest : public RunFolders {
 protected:
  static std::vector<double> xs(const Result<MeasuredRun>& run) {
    std::vector<double> all;
    if (run) {
      for (const RunPoint& point : run->points) all.push_back(point.x);
    }
    return all;
  }
};

TEST_F(RunPointsTest, PointsLieAtTheirStepsSecondsOrBytes) {
  const std::string r =
      run("r", kHead + step(10, 1, 100, 300) + evaluation(10, 0.5) + step(30, 2, 300, 900) +
                   evaluation(20, 0.75) + evaluation(20, 0.9, "train") + evaluation(40, 0.8));
  EXPECT_THAT(xs(run_points(r, {})), ElementsAre(10, 20, 40));
  EXPECT_THAT(xs(run_points(r, {.x = "seconds"})), ElementsAre(1, 1.5, 2));
  EXPECT_THAT(xs(run_points(r, {.x = "bytes"})), ElementsAre(400, 800, 1200));
  const auto train = run_points(r, {.subset = "train"});
  ASSERT_TRUE(train.ok());
  ASSERT_THAT(train->points, SizeIs(1));
  EXPECT_EQ(train->points.front().y, 0.9);
}

TEST_F(RunPointsTest, BytesAreAllOrThoseOfGradientsAndParameters) {
  const std::string r =
      run("r", kHead +
                   "{\"kind\":\"step\",\"step\":10,\"bytes_up\":100,\"bytes_down\":300,"
                   "\"coded_bytes_up\":90,\"coded_bytes_down\":200}\n" +
                   evaluation(10, 0.5));
  EXPECT_THAT(xs(run_points(r, {.x = "bytes"})), ElementsAre(400));
  EXPECT_THAT(xs(run_points(r, {.x = "coded_bytes"})), ElementsAre(290));
  const std::string old = run("old", kHead + step(10, 1, 100, 300) + evaluation(10, 0.5));
  EXPECT_THAT(error(run_points(old, {.x = "coded_bytes"})), HasSubstr("coded_bytes"));
}

TEST_F(RunPointsTest, WhatARestartDoesAgainCountsOnce) {
  const std::string r = run("r", kHead + loss(1, 3) + loss(2, 2) + loss(3, 9) +
                                     "{\"kind\":\"restart\",\"step\":1,\"cause\":\"x\"}\n" +
                                     loss(2, 2.5) + loss(3, 2.25));
  const auto points = run_points(r, {.y = "loss"});
  ASSERT_TRUE(points.ok());
  ASSERT_THAT(points->points, SizeIs(3));
  EXPECT_EQ(points->points[1].y, 2.5);
  EXPECT_EQ(points->points[2].y, 2.25);
}

TEST_F(RunPointsTest, SecondsAndBytesGoOnOverARestart) {
  const std::string r =
      run("r", kHead + step(10, 2, 100, 0) + evaluation(10, 0.5) + step(20, 4, 200, 0) +
                   "{\"kind\":\"restart\",\"step\":10,\"cause\":\"x\"}\n" + step(20, 1, 70, 0) +
                   evaluation(20, 0.6) + evaluation(20, 0.7));
  EXPECT_THAT(xs(run_points(r, {.x = "seconds"})), ElementsAre(2, 3));
  EXPECT_THAT(xs(run_points(r, {.x = "bytes"})), ElementsAre(100, 170));
  EXPECT_EQ(run_points(r, {})->points.back().y, 0.7) << "the later of two";
}

TEST_F(RunPointsTest, OfRanksThatStepByThemselvesThereIsNoLossOfAll) {
  const std::string line = "{\"kind\":\"loss\",\"step\":1,\"rank\":0,\"loss\":2}\n";
  EXPECT_THAT(error(run_points(run("r", kHead + line), {.y = "loss"})),
              EndsWith("its ranks step by themselves, and have no loss in common"));
}

TEST_F(RunPointsTest, ALastLineThatIsCutAnywhereCostsNoOther) {
  const std::string whole = kHead + loss(1, 3) + loss(2, 2);
  const std::string last = loss(3, 1);
  for (std::size_t cut = 0; cut < last.size() - 1; ++cut) {
    const auto points = run_points(run("r", whole + last.substr(0, cut)), {.y = "loss"});
    ASSERT_TRUE(points.ok()) << cut << ": " << points.error().message;
    EXPECT_THAT(points->points, SizeIs(2)) << cut;
  }
  EXPECT_THAT(
      error(run_points(run("r", kHead + last.substr(0, 9) + "\n" + last), {.y = "loss"})),
      EndsWith("/r/metrics.jsonl:2: is no line of metrics; take it out, the others can be read"));
}

TEST_F(RunPointsTest, WhatIsNotThereIsSaid) {
  EXPECT_THAT(error(run_points(temporary.path() + "/nowhere", {})),
              EndsWith("/nowhere/metrics.jsonl: there is no such file; name a run's directory"));
  EXPECT_THAT(error(run_points(run("r", kHead + loss(1, 3)), {.subset = "train"})),
              EndsWith("/r/metrics.jsonl: has no precision_at_1 on train"));
  EXPECT_THAT(error(run_points(run("r", "{\"format\":7,\"kind\":\"run\"}\n"), {})),
              EndsWith("/r/metrics.jsonl: is of format 7, and this program reads 1: read it with "
                       "the sterna that ran it"));
  EXPECT_THAT(error(run_points(run("r", kHead + "{\"kind\":3,\"step\":\"x\"}\n"), {})),
              HasSubstr("has no precision_at_1"));
}

TEST_F(RunPointsTest, WhatARunTrainedWithIsAnAxisWhereItsMetricsSayIt) {
  const auto trained = [](int step, int examples) {
    return "{\"kind\":\"step\",\"step\":" + std::to_string(step) +
           ",\"examples\":" + std::to_string(examples) + "}\n";
  };
  const std::string r = run("r", kHead + trained(10, 640) + trained(20, 1280) +
                                     evaluation(10, 0.5) + evaluation(15, 0.6));
  EXPECT_THAT(xs(run_points(r, {.x = "examples"})), ElementsAre(640, 960));
  const std::string old = run("old", kHead + step(10, 1, 1, 1) + evaluation(10, 0.5));
  EXPECT_THAT(error(run_points(old, {.x = "examples"})),
              EndsWith("/old/metrics.jsonl: an older program's, which says no examples"));
}

TEST_F(RunPointsTest, AnEvaluationsSecondsAreThoseOfItsStep) {
  const std::string late =
      "{\"kind\":\"evaluation\",\"step\":10,\"seconds\":9,\"subset\":\"test\","
      "\"of\":\"parameters\",\"precision_at_1\":0.5}\n";
  EXPECT_THAT(xs(run_points(run("r", kHead + step(10, 1, 1, 1) + step(90, 9, 1, 1) + late),
                            {.x = "seconds"})),
              ElementsAre(1))
      << "its parameters were made then, whenever it was done";
}

TEST_F(RunPointsTest, WhatStandsForARunAreItsAveragesWhereItHasAny) {
  const std::string both =
      run("both", kHead + evaluation(10, 0.5) + evaluation(10, 0.75, "test", 0, "averages"));
  const auto either = run_points(both, {});
  ASSERT_TRUE(either.ok());
  EXPECT_EQ(either->of, "averages");
  ASSERT_THAT(either->points, SizeIs(1));
  EXPECT_EQ(either->points[0].y, 0.75);
  EXPECT_EQ(run_points(both, {.of = "parameters"})->points[0].y, 0.5);
  EXPECT_EQ(run_points(run("r", kHead + evaluation(10, 0.5)), {})->of, "parameters");
}

TEST_F(RunPointsTest, ARunThatGoesOnFromAnothersCheckpointBeginsThere) {
  const std::string metrics =
      kHead + loss(161, 2) + step(161, 1, 10, 0) + step(200, 40, 400, 0) + evaluation(200, 0.5);
  const std::string resumed = "[checkpoint]\nresume = \"runs/other\"\n";
  EXPECT_EQ(run_points(run("r", metrics, resumed), {})->first_step, 160);
  EXPECT_EQ(run_points(run("s", metrics, "[checkpoint]\nresume = false\n"), {})->first_step, 0)
      << "its first lines are lost";
  EXPECT_EQ(run_points(run("t", kHead + loss(1, 2) + evaluation(9, 0.5), resumed), {})->first_step,
            0)
      << "it goes on in its own directory, or there was no checkpoint";
}

}  // namespace
}  // namespace sterna::launcher
