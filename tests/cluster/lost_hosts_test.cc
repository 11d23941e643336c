// A host loses its power, or its cable, in the middle of a job: what was there goes on on the hosts
// that are left, and the run ends with the bits of one that nobody disturbed. In full (the script
// `faults --hosts`) one and two of them, one way and both, for 1, 10 and 60 seconds.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "tests/cluster/cluster_runs.h"

namespace sterna::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr Duration kPatience = std::chrono::minutes(3);
/// In full with the defaults that a user has.
constexpr const char* kSoon = "silence = \"2s\"\n";
constexpr int kLease = 10;  // seconds

/// The servers on a and d, everything else on b and c, where each may be on the other's.
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
                                          steps));
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

  static std::unique_ptr<Call> start(const std::string& name, bool soon = !in_full(),
                                     const std::string& lease = "3s",
                                     const std::vector<std::string>& settings = {}) {
    const std::string file = runs_->file(
        {"lost_hosts", {"a", "b", "c", "d"}, "", "root", soon ? kSoon : "", lease}, job(200));
    std::vector<std::string> command = {"run", file, "--run-dir", folder(name)};
    for (const std::string& setting : settings) command.insert(command.end(), {"--set", setting});
    return runs_->sterna(command);
  }
  static std::string folder(const std::string& name) {
    return runs_->hosts().launcher_folder() + "/" + name;
  }
  static nlohmann::json result(const std::string& name) {
    const auto got =
        nlohmann::json::parse(content_of(folder(name) + "/result.json"), nullptr, false);
    return got.is_object() ? got : nlohmann::json::object();
  }
  static bool is_at_work(Call& call, const std::string& name, int step = 20) {
    const std::string line = fmt::format("\"step\":{},", step);
    bool found = false;
    eventually(std::chrono::seconds(60), [&] {
      found = content_of(folder(name) + "/metrics.jsonl").find(line) != std::string::npos;
      return found || call.exit_code(Duration::zero());
    });
    return found;
  }
  /// Behind its first checkpoint, which lies whole on the launcher's host.
  static bool is_behind_a_checkpoint(Call& call, const std::string& name) {
    if (!is_at_work(call, name, 51)) return false;
    const std::string manifest = folder(name) + "/checkpoints/step-000000050/manifest.json";
    return eventually(std::chrono::seconds(60), [&] { return std::filesystem::exists(manifest); });
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

  /// `way`: "in", "out", or "" for both.
  static void cut(const std::vector<std::string>& hosts, const std::string& way) {
    for (const std::string& host : hosts) {
      way.empty() ? runs_->hosts().cut(host) : runs_->hosts().cut(host, way);
    }
  }
  static std::int64_t last_step(const std::string& name) {
    std::int64_t last = 0;
    for (const std::string& line : lines_of(content_of(folder(name) + "/metrics.jsonl"))) {
      const auto metric = nlohmann::json::parse(line, nullptr, false);
      if (metric.is_object() && metric.value("kind", "") == "step") {
        last = std::max(last, metric.value("step", std::int64_t{0}));
      }
    }
    return last;
  }
  /// Names of which two processes are there at once.
  static std::set<std::string> twice_there() {
    std::set<std::string> seen;
    std::set<std::string> twice;
    for (const RunProcess& process : runs_->there()) {
      if (process.name != "shell" && !seen.insert(process.name).second) twice.insert(process.name);
    }
    return twice;
  }
  void cut_and_measure(const std::vector<std::string>& hosts, const std::string& way, int seconds);

  static inline std::unique_ptr<ClusterRuns> runs_;
  static inline nlohmann::json calm_;
};

void LostHosts::cut_and_measure(const std::vector<std::string>& hosts, const std::string& way,
                                int seconds) {
  static int number = 0;
  const std::string name = fmt::format("cut{}", ++number);
  SCOPED_TRACE(fmt::format("{} of {}, {}, for {} s", name, fmt::join(hosts, ","), way, seconds));
  const auto call = start(name, false, fmt::format("{}s", kLease));
  ASSERT_TRUE(is_at_work(*call, name)) << call->story();
  const SteadyClock clock;
  const auto said = [&] { return call->err() + content_of(folder(name) + "/events.jsonl"); };
  const std::size_t before = said().size();
  const Time began = clock.now();
  cut(hosts, way);
  std::optional<double> named;
  std::set<std::string> twice;
  double twice_seconds = 0;
  Time looked = began;
  while (clock.now() - began < std::chrono::seconds(seconds)) {
    if (!named && said().size() > before) named = in_seconds(clock.now() - began);
    if (clock.now() - looked < std::chrono::milliseconds(500)) continue;
    const std::set<std::string> now = twice_there();
    if (!now.empty()) twice_seconds += in_seconds(clock.now() - looked);
    looked = clock.now();
    twice.insert(now.begin(), now.end());
  }
  for (const std::string& host : hosts) runs_->hosts().mend(host);
  ASSERT_EQ(call->exit_code(kPatience), 0) << call->story();
  const nlohmann::json got = result(name);
  const bool same = got["parameters_sha256"] == calm_["parameters_sha256"];
  std::printf("%-8s %-5s %4d  %5.1f s %5.1f s %5.1f s %6zu %9zu %5s\n",
              fmt::format("{}", fmt::join(hosts, ",")).c_str(), way.empty() ? "both" : way.c_str(),
              seconds, named.value_or(0), twice_seconds, longest_step(name),
              got.value("actor_restarts", nlohmann::json::array()).size(),
              got.value("restarts", nlohmann::json::array()).size(), same ? "yes" : "NO");
  std::fflush(stdout);
  EXPECT_TRUE(same) << call->story();
  // Its lease has ended before anybody takes its name: so much a look may be off.
  EXPECT_LE(twice_seconds, 1) << fmt::format("{}", fmt::join(twice, " "));
  EXPECT_TRUE(seconds < 10 || named) << call->story();
  EXPECT_TRUE(eventually(std::chrono::seconds(20), [&] { return runs_->there().empty(); }))
      << "somebody is left";
}

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
  ASSERT_TRUE(is_behind_a_checkpoint(*call, "power")) << call->story();
  runs_->hosts().kill("d");
  ends_the_same(*call, "power");
  const nlohmann::json got = result("power");
  ASSERT_GE(got["restarts"].size(), 1U);  // a busy machine may need two
  EXPECT_GE(got["restarts"][0]["step"], 50);
  EXPECT_THAT(got["restarts"][0]["cause"].get<std::string>(), HasSubstr("node-d"));
  EXPECT_THAT(call->out() + call->err(), HasSubstr("going on without d"));
  runs_->hosts().revive("d");
}

TEST_F(LostHosts, WhereItsServersHaveReplicasNoStepIsDoneAgain) {
  const auto call = start("paired", !in_full(), "3s", {"actor.parameter_server.replicas=1"});
  ASSERT_TRUE(is_behind_a_checkpoint(*call, "paired")) << call->story();
  runs_->hosts().kill("d");
  ends_the_same(*call, "paired");
  const nlohmann::json got = result("paired");
  EXPECT_FALSE(got.contains("restarts")) << got["restarts"];
  std::vector<std::string> moved;
  for (const auto& one : got["actor_restarts"]) moved.push_back(one["actor"]);
  EXPECT_THAT(moved, testing::UnorderedElementsAre("server1", "server0-replica"));
  runs_->hosts().revive("d");
}

TEST_F(LostHosts, WhatErrorFeedbackKeptThereIsLostAndItsRanksGoOnWithoutWhereTheFileSaysSo) {
  const auto call =
      start("zero", !in_full(), "3s", {"gradient.error_feedback=true", "gradient.residuals=zero"});
  ASSERT_TRUE(is_behind_a_checkpoint(*call, "zero")) << call->story();
  runs_->hosts().kill("c");
  ASSERT_EQ(call->exit_code(kPatience), 0) << call->story();
  runs_->hosts().revive("c");
  const nlohmann::json got = result("zero");
  EXPECT_FALSE(got.contains("restarts")) << got["restarts"];
  EXPECT_EQ(got["residuals_lost"], 1);
  EXPECT_EQ(got["steps"], 200);
  EXPECT_THAT(content_of(folder("zero") + "/events.jsonl"),
              HasSubstr("\"kind\":\"residuals_lost\""));
  EXPECT_THAT(call->out() + call->err(), HasSubstr("worker1: 1 rank without error feedback"));
  // Its part of a checkpoint lies where it is now.
  EXPECT_THAT(got["checkpoint"].get<std::string>(), HasSubstr("step-000000200"));
  EXPECT_FALSE(got.contains("missed_checkpoints")) << call->story();
}

TEST_F(LostHosts, WithTheDefaultRanksThatLoseTheirResidualsGoBackToTheCheckpointThatHasThem) {
  const auto call = start("rollback", !in_full(), "3s", {"gradient.error_feedback=true"});
  ASSERT_TRUE(is_behind_a_checkpoint(*call, "rollback")) << call->story();
  runs_->hosts().kill("c");
  ASSERT_EQ(call->exit_code(kPatience), 0) << call->story();
  runs_->hosts().revive("c");
  const nlohmann::json got = result("rollback");
  ASSERT_EQ(got["restarts"].size(), 1U) << got;
  EXPECT_FALSE(got.contains("residuals_lost"));
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

TEST_F(LostHosts, OneThatIsAddedTakesOverFromOneThatIsGivenBackAndNoStepIsDoneAgain) {
  // Left to itself: whoever started it has gone, and its owner reaches the new host.
  const std::string file =
      runs_->file({"lost_hosts", {"a", "b", "c", "d"}, "", "root", kSoon}, job(200));
  const auto up =
      runs_->sterna({"up", file, "--run-dir", folder("added"), "--set", "host.1.spare=true"});
  ASSERT_EQ(up->exit_code(kPatience), 0) << up->story();
  const auto watch = runs_->sterna({"watch", "added"});
  ASSERT_TRUE(is_at_work(*watch, "added")) << watch->story();
  for (const RunProcess& process : runs_->there()) EXPECT_NE(process.host, "b") << process.name;
  EXPECT_FALSE(runs_->ask({"move", "added", "worker1", "b"}).is_object()) << "it is not there yet";
  const auto began = std::chrono::steady_clock::now();
  ASSERT_TRUE(runs_->ask({"add", "added", "b"}).is_object()) << watch->story();
  const auto came = std::chrono::steady_clock::now();
  EXPECT_TRUE(runs_->ask({"move", "added", "worker1", "b"}).is_object()) << watch->story();
  ASSERT_TRUE(is_at_work(*watch, "added", 100)) << watch->story();
  const auto drains = std::chrono::steady_clock::now();
  const nlohmann::json drained = runs_->ask({"drain", "added", "c", "--within", "10s"});
  const auto is_drained = std::chrono::steady_clock::now();
  ASSERT_TRUE(drained.is_object()) << watch->story();
  EXPECT_EQ(drained["moved"].size(), 3U) << drained;
  for (const RunProcess& process : runs_->there()) EXPECT_NE(process.host, "c") << process.name;
  ends_the_same(*watch, "added");
  EXPECT_FALSE(result("added").contains("restarts"));
  const auto seconds = [](auto from, auto to) {
    return std::chrono::duration<double>(to - from).count();
  };
  print_figure(
      {{"added_in_s", seconds(began, came)}, {"drained_in_s", seconds(drains, is_drained)}});
}

TEST_F(LostHosts, OneThatSshDoesNotReachIsNotAddedAndCanBeOnceItIsThere) {
  const std::string file =
      runs_->file({"lost_hosts", {"a", "b", "c", "d"}, "", "root", kSoon}, job(1'000'000));
  const auto up = runs_->sterna({"up", file, "--run-dir", folder("unreached"), "--set",
                                 "host.1.spare=true", "--set", "deadlines.host=9s"});
  ASSERT_EQ(up->exit_code(kPatience), 0) << up->story();
  const auto watch = runs_->sterna({"watch", "unreached"});
  ASSERT_TRUE(is_at_work(*watch, "unreached")) << watch->story();
  runs_->hosts().kill("b");
  const auto add = runs_->sterna({"add", "unreached", "b"});
  EXPECT_EQ(add->exit_code(kPatience), 1) << add->story();
  EXPECT_THAT(add->err(), HasSubstr("b: ssh does not get there: "));
  const std::int64_t step = last_step("unreached");
  EXPECT_TRUE(eventually(std::chrono::seconds(30), [&] { return last_step("unreached") > step; }))
      << watch->story();
  const std::string events = content_of(folder("unreached") + "/events.jsonl");
  for (const char* kind : {"death", "actor_restart", "restart", "added"}) {
    EXPECT_THAT(events, Not(HasSubstr(fmt::format("\"kind\":\"{}\"", kind))));
  }
  runs_->hosts().revive("b");
  EXPECT_TRUE(runs_->ask({"add", "unreached", "b"}).is_object()) << watch->story();
  const std::vector<RunProcess> there = runs_->there();
  EXPECT_TRUE(std::ranges::any_of(there, [](const RunProcess& one) { return one.host == "b"; }));
  const nlohmann::json down = runs_->ask({"down", "unreached"});
  EXPECT_EQ(down.value("left", -1), 0) << down;
}

TEST_F(LostHosts, OneThatIsCutOffForAMomentOneWayOrBothLosesNobody) {
  const auto call = start("moments", false, fmt::format("{}s", kLease));
  ASSERT_TRUE(is_at_work(*call, "moments")) << call->story();
  for (const char* way : {"in", "out", ""}) {
    cut({"c"}, way);
    EXPECT_FALSE(call->exit_code(std::chrono::milliseconds(400)));  // so long it is cut
    runs_->hosts().mend("c");
    const std::int64_t step = last_step("moments");
    ASSERT_TRUE(eventually(std::chrono::seconds(30), [&] {
      return last_step("moments") > step || call->exit_code(Duration::zero());
    })) << call->story();
  }
  ends_the_same(*call, "moments");
  const nlohmann::json got = result("moments");
  EXPECT_FALSE(got.contains("actor_restarts")) << got["actor_restarts"];
  EXPECT_FALSE(got.contains("restarts")) << got["restarts"];
}

TEST_F(LostHosts, OneThatIsStoppedForTwoLeasesIsLeftByItsSilenceAndEndsWhatItHasOnceItGoesOn) {
  if (!in_full()) GTEST_SKIP() << "takes half a minute: tests/cluster/faults --hosts";
  const auto call = start("stopped");
  ASSERT_TRUE(is_at_work(*call, "stopped")) << call->story();
  std::vector<std::string> pids;
  for (const RunProcess& process : runs_->there()) {
    if (process.host == "c") pids.push_back(std::to_string(process.pid));
  }
  const auto all = [&](const char* signal) {
    std::vector<std::string> command = {"kill", signal};
    command.insert(command.end(), pids.begin(), pids.end());
    return runs_->hosts().exec("c", command).ok();
  };
  EXPECT_TRUE(all("-STOP"));
  const SteadyClock clock;
  const Time began = clock.now();
  ASSERT_TRUE(eventually(std::chrono::seconds(30), [&] {
    return content_of(folder("stopped") + "/events.jsonl").find("it moves to") != std::string::npos;
  })) << call->story();
  const double moved = in_seconds(clock.now() - began);
  eventually(std::chrono::seconds(6) - (clock.now() - began), [] { return false; });
  all("-CONT");  // some of them may be dead by now
  ends_the_same(*call, "stopped");
  const nlohmann::json got = result("stopped");
  EXPECT_FALSE(got.contains("restarts")) << got["restarts"];
  EXPECT_EQ(got["actor_restarts"].size(), 3U) << got["actor_restarts"];
  for (const auto& one : got["actor_restarts"]) {
    EXPECT_THAT(one["cause"].get<std::string>(), HasSubstr("node-c is gone: silence"));
  }
  print_figure({{"stopped_host_was_left_after_s", moved}});
  EXPECT_TRUE(eventually(std::chrono::seconds(15), [&] { return runs_->there().empty(); }));
}

TEST_F(LostHosts, OneOrTwoOfFourOneWayOrBothForSecondsOrAMinute) {
  if (!in_full()) GTEST_SKIP() << "takes a quarter of an hour: tests/cluster/faults --hosts";
  const char* only = std::getenv("STERNA_ONLY");
  std::printf("%-8s %-5s %4s  %7s %7s %7s %6s %9s %5s\n", "hosts", "way", "s", "named", "twice",
              "longest", "moved", "restarts", "same");
  for (const std::vector<std::string>& hosts :
       {std::vector<std::string>{"c"}, std::vector<std::string>{"c", "d"}}) {
    for (const char* way : {"", "in", "out"}) {
      for (const int seconds : {1, 10, 60}) {
        const std::string row = fmt::format("{} {} {}", fmt::join(hosts, ","), way, seconds);
        if (only != nullptr && row.find(only) == std::string::npos) continue;
        for (int i = 0; i < times(); ++i) cut_and_measure(hosts, way, seconds);
      }
    }
  }
}

}  // namespace
}  // namespace sterna::test
