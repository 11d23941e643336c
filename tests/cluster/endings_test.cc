// Nothing of a run is left, however it ends and whenever, and a second run on the same hosts does
// not notice: its steps go on. Half of the ways once, as the seed draws them, or all as often as
// STERNA_TIMES says (the script `endings`); the last words are a table.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>

#include "tests/cluster/cluster_runs.h"

namespace sterna::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Seconds = std::chrono::duration<double>;

constexpr Duration kPatience = seconds(60);
constexpr Duration kLease = seconds(3);
/// The bound for a host that is cut off; others get the time that a lost lease, the grace
/// and a loaded machine take.
constexpr Duration kCutOffStops = kLease + seconds(5);
constexpr Duration kEnds = seconds(20);

/// What one way to end a run does with it.
struct Ending {
  std::string name;
  std::string command;  ///< "run" or "up"
  std::string moment;   ///< "any": also while it starts; "training"
  std::string what;     ///< "interrupt", "launcher", "cut", "power", "down", or a process's name
};

const std::vector<Ending>& endings() {
  static const std::vector<Ending> all = {
      {"run: Ctrl-C", "run", "any", "interrupt"},
      {"run: kill -9 of the launcher", "run", "any", "launcher"},
      {"run: kill -9 of a node agent", "run", "any", "node-"},
      {"run: kill -9 of the coordinator", "run", "any", "coordinator"},
      {"run: kill -9 of an ssh client", "run", "any", "ssh"},
      {"run: a host's link is cut", "run", "training", "cut"},
      {"run: a host loses its power", "run", "training", "power"},
      {"up: kill -9 of the launcher that starts it", "up", "any", "launcher"},
      {"up: down during start", "up", "any", "down"},
      {"up: kill -9 of a node agent", "up", "training", "node-"},
      {"up: kill -9 of the coordinator", "up", "training", "coordinator"},
      {"up: kill -9 of its owner", "up", "training", "owner"},
      {"up: a host's link is cut", "up", "training", "cut"},
      {"up: a host loses its power", "up", "training", "power"},
      {"up: kill -9 of the ssh clients (it goes on)", "up", "training", "all ssh"},
      {"up: down", "up", "training", "down"},
  };
  return all;
}

struct Tally {
  int times = 0;
  int clean = 0;
  double slowest = 0;  ///< seconds until nothing was left
};

std::uint64_t seed() {
  const char* given = std::getenv("STERNA_SEED");
  return given == nullptr ? std::random_device()() : std::strtoull(given, nullptr, 10);
}

class Endings : public testing::TestWithParam<Ending> {
 protected:
  static void SetUpTestSuite() {
    seed_ = seed();
    std::printf("seed %llu (STERNA_SEED)\n", static_cast<unsigned long long>(seed_));
    random_.seed(seed_);
    runs_ = std::make_unique<ClusterRuns>(4);
    if (!runs_->hosts().missing().empty()) return;
    // It also brings the program to the hosts. It leaves out d, which loses its power.
    std::string job = kUnhurriedJob;
    job.replace(job.find("[\"b\", \"d\"]"), 10, "[\"b\", \"c\"]");
    const auto up = runs_->ask({"up", runs_->file({"other", {"a", "b", "c"}, "", "root", ""}, job)},
                               other_user());
    ASSERT_TRUE(up.is_object());
    other_ = up["id"];
    ASSERT_FALSE(runs_->there().empty());
    other_run_ = runs_->there().at(0).run;
    const std::string end = "lost_host = \"wait\"\ncoordinator_restarts = 0\n";
    runs_->file({"here", {"a", "b", "c", "d"}, "", "root", end}, kUnhurriedJob);
    runs_->file({"away", {"a", "b", "c", "d"}, "a", "root", end}, kUnhurriedJob);
  }
  static void TearDownTestSuite() {
    if (!other_.empty()) {
      const auto down = runs_->ask({"down", other_}, other_user());
      EXPECT_EQ(down.value("left", -1), 0) << down;
      EXPECT_TRUE(eventually(kEnds, [] { return runs_->there().empty(); }));
    }
    print_table();
    runs_.reset();
  }
  void SetUp() override { STERNA_NEEDS_HOSTS(runs_->hosts()); }

  /// Another state folder: `down --all` of one is none of the other's.
  static User other_user() { return {"other"}; }

  void end_once(const Ending& ending);
  /// Whether it is among those that the seed has drawn.
  static bool is_drawn(const Ending& ending) {
    if (std::getenv("STERNA_TIMES") != nullptr) return true;
    std::vector<std::string> names;
    for (const Ending& one : endings()) names.push_back(one.name);
    std::shuffle(names.begin(), names.end(), std::mt19937_64(seed_));
    return std::find(names.begin(), names.end(), ending.name) <
           names.begin() + std::ssize(names) / 2;
  }

 private:
  static void print_table() {
    std::printf("\n%-46s %5s  %12s  %s\n", "how it ends", "times", "nothing left", "slowest");
    for (const Ending& ending : endings()) {
      const auto found = tallies_.find(ending.name);
      if (found == tallies_.end()) continue;
      const Tally& tally = found->second;
      std::printf("%-46s %5d  %12d  %5.1f s\n", ending.name.c_str(), tally.times, tally.clean,
                  tally.slowest);
    }
  }

  static double random(double most) {
    return std::uniform_real_distribution<double>(0, most)(random_);
  }
  /// Lets a random time pass, up to so many seconds.
  static void let_pass(double most) {
    eventually(milliseconds(static_cast<int>(1000 * random(most))), [] { return false; });
  }

  /// What is there of the run under test: of all but the second run.
  static std::vector<RunProcess> left(const Call& call) {
    std::vector<RunProcess> found = call.here();
    for (const RunProcess& process : runs_->there()) {
      if (process.run != other_run_) found.push_back(process);
    }
    return found;
  }
  static std::string told(const std::vector<RunProcess>& processes) {
    std::string text;
    for (const RunProcess& one : processes) {
      text += fmt::format("{}:{} {} {}\n", one.host, one.pid, one.name, one.run);
    }
    return text;
  }
  /// Kills one at random whose name begins so; false if none comes.
  static bool kill_one(Call& call, const std::string& name) {
    std::vector<RunProcess> found;
    eventually(kPatience, [&] {
      found = left(call);
      std::erase_if(found, [&](const RunProcess& one) { return !one.name.starts_with(name); });
      return !found.empty() || call.exit_code(Duration::zero());
    });
    if (found.empty()) return false;
    runs_->kill(found[random_() % found.size()]);
    return true;
  }
  static void down_all() { runs_->sterna({"down", "--all"})->exit_code(kPatience); }
  static std::string id_of_the_run() {
    std::string id;
    eventually(seconds(20), [&] {
      for (const std::string& file : runs_->state_files()) {
        if (file.find(".lock") != std::string::npos) continue;
        const auto state = nlohmann::json::parse(content_of(file), nullptr, false);
        if (state.is_object() && state.value("ended", "") == "") id = state.value("id", "");
      }
      return !id.empty();
    });
    return id;
  }

  static inline std::unique_ptr<ClusterRuns> runs_;
  static inline std::string other_;
  static inline std::string other_run_;
  static inline std::uint64_t seed_ = 0;
  static inline std::mt19937_64 random_;
  static inline std::map<std::string, Tally> tallies_;
};

void Endings::end_once(const Ending& ending) {
  const SteadyClock clock;
  const ClusterHosts& hosts = runs_->hosts();
  const bool head_away = random_() % 2 == 0;
  SCOPED_TRACE(fmt::format("{}, head {}", ending.name, head_away ? "a" : "here"));
  const std::string file = hosts.launcher_folder() + (head_away ? "/away.toml" : "/here.toml");
  const auto call = runs_->sterna({ending.command, file});
  std::string id;

  // ---- until the moment
  if (ending.moment == "training") {
    id = id_of_the_run();
    ASSERT_TRUE(eventually(seconds(20), [&] { return runs_->step_of(id) > 0; })) << call->story();
    if (ending.command == "up") {
      ASSERT_EQ(call->exit_code(kPatience), 0) << call->story();
    }
    let_pass(1);
  } else if (ending.what == "down") {
    id = id_of_the_run();
    let_pass(1);
  } else {
    let_pass(ending.command == "up" ? 0.4 : 4);
  }

  // ---- the end
  const Time began = clock.now();
  Duration patience = kEnds;
  if (ending.what == "interrupt") {
    call->interrupt();
  } else if (ending.what == "launcher") {
    call->kill();
    // It may just have been done, and then the run goes on.
    if (call->exit_code(seconds(5)) == 0) down_all();
  } else if (ending.what == "cut" || ending.what == "power") {
    ending.what == "cut" ? hosts.cut("d") : hosts.kill("d");
    if (ending.what == "cut") {
      EXPECT_TRUE(eventually(kCutOffStops, [&] {
        return hosts.must("ps", {"d"}).find("__process") == std::string::npos;
      })) << hosts.must("ps", {"d"});
    }
  } else if (ending.what == "all ssh") {
    for (const RunProcess& process : call->here()) {
      if (process.name == "ssh") runs_->kill(process);
    }
    const std::int64_t before = runs_->step_of(id);
    EXPECT_TRUE(eventually(seconds(10), [&] { return runs_->step_of(id) > before + 10; }));
    patience = kEnds;
  } else if (ending.what != "down") {
    EXPECT_TRUE(kill_one(*call, ending.what)) << call->story();
  }
  if (ending.what == "down" || ending.what == "all ssh") {
    const auto down = runs_->ask({"down", id});
    EXPECT_EQ(down.value("left", -1), 0) << down;
  }

  // ---- what is left
  std::vector<RunProcess> rest;
  const bool clean = eventually(patience, [&] {
    rest = left(*call);
    return rest.empty();
  });
  const double taken = Seconds(clock.now() - began).count();
  EXPECT_TRUE(clean) << told(rest) << call->story();
  const auto code = call->exit_code(seconds(20));
  EXPECT_TRUE(code) << "the launcher does not end: " << call->story();
  if (ending.what == "interrupt") {
    EXPECT_EQ(code.value_or(-1), 130) << call->story();
  }
  if (ending.command == "run") {
    EXPECT_NE(code.value_or(-1), 0) << call->story();
  }
  if (ending.what == "cut") hosts.mend("d");
  if (ending.what == "power") hosts.revive("d");

  // A launcher that was killed could not forget the run: `down` does, on all hosts, for good.
  down_all();
  const std::int64_t other_before = runs_->step_of(other_, other_user());
  EXPECT_GE(other_before, 0) << "the second run does not answer";
  const std::vector<std::string> temporary = call->temporary_files();
  EXPECT_TRUE(ending.what == "launcher" || temporary.empty()) << temporary.at(0);
  EXPECT_TRUE(eventually(seconds(10), [&] {
    return runs_->step_of(other_, other_user()) > other_before;
  })) << "the second run does not go on";
  rest = left(*call);
  EXPECT_TRUE(rest.empty()) << told(rest);

  Tally& tally = tallies_[ending.name];
  ++tally.times;
  tally.clean += HasFailure() ? 0 : 1;
  tally.slowest = std::max(tally.slowest, taken);
}

TEST_P(Endings, LeaveNothingAndTouchNoOther) {
  if (!is_drawn(GetParam())) GTEST_SKIP() << "in the other half: tests/cluster/endings";
  for (int time = 0; time < times(); ++time) end_once(GetParam());
}

/// For the messages of GoogleTest.
void PrintTo(const Ending& ending, std::ostream* out) { *out << ending.name; }

std::string case_name(const testing::TestParamInfo<Ending>& info) {
  std::string name = info.param.name;
  std::erase_if(name, [](unsigned char c) { return std::isalnum(c) == 0 && c != ' '; });
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Endings, testing::ValuesIn(endings()), case_name);

}  // namespace
}  // namespace sterna::test
