// A host loses its power, or its cable, in the middle of a job: what was there goes on on the hosts
// that are left, and the run ends with the bits of one that nobody disturbed.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cluster/cluster_runs.h"

namespace sterna::test {
namespace {

using testing::HasSubstr;

constexpr Duration kPatience = std::chrono::minutes(3);
/// In full with the defaults that a user has.
constexpr const char* kSoon = "silence = \"2s\"\n";

/// The servers on a and d, everything else on b and c, where each may be on the other's.
std::string job(int steps) {
  return fmt::format(R"(
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
hosts = ["c", "b"]

[[actor]]
role = "evaluator"
hosts = ["c", "a"]

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

[checkpoint]
every_steps = 50
)",
                     steps);
}

class LostHosts : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    runs_ = std::make_unique<ClusterRuns>(4);
    if (!runs_->hosts().missing().empty()) return;
    const auto calm = start("calm");
    ASSERT_EQ(calm->exit_code(kPatience), 0) << calm->story();
    calm_ = result("calm");
  }
  static void TearDownTestSuite() { runs_.reset(); }
  void SetUp() override { STERNA_NEEDS_HOSTS(runs_->hosts()); }

  static std::unique_ptr<Call> start(const std::string& name) {
    const std::string file = runs_->file(
        {"lost_hosts", {"a", "b", "c", "d"}, "", "root", in_full() ? "" : kSoon}, job(200));
    return runs_->sterna({"run", file, "--run-dir", folder(name)});
  }
  static std::string folder(const std::string& name) {
    return runs_->hosts().launcher_folder() + "/" + name;
  }
  static nlohmann::json result(const std::string& name) {
    return nlohmann::json::parse(content_of(folder(name) + "/result.json"));
  }
  static bool is_at_work(Call& call, const std::string& name, int step = 20) {
    const std::string line = fmt::format("\"step\":{},", step);
    return eventually(std::chrono::seconds(60), [&] {
      return content_of(folder(name) + "/metrics.jsonl").find(line) != std::string::npos ||
             call.exit_code(Duration::zero());
    });
  }
  /// The longest time between two steps, in seconds: until what was lost went on.
  static double longest_step(const std::string& name) {
    double longest = 0;
    std::optional<double> before;
    for (const std::string& line : lines_of(content_of(folder(name) + "/metrics.jsonl"))) {
      const auto metric = nlohmann::json::parse(line, nullptr, false);
      if (!metric.is_object() || metric.value("kind", "") != "step") continue;
      const double at = metric.value("seconds", 0.0);
      if (before) longest = std::max(longest, at - *before);
      before = at;
    }
    return longest;
  }
  void ends_the_same(Call& call, const std::string& name) {
    ASSERT_EQ(call.exit_code(kPatience), 0) << call.story();
    const nlohmann::json got = result(name);
    EXPECT_EQ(got["parameters_sha256"], calm_["parameters_sha256"]) << call.story();
    print_figure(
        {{"lost", name},
         {"longest_step_s", longest_step(name)},
         {"actors_that_moved", got.value("actor_restarts", nlohmann::json::array()).size()},
         {"restarts", got.value("restarts", nlohmann::json::array()).size()},
         {"seconds", got["seconds"]},
         {"seconds_undisturbed", calm_["seconds"]}});
  }

  static inline std::unique_ptr<ClusterRuns> runs_;
  static inline nlohmann::json calm_;
};

TEST_F(LostHosts, OneThatIsCutOffIsLeftAndNothingOfTheRunStaysThere) {
  const auto call = start("cut");
  ASSERT_TRUE(is_at_work(*call, "cut")) << call->story();
  runs_->hosts().cut("c");
  ASSERT_TRUE(eventually(std::chrono::seconds(30), [&] {
    return content_of(folder("cut") + "/events.jsonl").find("it moves to") != std::string::npos;
  })) << call->story();
  runs_->hosts().mend("c");
  ends_the_same(*call, "cut");
  const nlohmann::json got = result("cut");
  EXPECT_FALSE(got.contains("restarts")) << got["restarts"];
  ASSERT_EQ(got["actor_restarts"].size(), 3U) << got["actor_restarts"];
  for (const auto& one : got["actor_restarts"]) {
    EXPECT_THAT(one["cause"].get<std::string>(), HasSubstr(" on c is dead: node-c is gone: "));
  }
  EXPECT_TRUE(eventually(std::chrono::seconds(15), [&] { return runs_->there().empty(); }));
}

TEST_F(LostHosts, WithAServerAllGoOnFromTheCheckpointOnThoseThatAreLeft) {
  const auto call = start("power");
  ASSERT_TRUE(is_at_work(*call, "power", 60)) << call->story();
  runs_->hosts().kill("d");
  ends_the_same(*call, "power");
  const nlohmann::json got = result("power");
  ASSERT_EQ(got["restarts"].size(), 1U);
  EXPECT_GE(got["restarts"][0]["step"], 50);
  EXPECT_THAT(got["restarts"][0]["cause"].get<std::string>(), HasSubstr("node-d"));
  EXPECT_THAT(call->out() + call->err(), HasSubstr("going on without d"));
  runs_->hosts().revive("d");
}

TEST_F(LostHosts, OneThatIsDrainedIsGivenBackAndNoStepIsDoneAgain) {
  const auto call = start("drained");
  ASSERT_TRUE(is_at_work(*call, "drained")) << call->story();
  EXPECT_FALSE(runs_->ask({"drain", "drained", "a"}).is_object()) << "a server is there";
  const auto began = std::chrono::steady_clock::now();
  const nlohmann::json drained = runs_->ask({"drain", "drained", "c"});
  const double took =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  ASSERT_TRUE(drained.is_object()) << call->story();
  EXPECT_EQ(drained["moved"].size(), 3U) << drained;
  for (const RunProcess& process : runs_->there()) EXPECT_NE(process.host, "c") << process.name;
  ends_the_same(*call, "drained");
  EXPECT_FALSE(result("drained").contains("restarts"));
  print_figure({{"drained_in_s", took}});
}

}  // namespace
}  // namespace sterna::test
