// Whatever of these dies or stands still, whenever: the run ends with the parameters of one that
// lost nobody, and soon goes on. A few rows once, or all as often as STERNA_TIMES says (the script
// `faults`), which prints them as a table.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "tests/end_to_end/run_test.h"

namespace sterna::test {
namespace {

/// So long a process may be silent, in these runs.
constexpr Duration kSilence = seconds(2);
/// For a run of hundreds of restarts.
constexpr Duration kLongest = std::chrono::minutes(40);
/// A row's floors: from a death to the first step after it.
constexpr double kMedian = 1.5;
constexpr double kWorst = 4;
/// Of `status`, while the coordinator comes again.
constexpr double kAnswers = 3;
/// After a kill of the coordinator: until the next one is there, at some tenths of a second a step.
constexpr int kStepsNearby = 10;

std::string given(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}
int times() { return given("STERNA_TIMES").empty() ? 1 : std::stoi(given("STERNA_TIMES")); }
bool in_full() { return !given("STERNA_FIGURES").empty(); }
int steps_of_each() { return in_full() ? 300 : 120; }
/// None is struck in its last ones, which may be made before it is.
constexpr int kLastSteps = 30;

/// How gradients travel: what decides what a rank has to find again.
struct Way {
  std::string scaler;
  std::string down;
  bool feedback = false;

  std::string name() const {
    return fmt::format("{} {}{}", scaler, down, feedback ? " feedback" : "");
  }
  std::vector<std::string> settings() const {
    return {"gradient.scaler=" + scaler, "gradient.down=" + down,
            fmt::format("gradient.error_feedback={}", feedback)};
  }
};

struct Row {
  std::string what;  ///< "kill -9" or "SIGSTOP"
  std::string whom;  ///< a role, or "two at once"
  Way way;

  bool stops() const { return what == "SIGSTOP"; }
  std::string name() const { return fmt::format("{} {}, {}", what, whom, way.name()); }
};

std::vector<Row> rows() {
  if (!in_full()) {
    return {{"kill -9", "worker", {"own", "parameters"}},
            {"kill -9", "two at once", {"own", "parameters"}},
            {"kill -9", "server of two", {"own", "parameters"}},
            {"kill -9", "server", {"shared", "average"}},
            {"kill -9", "coordinator", {"own", "parameters"}},
            {"SIGSTOP", "reader", {"own", "parameters"}}};
  }
  std::vector<Row> all;
  for (const bool feedback : {false, true}) {
    if (feedback && given("STERNA_FEEDBACK").empty()) continue;
    for (const std::string scaler : {"own", "shared"}) {
      for (const std::string down : {"parameters", "parameters_bf16", "average", "ternary"}) {
        if (down == "average" && scaler == "own") continue;  // only sums of one scaler's trits
        for (const char* what : {"kill -9", "SIGSTOP"}) {
          for (const char* whom : {"worker", "reader", "evaluator", "two at once", "server",
                                   "server of two", "coordinator"}) {
            // Else it has what workers have not.
            if (whom == std::string_view("server") && down != "average") continue;
            all.push_back({what, whom, {scaler, down, feedback}});
          }
        }
      }
    }
  }
  std::erase_if(all, [](const Row& row) {
    return row.name().find(given("STERNA_ONLY")) == std::string::npos;
  });
  return all;
}

struct Tally {
  int runs = 0;
  int same = 0;
  std::vector<double> seconds;  ///< until the first step after the fault
};

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

/// What is seen of a run's steps from outside, a few milliseconds late: the workers tell of theirs
/// every tenth of a second.
class Steps {
 public:
  explicit Steps(std::string path) : path_(std::move(path)) {}

  void look() {
    std::ifstream file(path_, std::ios::binary);
    file.seekg(read_);
    for (std::string line; std::getline(file, line) && !file.eof();) {
      read_ += static_cast<std::streamoff>(line.size()) + 1;
      if (line.find("\"kind\":\"step\"") == std::string::npos) continue;
      const auto json = nlohmann::json::parse(line, nullptr, false);
      const std::int64_t step = json.value("step", std::int64_t{0});
      if (step > last_) advances_.push_back(clock_.now());
      last_ = std::max(last_, step);
    }
  }
  std::int64_t last() const { return last_; }
  /// From `fault` to the first step after the longest pause that it may have caused: what is on its
  /// way then still comes, and is no new step. None: the run had nothing left to do.
  std::optional<double> until_new_step(Time fault, Duration may_take) const {
    Duration longest{};
    std::optional<double> until;
    for (std::size_t i = 1; i < advances_.size(); ++i) {
      const Time before = advances_[i - 1];
      if (advances_[i] < fault || before > fault + may_take) continue;
      if (advances_[i] - before <= longest) continue;
      longest = advances_[i] - before;
      until = in_seconds(advances_[i] - fault);
    }
    return until;
  }
  Time now() const { return clock_.now(); }

 private:
  SteadyClock clock_;
  std::string path_;
  std::streamoff read_ = 0;  ///< of whole lines
  std::int64_t last_ = 0;
  std::vector<Time> advances_;
};

class Faults : public RunTest {
 protected:
  std::string job() const override { return in_full() ? kThirtySteps : of_a_small_net(); }
  void SetUp() override {
    RunTest::SetUp();
    const std::string seed = given("STERNA_SEED");
    const std::uint64_t number = seed.empty() ? std::random_device()() : std::stoull(seed);
    std::printf("seed %llu (STERNA_SEED)\n", static_cast<unsigned long long>(number));
    random_.seed(number);
  }
  double drawn(double most) { return std::uniform_real_distribution<double>(0, most)(random_); }
  std::uint64_t drawn_of(std::uint64_t count) { return random_() % count; }

  SternaProgram& start(const std::string& folder, const std::vector<std::string>& settings) {
    const std::string mnist = given("STERNA_MNIST");
    const std::string data = mnist.empty() ? digits() : mnist;
    Arguments arguments = {"run", "job.toml", "--data", data, "--run-dir", folder};
    std::vector<std::string> all = {
        fmt::format("job.steps={}", steps_of_each()),
        "job.batch=4",
        fmt::format("evaluator.every={}", steps_of_each() / 3),
        "evaluator.examples=500",
        "cluster.heartbeat=200ms",
        "cluster.silence=" + std::to_string(kSilence / seconds(1)) + "s"};
    if (!in_full()) all.push_back(unhurried());
    if (paired_) all.push_back("actor.parameter_server.replicas=1");
    all.insert(all.end(), settings.begin(), settings.end());
    const Arguments set = with(all);
    arguments.insert(arguments.end(), set.begin(), set.end());
    return sterna(arguments);
  }
  /// The parameters that an undisturbed run of these settings ends with.
  const std::string& calm(const std::string& name, const std::vector<std::string>& settings) {
    const auto known = calm_.find(name);
    if (known != calm_.end()) return known->second;
    const bool paired = std::exchange(paired_, false);
    SternaProgram& program = start("calm", settings);
    paired_ = paired;
    EXPECT_EQ(program.exit_code(kLongest), 0) << program.story();
    std::string hash = hash_of("calm");
    EXPECT_NE(hash, "");
    std::filesystem::remove_all(path("calm"));
    return calm_[name] = std::move(hash);
  }
  std::string hash_of(const std::string& folder) const {
    const nlohmann::json json = result(folder);
    return json.is_object() ? json.value("parameters_sha256", "") : "";
  }
  /// Names of actors, drawn.
  std::vector<std::string> victims_of(const Row& row) {
    const std::string worker = fmt::format("worker{}", drawn_of(2));
    if (row.whom == "worker") return {worker};
    if (row.whom == "server of two") return {drawn_of(2) == 0 ? "server0" : "server0-replica"};
    if (row.whom == "coordinator") return {row.whom};
    if (row.whom != "two at once") return {row.whom + "0"};
    switch (drawn_of(4)) {
      case 0:
        return {"worker0", "worker1"};
      case 1:
        return {worker, "reader0"};
      case 2:
        return {worker, "evaluator0"};
      default:
        return {"reader0", "evaluator0"};
    }
  }
  /// How often a server got the parameters again.
  std::ptrdiff_t refilled() const {
    const std::string events = content_of(path("run/events.jsonl"));
    std::ptrdiff_t times = 0;
    for (std::size_t at = 0; (at = events.find("\"refilled\"", at)) != events.npos; ++at) ++times;
    return times;
  }
  void strike_once(const Row& row, Tally& tally);
  void strike_again_and_again(int wanted, const std::vector<std::string>& names,
                              std::vector<std::string> settings);

  bool paired_ = false;  ///< its servers have replicas
  std::mt19937_64 random_;
  std::map<std::string, std::string> calm_;
};

void Faults::strike_once(const Row& row, Tally& tally) {
  const std::string& expected = calm(row.way.name(), row.way.settings());
  paired_ = row.whom == "server of two";
  const std::vector<std::string> victims = victims_of(row);
  const auto at_step = static_cast<std::int64_t>(1 + drawn_of(steps_of_each() - kLastSteps));
  const Duration later(static_cast<std::int64_t>(1e9 * drawn(0.1)));  // steps are told in dozens
  SCOPED_TRACE(fmt::format("{}: {}, {:.3f} s after step {}", row.name(),
                           fmt::join(victims, " and "), in_seconds(later), at_step));
  SternaProgram& program = start("run", row.way.settings());
  Steps steps(path("run/metrics.jsonl"));
  std::optional<Time> due;
  std::optional<Time> struck;
  EXPECT_TRUE(eventually(kPatience, [&] {
    steps.look();
    if (!due && steps.last() >= at_step) due = steps.now() + later;
    if (!struck && due && steps.now() >= *due) {
      for (const std::string& name : victims) {
        const pid_t pid = program.pid_of(name);
        EXPECT_GT(pid, 0) << name << " is not there";
        if (pid > 0) ::kill(pid, row.stops() ? SIGSTOP : SIGKILL);
      }
      struck = steps.now();
    }
    return exists("run/result.json");  // to ask for processes all the time would slow them down
  }));
  steps.look();
  EXPECT_TRUE(struck) << "it ended before";
  if (struck) ++tally.runs;
  const bool same = program.exit_code(kPatience) == 0 && hash_of("run") == expected;
  if (struck && same) ++tally.same;
  EXPECT_TRUE(same) << program.story();
  const Duration silent = row.stops() ? kSilence : Duration::zero();
  const auto until =
      struck ? steps.until_new_step(*struck, silent + milliseconds(500)) : std::nullopt;
  if (until) tally.seconds.push_back(std::max(0.0, *until - in_seconds(silent)));
  std::filesystem::remove_all(path("run"));
}

TEST_F(Faults, EndWithTheParametersOfTheUndisturbedRun) {
  std::printf("%-55s %5s %5s  %7s  %7s\n", "fault, scaler, down", "runs", "same", "median",
              "worst");
  for (const Row& row : rows()) {
    Tally tally;
    for (int i = 0; i < times(); ++i) strike_once(row, tally);
    const double worst = tally.seconds.empty() ? 0 : std::ranges::max(tally.seconds);
    std::printf("%-55s %5d %5d  %5.2f s  %5.2f s\n", row.name().c_str(), tally.runs, tally.same,
                median(tally.seconds), worst);
    std::fflush(stdout);
    // A machine that does other things beside it is slower; then only the bits count.
    if (!in_full()) continue;
    EXPECT_LE(median(tally.seconds), kMedian) << row.name();
    EXPECT_LE(worst, kWorst) << row.name();
  }
}

/// Kills one actor after the other, each once the one before is there again.
void Faults::strike_again_and_again(int wanted, const std::vector<std::string>& names,
                                    std::vector<std::string> settings) {
  for (const char* role : {"worker", "input_reader", "evaluator", "parameter_server"}) {
    if (!paired_ && role == std::string_view("parameter_server")) continue;
    for (const char* setting : {"restart=1000", "within=1s", "backoff=50ms"}) {
      settings.push_back(fmt::format("actor.{}.{}", role, setting));
    }
  }
  std::vector<std::string> calm_settings = settings;
  std::erase_if(calm_settings, [](const std::string& one) {
    return one.find("parameter_server") != std::string::npos;
  });
  const std::string& expected = calm("restarts", calm_settings);
  SternaProgram& program = start("run", settings);
  Steps steps(path("run/metrics.jsonl"));
  std::map<std::string, pid_t> killed;
  std::string last;
  int restarts = 0;
  std::int64_t at_step = 0;
  std::ptrdiff_t refills = 0;
  std::vector<double> pauses;
  Time struck;
  EXPECT_TRUE(eventually(kLongest, [&] {
    steps.look();
    if (exists("run/result.json")) return true;
    if (restarts == wanted || steps.last() <= at_step) return false;
    // The one before is there again, and steps go on.
    if (!last.empty()) {
      const pid_t next = program.pid_of(last);
      if (next == 0 || next == killed[last]) return false;
      if (last.starts_with("server") && refilled() < refills) return false;
      pauses.push_back(in_seconds(steps.now() - struck));
      last.clear();
    }
    const std::string& name = names[drawn_of(names.size())];
    const pid_t pid = program.pid_of(name);
    if (pid == 0 || pid == killed[name]) return false;
    ::kill(pid, SIGKILL);
    if (name.starts_with("server")) ++refills;
    struck = steps.now();
    at_step = steps.last();
    killed[name] = pid;
    last = name;
    ++restarts;
    return false;
  })) << program.story();
  EXPECT_EQ(program.exit_code(kPatience), 0) << program.story();
  const nlohmann::json got = result();
  const std::size_t told =
      got.is_object() ? got.value("actor_restarts", nlohmann::json::array()).size() : 0;
  std::printf(
      "%zu restarts in one run of %s steps, %td of servers: parameters %s; until the next "
      "one: median %.2f s\n",
      told, got.is_object() ? got["steps"].dump().c_str() : "?", refills,
      hash_of("run") == expected ? "the same" : "NOT THE SAME", median(pauses));
  EXPECT_EQ(hash_of("run"), expected);
  EXPECT_GE(told, static_cast<std::size_t>(wanted) - 1) << "the run was too short";
}

TEST_F(Faults, AsManyAsTwoHundredInOneRunChangeNothing) {
  if (!in_full()) GTEST_SKIP() << "takes minutes: tests/cluster/faults";
  if (!given("STERNA_ONLY").empty()) GTEST_SKIP() << "of all rows";
  strike_again_and_again(200, {"worker0", "worker1", "reader0", "evaluator0"},
                         {"job.steps=12000", "job.batch=2", "evaluator.every=500"});
}

TEST_F(Faults, WithReplicasAnythingButTheOwnerMayBeKilledAgainAndAgain) {
  const std::string kills = given("STERNA_KILLS");
  if (kills.empty()) GTEST_SKIP() << "takes minutes: tests/cluster/faults --kills 1000";
  paired_ = true;
  const int wanted = std::stoi(kills);
  strike_again_and_again(
      wanted, {"worker0", "worker1", "reader0", "evaluator0", "server0", "server0-replica"},
      {fmt::format("job.steps={}", 70 * wanted), "job.batch=2", "evaluator.every=500"});
}

/// How long each step took, as the launcher heard of them; steps must take longer than the tenth of
/// a second between two words.
std::map<std::int64_t, double> times_of_steps(const std::string& metrics) {
  std::map<std::int64_t, double> seconds;
  std::ifstream file(metrics);
  for (std::string line; std::getline(file, line);) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (json.value("kind", "") != "step") continue;
    seconds[json.value("step", std::int64_t{0})] = json.value("seconds", 0.0);
  }
  std::map<std::int64_t, double> took;
  for (const auto& [step, at] : seconds) {
    if (const auto before = seconds.find(step - 1); before != seconds.end())
      took[step] = at - before->second;
  }
  return took;
}

TEST_F(Faults, NoStepNeedsTheCoordinatorHoweverOftenItIsKilled) {
  const std::size_t wanted = in_full() ? 20 : 3;
  if (!given("STERNA_ONLY").empty() && given("STERNA_ONLY") != "coordinator")
    GTEST_SKIP() << "of all rows";
  const std::vector<std::string> settings = {
      in_full() ? "job.steps=500" : "job.steps=300", in_full() ? "job.batch=512" : "job.batch=8",
      "evaluator.every=1000", "cluster.coordinator_restarts=1000"};
  const std::string& expected = calm("coordinator", settings);
  SternaProgram& program = start("run", settings);
  Steps steps(path("run/metrics.jsonl"));
  std::vector<double> answers;
  std::set<std::int64_t> struck;
  pid_t killed = 0;
  Time next;
  EXPECT_TRUE(eventually(kLongest, [&] {
    steps.look();
    if (exists("run/result.json")) return true;
    if (answers.size() == wanted || steps.last() < 2 || steps.now() < next) return false;
    const pid_t pid = program.pid_of("coordinator");
    if (pid == 0 || pid == killed) return false;
    ::kill(pid, SIGKILL);
    killed = pid;
    struck.insert(steps.last());
    const Time asked = steps.now();
    SternaProgram& status = sterna({"status", "--json"});
    EXPECT_EQ(status.exit_code(kPatience), 0) << status.story();
    answers.push_back(in_seconds(steps.now() - asked));
    next = steps.now() + Duration(static_cast<std::int64_t>(1e9 * drawn(0.5)));
    return false;
  })) << program.story();
  EXPECT_EQ(program.exit_code(kPatience), 0) << program.story();
  EXPECT_EQ(answers.size(), wanted) << "the run was too short";
  EXPECT_EQ(hash_of("run"), expected);
  std::vector<double> all;
  double worst = 0;
  for (const auto& [step, took] : times_of_steps(path("run/metrics.jsonl"))) {
    all.push_back(took);
    // The step in which it happened, and those until the next one is there.
    const auto since = struck.lower_bound(step - kStepsNearby);
    if (since != struck.end() && *since < step) worst = std::max(worst, took);
  }
  std::printf(
      "%zu kills of the coordinator in one run: parameters %s; step: median %.3f s, worst "
      "within %d steps of a kill %.3f s; `status` answered after %.2f s at most\n",
      answers.size(), hash_of("run") == expected ? "the same" : "NOT THE SAME", median(all),
      kStepsNearby, worst, answers.empty() ? 0 : std::ranges::max(answers));
  if (!in_full()) return;
  EXPECT_LE(worst, 2 * median(all));
  EXPECT_LE(answers.empty() ? 0 : std::ranges::max(answers), kAnswers);
}

}  // namespace
}  // namespace sterna::test
