#include "launcher/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

class ReportTest : public testing::Test {
 protected:
  std::string run(const std::string& name, const std::string& metrics) {
    const std::string path = folder.path() + "/" + name;
    std::filesystem::create_directory(path);
    std::ofstream(path + "/metrics.jsonl") << R"({"format":1,"kind":"run","run":"r","time":1})"
                                           << "\n"
                                           << metrics;
    std::ofstream(path + "/resolved.toml") << "format = 1\n[job]\nnet = \"" + name + "\"\n";
    return path;
  }
  static void result(const std::string& path, const std::string& json) {
    std::ofstream(path + "/result.json") << json;
  }
  static std::string evaluation(int step, double precision) {
    return R"({"kind":"evaluation","subset":"test","of":"parameters","step":)" +
           std::to_string(step) + ",\"precision_at_1\":" + std::to_string(precision) + "}\n";
  }
  TemporaryFolder folder;
};

TEST_F(ReportTest, HasCurvesOfWhatRunsSaySomethingOf) {
  const std::string one = run("one", evaluation(10, 0.5) + evaluation(20, 0.75));
  const std::string other = run("other", evaluation(10, 0.25));
  const auto report = read_report({one, other}, STERNA_DRAWING_FOLDER);
  ASSERT_TRUE(report.ok()) << report.error().message;
  ASSERT_THAT(report->curves, SizeIs(3)) << "accuracy by step, time and bytes; no loss is known";
  const ReportCurve& curve = report->curves.front();
  EXPECT_THAT(curve.svg, HasSubstr("<svg"));
  ASSERT_THAT(curve.ends, SizeIs(2));
  EXPECT_EQ(curve.ends[0].x, "20");
  EXPECT_EQ(curve.ends[0].y, 0.75);
  const std::string html = to_html(*report);
  EXPECT_TRUE(html.find("src=\"data:image/svg+xml,%3C") != std::string::npos);
  EXPECT_TRUE(html.find("<svg") == std::string::npos) << "names of two pictures would meet";
  for (const char* other : {"src=\"http", "<link", "<script", "@import"}) {
    EXPECT_FALSE(html.find(other) != std::string::npos) << other << ": it needs nothing else";
  }
}

TEST_F(ReportTest, SaysHowManyRunsOfACurveGoToItsEndAndCountsEachOnce) {
  const std::string whole = run("whole", evaluation(10, 0.5) + evaluation(20, 0.75));
  const std::string killed = run("killed", evaluation(10, 0.25));
  const std::string early = run("early", "");
  for (const std::string& path : {killed, early}) {
    std::filesystem::copy_file(whole + "/resolved.toml", path + "/resolved.toml",
                               std::filesystem::copy_options::overwrite_existing);
  }
  const auto report =
      read_report({whole, killed, early, whole + "/", killed}, STERNA_DRAWING_FOLDER);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_THAT(report->runs, SizeIs(3));
  ASSERT_THAT(report->curves, SizeIs(3));
  ASSERT_THAT(report->curves.front().ends, SizeIs(1));
  EXPECT_EQ(report->curves.front().ends[0].x, "20");
  EXPECT_EQ(report->curves.front().ends[0].y, 0.75);
  const std::string html = to_html(*report);
  EXPECT_THAT(html, HasSubstr("<td>whole (2 runs, 1 of them to the end)</td>"));
  EXPECT_THAT(html, HasSubstr("Accuracy by step: where each curve ends; one of several runs is the "
                              "mean of those that have come so far; left out: 1 run without this"));
}

TEST_F(ReportTest, AFileBesideTheRunsIsLeftOutWithAWord) {
  const std::string one = run("one", evaluation(10, 0.5));
  const std::string log = folder.path() + "/one.out";
  std::ofstream(log) << "x";
  std::vector<std::string> said;
  const auto report = read_report({one, log}, STERNA_DRAWING_FOLDER,
                                  [&](const std::string& why) { said.push_back(why); });
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_THAT(report->runs, SizeIs(1));
  EXPECT_THAT(said, testing::ElementsAre(log + ": no metrics.jsonl is there"));
}

TEST_F(ReportTest, ACurveEndsAtWhatWasMeasuredOnAllExamples) {
  const auto on = [](int step, double precision, int examples) {
    std::string line = evaluation(step, precision);
    return line.substr(0, line.find('}')) + ",\"examples\":" + std::to_string(examples) + "}\n";
  };
  const auto report = read_report(
      {run("one", on(10, 0.5, 20) + on(20, 0.75, 20) + on(30, 0.625, 100))}, STERNA_DRAWING_FOLDER);
  ASSERT_TRUE(report.ok()) << report.error().message;
  ASSERT_THAT(report->curves.front().ends, SizeIs(1));
  EXPECT_EQ(report->curves.front().ends[0].y, 0.625);
  EXPECT_THAT(to_html(*report),
              HasSubstr("a ring: measured on 100 examples, the line on 20</figcaption>"));
}

TEST_F(ReportTest, SaysHowARunEndedWhatItLostAndWhatItsTensorsCameTo) {
  const std::string path = run(
      "one", R"({"kind":"restart","step":20,"steps_again":7,"cause":"worker1 on <b> was killed"})"
             "\n"
             R"({"kind":"tensor","tensor":"fc1/weights","codec":"ternary","elements":400000,)"
             R"("bits_up":2.0,"nonzero":0.25,"saturated":null})"
             "\n");
  result(path, R"({"exit":1,"cause":"a & b","steps":40,"precision_at_1":0.5,"codec":"ternary",)"
               R"("consequences":["worker0 is dead"],"loss":null})");
  const auto report = read_report({path}, STERNA_DRAWING_FOLDER);
  ASSERT_TRUE(report.ok()) << report.error().message;
  const std::string html = to_html(*report);
  EXPECT_THAT(html, HasSubstr("Ended with exit code 1: a &amp; b"));
  EXPECT_THAT(html, HasSubstr("worker1 on &lt;b&gt; was killed"));
  EXPECT_THAT(html, HasSubstr("<li>worker0 is dead</li>"));
  EXPECT_THAT(html, HasSubstr("<td>fc1/weights</td><td>ternary</td>"
                              "<td class=\"number\">400000</td><td class=\"number\">2.00</td>"));
  EXPECT_THAT(html, HasSubstr("<td>precision@1</td><td>0.5000</td>"));
  EXPECT_THAT(html, Not(HasSubstr("loss of the last step"))) << "which nobody knows";
  EXPECT_THAT(html, HasSubstr("net = &quot;one&quot;"));
}

TEST_F(ReportTest, WhatWasDoneAgainAfterARestartIsNotThereTwice) {
  const std::string tensor = R"({"kind":"tensor","tensor":"fc1","elements":7})"
                             "\n";
  const std::string again = evaluation(30, 0.5) + tensor;
  const auto report = read_report({run("one", evaluation(20, 0.25) + again +
                                                  R"({"kind":"restart","step":20,"cause":"lost"})"
                                                  "\n" +
                                                  again)},
                                  STERNA_DRAWING_FOLDER);
  ASSERT_TRUE(report.ok()) << report.error().message;
  const ReportRun& read = report->runs.front();
  EXPECT_THAT(read.tensors, SizeIs(1));
  ASSERT_THAT(read.evaluations, SizeIs(2));
  EXPECT_EQ(read.evaluations[0]["step"], 20);
  EXPECT_EQ(read.evaluations[1]["step"], 30);
  EXPECT_THAT(read.restarts, SizeIs(1));
}

TEST_F(ReportTest, OfALineOnlyWhatIsShownIsKept) {
  const auto report =
      read_report({run("one", R"({"kind":"tensor","tensor":"fc1","elements":[[[7]]],"x":{}})"
                              "\n")},
                  STERNA_DRAWING_FOLDER);
  ASSERT_TRUE(report.ok()) << report.error().message;
  const Json& tensor = report->runs.front().tensors.at(0);
  EXPECT_EQ(tensor["elements"], nullptr);
  EXPECT_FALSE(tensor.contains("x"));
}

TEST_F(ReportTest, IsUtf8WhateverPathsAre) {
  const auto report = read_report({run("odd\xff", evaluation(10, 0.5))}, STERNA_DRAWING_FOLDER);
  ASSERT_TRUE(report.ok()) << report.error().message;
  const std::string html = to_html(*report);
  EXPECT_THAT(html, HasSubstr("/odd?"));
  EXPECT_FALSE(html.find('\xff') != std::string::npos);
}

TEST_F(ReportTest, OfARunWithoutAResultSaysSo) {
  const auto report = read_report({run("one", "")}, STERNA_DRAWING_FOLDER);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_THAT(to_html(*report), HasSubstr("There is no result"));
}

TEST_F(ReportTest, SaysWhatItCannotRead) {
  const auto none = read_report({folder.path() + "/none"}, STERNA_DRAWING_FOLDER);
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message, HasSubstr("/none/metrics.jsonl: there is no such file"));
  const std::string path = run("one", evaluation(1, 0.5));
  result(path, "[]");
  const auto broken = read_report({path}, STERNA_DRAWING_FOLDER);
  ASSERT_FALSE(broken.ok());
  EXPECT_THAT(broken.error().message, HasSubstr("result.json: is no JSON object"));
  result(path, "{}");
  const auto undrawn = read_report({path}, folder.path());
  ASSERT_FALSE(undrawn.ok());
  EXPECT_THAT(undrawn.error().message, HasSubstr("is not there: build the target"));
}

}  // namespace
}  // namespace sterna::launcher
