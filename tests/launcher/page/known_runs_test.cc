#include "launcher/page/known_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "launcher/text/json_line.h"
#include "launcher/view/result_json.h"
#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

namespace fs = std::filesystem;

class KnownRunsTest : public testing::Test {
 protected:
  std::string make(const fs::path& path, int age) const {
    fs::create_directories(path);
    std::ofstream(path / "metrics.jsonl") << R"({"format":1,"kind":"run"})"
                                          << "\n"
                                          << R"({"kind":"loss","step":1,"loss":2})"
                                          << "\n"
                                          << R"({"kind":"lo)";
    fs::last_write_time(path / "metrics.jsonl",
                        fs::file_time_type::clock::now() - std::chrono::seconds(age));
    return path.string();
  }
  static std::vector<std::string> names(const std::vector<KnownRun>& runs) {
    std::vector<std::string> names;
    for (const KnownRun& run : runs) names.push_back(run.name);
    return names;
  }
  TemporaryFolder folder;
};

TEST_F(KnownRunsTest, AreThoseBesideItAndThoseRememberedTheYoungestFirst) {
  const std::string own = make(folder / "runs/own", 20);
  make(folder / "runs/old", 30);
  fs::create_directories(folder / "runs/no-run");
  RunState elsewhere;
  elsewhere.run_directory = make(folder / "other/remembered", 10);
  RunState remote;
  remote.head = "b";
  remote.run_directory = make(folder / "other/of-another-host", 5);
  EXPECT_THAT(names(known_runs(own + "/", {elsewhere, remote})),
              testing::ElementsAre("remembered", "own", "old"));
}

TEST_F(KnownRunsTest, AreToldWithWhatTheyCameTo) {
  const std::string own = make(folder / "runs/own", 1);
  const std::string other = make(folder / "runs/<b>other", 2);
  std::ofstream(fs::path(other) / "result.json") << R"({"exit":0,"steps":5,"isa":"avx2"})";
  const Json told = Json::parse(known_runs_json(known_runs(own, {}), own));
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0]["own"], true);
  EXPECT_EQ(told[0]["result"], nullptr);
  EXPECT_EQ(told[1]["name"], "<b>other");
  EXPECT_EQ(told[1]["result"]["exit"], 0);
  EXPECT_EQ(told[1]["result"]["steps"], 5);
  EXPECT_EQ(told[1]["result"]["loss"], nullptr);
  EXPECT_FALSE(told[1]["result"].contains("isa"));
}

TEST_F(KnownRunsTest, OfAResultOfAnyShapeNumbersAreNumbersAndTextsAreTexts) {
  const std::string own = make(folder / "runs/own", 1);
  constexpr std::size_t kDeep = 100'000;  // to copy it takes more stack than there is
  std::ofstream(fs::path(own) / "result.json")
      << R"({"exit":")"
      << "none"
      << R"(","cause":7,"steps":)" << std::string(kDeep, '[') << std::string(kDeep, ']') << "}";
  const Json result = Json::parse(known_runs_json(known_runs(own, {}), own))[0]["result"];
  EXPECT_EQ(result["exit"], nullptr);
  EXPECT_EQ(result["cause"], "");
  EXPECT_EQ(result["steps"], nullptr);
}

TEST_F(KnownRunsTest, AResultLargerThanAnyIsNotRead) {
  const std::string own = make(folder / "runs/own", 1);
  std::ofstream(fs::path(own) / "result.json")
      << R"({"exit":0})" << std::string(kMostResultBytes, ' ');
  EXPECT_EQ(Json::parse(known_runs_json(known_runs(own, {}), own))[0]["result"], nullptr);
}

TEST_F(KnownRunsTest, TheStoryOfOneEndsWithItsLastWholeLine) {
  const std::string own = make(folder / "runs/own", 1);
  EXPECT_EQ(Json::parse(run_story_json(own))["loss"].size(), 1U);
  EXPECT_EQ(run_story_json(folder / "runs/none"), "null");
}

}  // namespace
}  // namespace sterna::launcher
