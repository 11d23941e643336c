// Connections between the hosts of a run are reset at random: nobody dies of it, nothing is lost
// and nothing comes twice, so the run ends with the bits of one that nobody disturbed. In full, a
// hundred.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "runtime/base/random.h"
#include "tests/cluster/cluster_runs.h"

namespace sterna::test {
namespace {

constexpr Duration kPatience = std::chrono::minutes(4);

std::string job(int steps) {
  return small_unless_in_full(fmt::format(R"(
[[actor]]
role = "parameter_server"
count = 2
hosts = ["a", "d"]

[[actor]]
role = "worker"
count = 2
hosts = ["b", "c"]

[[actor]]
role = "input_reader"
hosts = ["d"]

[[actor]]
role = "evaluator"
hosts = ["a"]

[job]
net = "lenet"
steps = {}
batch = 8
seed = 1

[data]
name = "digits"

[gradient]
codec = "ternary"

[evaluator]
every = 50
)",
                                          steps));
}

/// A connection as `ss` shows it: our end, the other's.
using Connection = std::pair<std::string, std::string>;

class LostLinks : public testing::Test {
 protected:
  static void SetUpTestSuite() { runs_ = std::make_unique<ClusterRuns>(4); }
  static void TearDownTestSuite() { runs_.reset(); }
  void SetUp() override { STERNA_NEEDS_HOSTS(runs_->hosts()); }

  std::unique_ptr<Call> start(const std::string& name, int steps,
                              const std::vector<std::string>& more = {}) const {
    const std::string file =
        runs_->file({"lost_links", {"a", "b", "c", "d"}, "", "root", ""}, job(steps));
    std::vector<std::string> words = {"run", file, "--run-dir", folder(name)};
    words.insert(words.end(), more.begin(), more.end());
    return runs_->sterna(words);
  }
  std::string folder(const std::string& name) const {
    return runs_->hosts().launcher_folder() + "/" + name;
  }
  nlohmann::json result(const std::string& name) const {
    return nlohmann::json::parse(content_of(folder(name) + "/result.json"));
  }
  /// Of the run's processes on that host with others: not sshd's.
  static std::vector<Connection> connections(const std::string& host) {
    std::vector<Connection> all;
    const Said said = runs_->hosts().exec(
        host, {"ss", "-tnH", "state", "established", "( sport != :22 and dport != :22 )"});
    std::istringstream lines(said.out);
    std::string waiting_in;
    std::string waiting_out;
    Connection one;
    while (lines >> waiting_in >> waiting_out >> one.first >> one.second) all.push_back(one);
    return all;
  }
  /// Resets one of them; which. Empty: there was none.
  std::string reset_one() {
    const auto& names = runs_->hosts().names();
    const std::string& host = names[chance_.next() % names.size()];
    const std::vector<Connection> all = connections(host);
    if (all.empty()) return "";
    const auto& [ours, theirs] = all[chance_.next() % all.size()];
    const Said said = runs_->hosts().exec(host, {"ss", "-K", "src", ours, "dst", theirs});
    EXPECT_TRUE(said.ok()) << said.story();
    return ours + " " + theirs;
  }

  static inline std::unique_ptr<ClusterRuns> runs_;
  SeededRandom chance_{static_cast<std::uint64_t>(times())};
};

TEST_F(LostLinks, ResetAtRandomTheyComeAgainAndTheBitsAreTheSame) {
  const std::size_t wanted = in_full() ? 100 : 8;
  const int steps = in_full() ? 2500 : 250;
  const auto calm = start("calm", steps);
  ASSERT_EQ(calm->exit_code(kPatience), 0) << calm->story();
  const auto hit = start("hit", steps);
  ASSERT_TRUE(eventually(kPatience, [&] {
    return hit->out().find("examples/s") != std::string::npos;
  })) << hit->story();
  std::size_t resets = 0;
  std::set<std::string> different;
  while (resets < wanted && !hit->exit_code(std::chrono::milliseconds(20))) {
    const std::string one = reset_one();
    if (one.empty()) continue;
    ++resets;
    different.insert(one);
  }
  ASSERT_EQ(hit->exit_code(kPatience), 0) << hit->story();
  EXPECT_GE(resets, wanted) << "the run was over before";
  const nlohmann::json expected = result("calm");
  const nlohmann::json got = result("hit");
  EXPECT_EQ(got["parameters_sha256"], expected["parameters_sha256"]);
  EXPECT_FALSE(got.contains("actor_restarts")) << got["actor_restarts"];
  EXPECT_GT(got["relinked"], 0);
  std::size_t again = 0;
  for (const char* log :
       {"server0.log", "server1.log", "worker0.log", "worker1.log", "reader0.log", "evaluator0.log",
        "node-a.log", "node-b.log", "node-c.log", "node-d.log", "coordinator.log"}) {
    for (const std::string& line : lines_of(content_of(folder("hit") + "/logs/" + log))) {
      if (line.find("linked again after") != std::string::npos) ++again;
    }
  }
  EXPECT_GE(again, resets);
  print_figure({{"resets", resets},
                {"connections_that_were_reset", different.size()},
                {"ends_that_were_linked_again", again},
                {"seconds", got["seconds"]},
                {"seconds_undisturbed", expected["seconds"]}});
}

/// A firewall that drops what two hosts say to each other for a while.
TEST_F(LostLinks, TwoHostsThatDoNotReachEachOtherForAWhileAreNamedAndNobodyDies) {
  const auto run = start("parted", 200);
  const auto says = [&](const char* words) {
    return eventually(std::chrono::seconds(30),
                      [&] { return (run->out() + run->err()).find(words) != std::string::npos; });
  };
  ASSERT_TRUE(says("examples/s")) << run->story();
  runs_->hosts().must("break", {"a", "port", "b", "1024-65535"});
  EXPECT_TRUE(says("do not reach each other (")) << run->story();
  runs_->hosts().must("fix", {"a"});
  EXPECT_TRUE(says("reach each other again, after ")) << run->story();
  ASSERT_EQ(run->exit_code(kPatience), 0) << run->story();
  const std::string events = content_of(folder("parted") + "/events.jsonl");
  EXPECT_THAT(events, testing::HasSubstr("\"kind\":\"apart\""));
  EXPECT_THAT(events, testing::HasSubstr("\"kind\":\"relinked\""));
  const nlohmann::json got = result("parted");
  EXPECT_GT(got["relinked"], 0);
  EXPECT_FALSE(got.contains("actor_restarts")) << got["actor_restarts"];
}

/// A cable that carries half a megabyte a second, where each step's parameters are 1.7: LeNet's.
TEST_F(LostLinks, ASlowLinkIsNamedWithBothEndsAndThatItIsOver) {
  const auto run = start(
      "slow", 100,
      {"--set", "cluster.slow_link=1MB/s", "--set", "job.net=lenet", "--set", "job.hidden=[]"});
  const auto says = [&](const char* words) {
    return eventually(std::chrono::seconds(60),
                      [&] { return (run->out() + run->err()).find(words) != std::string::npos; });
  };
  ASSERT_TRUE(says("examples/s")) << run->story();
  EXPECT_EQ((run->out() + run->err()).find("the link from "), std::string::npos) << run->story();
  runs_->hosts().shape("b", "4mbit");
  EXPECT_TRUE(says(" to worker0 on b carries at most ")) << run->story();
  runs_->hosts().shape("b", "none");
  EXPECT_TRUE(says(" to worker0 on b is slow no more, after ")) << run->story();
  ASSERT_EQ(run->exit_code(kPatience), 0) << run->story();
  int open = 0;
  for (const std::string& line : lines_of(content_of(folder("slow") + "/events.jsonl"))) {
    const nlohmann::json event = nlohmann::json::parse(line);
    if (event["kind"] == "slow_link") ++open;
    if (event["kind"] == "slow_link_over") --open;
    EXPECT_TRUE(open >= 0 && open <= 4) << line;  // one of each server with each worker at most
  }
  EXPECT_EQ(open, 0);
  EXPECT_FALSE(result("slow").contains("actor_restarts"));
}

}  // namespace
}  // namespace sterna::test
