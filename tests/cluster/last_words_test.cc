// What is there to read of a run that has ended before its time: the cause first, and the logs of
// every host that still answers. With STERNA_FIGURES they are printed, word for word.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <functional>

#include "tests/cluster/cluster_runs.h"

namespace sterna::test {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::StartsWith;

constexpr Duration kPatience = seconds(60);

class LastWords : public testing::Test {
 protected:
  static void SetUpTestSuite() { runs_ = std::make_unique<ClusterRuns>(4); }
  static void TearDownTestSuite() { runs_.reset(); }
  void SetUp() override { STERNA_NEEDS_HOSTS(runs_->hosts()); }

  /// Trains on hosts a to d until a step is done, then does that; the lines of what it said.
  std::vector<std::string> end_by(const std::string& name, int exit,
                                  const std::function<void(const Call&)>& what,
                                  const std::string& more = "") {
    const ClusterHosts& hosts = runs_->hosts();
    folder_ = hosts.launcher_folder() + "/" + name;
    const auto call = runs_->sterna(
        {"run", runs_->file({name, {"a", "b", "c", "d"}, "", "root", how_ + more}, kUnhurriedJob),
         "--run-dir", folder_});
    EXPECT_TRUE(eventually(kPatience, [&] {
      return call->out().find("examples/s") != std::string::npos;
    })) << call->story();
    what(*call);
    EXPECT_EQ(call->exit_code(kPatience), exit) << call->story();
    if (in_full()) std::printf("== %s\n%s", name.c_str(), call->err().c_str());
    return lines_of(call->err());
  }
  nlohmann::json result() const {
    return nlohmann::json::parse(content_of(folder_ + "/result.json"));
  }
  std::vector<std::string> logs() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ + "/logs")) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

  static inline std::unique_ptr<ClusterRuns> runs_;
  /// In full with the silence that a user's file has.
  const std::string how_ =
      std::string("lost_host = \"wait\"\n") + (in_full() ? "" : "silence = \"2s\"\n");
  std::string folder_;
};

TEST_F(LastWords, AfterCtrlCTheLogsOfAllHostsAreThere) {
  end_by("interrupted", 130, [](const Call& call) { call.interrupt(); });
  EXPECT_THAT(logs(), IsSupersetOf({"coordinator.log", "node-a.log", "node-b.log", "node-c.log",
                                    "node-d.log", "server0.log", "worker0.log", "worker1.log",
                                    "reader0.log", "evaluator0.log"}));
}

TEST_F(LastWords, WhoseCableIsCutIsTheCauseAndItsVictimsAreConsequences) {
  const auto lines = end_by("cut", 1, [](const Call&) { runs_->hosts().cut("d"); });
  ASSERT_FALSE(lines.empty());
  EXPECT_THAT(lines.back(), StartsWith("node-d#1 is dead: silence"));
  EXPECT_THAT(lines, Contains(StartsWith("the logs of d stay there, in ")));
  EXPECT_THAT(lines, Contains(StartsWith("  also: ")));
  const nlohmann::json end = result();
  EXPECT_EQ(end["cause"], lines.back());
  EXPECT_GE(end["consequences"].size(), 1U);
  EXPECT_LE(end["consequences"].size(), 5U);
  for (const std::string one : end["consequences"]) EXPECT_THAT(one, HasSubstr("node-d is gone"));
  EXPECT_THAT(logs(), IsSupersetOf({"node-a.log", "node-b.log", "node-c.log"}));
  runs_->hosts().mend("d");
}

TEST_F(LastWords, WhereAFirewallDropsWhatTwoHostsSayBothAreNamed) {
  const auto break_it = [](const Call&) {
    runs_->hosts().must("break", {"a", "port", "d", "1024-65535"});
  };
  const auto lines = end_by("ports", 1, break_it, "link_patience = \"3s\"\n");
  runs_->hosts().must("fix", {"a"});
  ASSERT_FALSE(lines.empty());
  // Whichever of the two tells first, and of the other.
  EXPECT_THAT(lines.back(),
              AllOf(HasSubstr("worker1"), HasSubstr("server0"), HasSubstr("silence")));
  EXPECT_EQ(result()["cause"], lines.back());
}

/// The last one: a host that is given the power back may not be reached at once.
TEST_F(LastWords, WhoLosesItsPowerIsTheCause) {
  const auto lines = end_by("power", 1, [](const Call&) { runs_->hosts().kill("d"); });
  runs_->hosts().revive("d");
  ASSERT_FALSE(lines.empty());
  EXPECT_THAT(lines.back(), StartsWith("node-d#1 is dead: "));
  EXPECT_EQ(result()["cause"], lines.back());
}

}  // namespace
}  // namespace sterna::test
