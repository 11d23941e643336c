// How fast a run starts: from the command until all actors are registered, on four hosts and with a
// hundred node agents, and how fast the program comes to a host that does not have it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/cluster/cluster_runs.h"

namespace sterna::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Seconds = std::chrono::duration<double>;

constexpr Duration kPatience = seconds(120);

class Start : public testing::Test {
 protected:
  static void SetUpTestSuite() { runs_ = std::make_unique<ClusterRuns>(4); }
  static void TearDownTestSuite() { runs_.reset(); }
  void SetUp() override { STERNA_NEEDS_HOSTS(hosts()); }
  void TearDown() override { runs().sterna({"down", "--all"})->exit_code(kPatience); }
  static ClusterRuns& runs() { return *runs_; }
  static const ClusterHosts& hosts() { return runs_->hosts(); }

  /// Seconds until `up` says that all actors run.
  static double up_takes(const std::string& file) {
    const SteadyClock clock;
    const Time began = clock.now();
    const auto up = runs().sterna({"up", file});
    EXPECT_EQ(up->exit_code(kPatience), 0) << up->story();
    return Seconds(clock.now() - began).count();
  }
  static void forget_the_program(const std::string& host) {
    hosts().exec(host, {"rm", "-rf", "/root/.cache/sterna/bundles"});
  }
  static std::uint64_t archive_bytes() {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(hosts().folder())) {
      if (entry.path().string().ends_with(".tar.gz")) return entry.file_size();
    }
    return 0;
  }
  /// What the launching machine has sent to a host since the host was made.
  static std::uint64_t sent_to(const std::string& host) {
    const std::string slot = lines_of(content_of(hosts().folder() + "/slot")).at(0);
    return std::stoull(
        content_of("/sys/class/net/stn" + slot + "-" + host + "/statistics/tx_bytes"));
  }

 private:
  static inline std::unique_ptr<ClusterRuns> runs_;
};

/// One host, and a job that fits on it.
std::string one_host_job() {
  std::string job = kSmallJob;
  for (const char* hosts : {"[\"b\", \"d\"]", "[\"c\"]", "[\"c\"]"}) {
    job.replace(job.find(hosts), std::string(hosts).size(), "[\"a\"]");
  }
  return job;
}

pid_t parent_of(pid_t pid) {
  const std::string stat = content_of(fmt::format("/proc/{}/stat", pid));
  std::istringstream after_name(stat.substr(stat.rfind(')') + 1));
  char state = 0;
  pid_t parent = 0;
  after_name >> state >> parent;
  return parent;
}

/// The owner itself, not who starts it again: the child of the two.
const RunProcess* owner_in(const std::vector<RunProcess>& processes) {
  const RunProcess* owner = nullptr;
  for (const RunProcess& one : processes) {
    if (one.name != "owner") continue;
    if (owner == nullptr || parent_of(one.pid) == owner->pid) owner = &one;
  }
  return owner;
}

TEST_F(Start, AKilledOwnersRunIsStartedAgainOnItsHosts) {
  const std::string file = runs().file({"again", {"a", "b", "c", "d"}},
                                       kUnhurriedJob + "[checkpoint]\nevery_seconds = 1\n");
  const auto up = runs().sterna({"up", file, "--again", "1", "--json"});
  ASSERT_EQ(up->exit_code(kPatience), 0) << up->story();
  const std::string id = nlohmann::json::parse(lines_of(up->out()).back())["id"];
  ASSERT_TRUE(eventually(kPatience, [&] { return runs().step_of(id) > 0; }));
  const std::string kept =
      runs().hosts().launcher_folder() + "/" + User().name + "/runs/" + id + "/checkpoints";
  EXPECT_TRUE(eventually(kPatience, [&] {
    std::error_code ignored;
    return std::filesystem::directory_iterator(kept, ignored) !=
           end(std::filesystem::directory_iterator());
  })) << kept;
  const std::vector<RunProcess> before = up->here();
  const RunProcess* owner = owner_in(before);
  ASSERT_NE(owner, nullptr) << up->story();
  const pid_t killed = owner->pid;
  const pid_t keeper = parent_of(killed);
  ::kill(killed, SIGKILL);
  EXPECT_TRUE(eventually(kPatience, [&] {
    const std::vector<RunProcess> now = up->here();
    const RunProcess* next = owner_in(now);
    const bool other = next != nullptr && next->pid != killed && parent_of(next->pid) == keeper;
    return other && runs().step_of(id) > 0;
  })) << up->story();
  const auto down = runs().ask({"down", id});
  EXPECT_EQ(down.value("left", -1), 0) << down;
  EXPECT_TRUE(eventually(
      seconds(20), [&] { return runs().there().empty() && owner_in(up->here()) == nullptr; }));
}

constexpr const char* kNineActors = R"(
[[actor]]
role = "parameter_server"
count = 2
hosts = ["a", "b"]

[[actor]]
role = "worker"
count = 4
hosts = ["a", "b", "c", "d"]

[[actor]]
role = "input_reader"
count = 2
hosts = ["c", "d"]

[[actor]]
role = "evaluator"
hosts = ["a"]

[job]
net = "lenet"
steps = 1000000
batch = 16

[data]
name = "digits"
)";

TEST_F(Start, NineActorsOnFourHostsThatHaveTheProgramAreThereInThreeSeconds) {
  for (const char* head : {"", "a"}) {
    const std::string file = runs().file({"nine", {"a", "b", "c", "d"}, head}, kNineActors);
    up_takes(file);
    runs().sterna({"down", "--all"})->exit_code(kPatience);
    double fastest = 1e9;
    // On a machine shared with other tests the first that is fast enough shows it.
    for (int i = 0; i < 5 && (in_full() || fastest >= 3); ++i) {
      fastest = std::min(fastest, up_takes(file));
      runs().sterna({"down", "--all"})->exit_code(kPatience);
    }
    print_figure({{"point", 5},
                  {"what", "command to 9 actors on 4 hosts registered"},
                  {"head", *head == 0 ? "here" : head},
                  {"seconds", fastest},
                  {"bound", 3}});
    EXPECT_LT(fastest, 3);
  }
}

TEST_F(Start, AHundredNodeAgentsOfThisMachineAreThereInTwentySeconds) {
  const int count = in_full() ? 100 : 20;
  std::string toml = "format = 1\n[cluster]\nname = \"many\"\nplacer = \"local\"\n";
  for (int i = 0; i < count; ++i) toml += fmt::format("[[host]]\nname = \"h{}\"\n", i);
  const auto actors = [&](const char* role, int first, int number) {
    toml += fmt::format("[[actor]]\nrole = \"{}\"\ncount = {}\nhosts = [", role, number);
    for (int i = first; i < first + number; ++i) {
      toml += fmt::format("{}\"h{}\"", i == first ? "" : ", ", i);
    }
    toml += "]\n";
  };
  actors("parameter_server", 0, 1);
  actors("worker", 1, count - 3);
  actors("input_reader", count - 2, 1);
  actors("evaluator", count - 1, 1);
  toml += "[job]\nnet = \"mlp\"\nhidden = [1]\nsteps = 1000000\nbatch = 1\n";
  toml += "[data]\nname = \"digits\"\ndir = \"" + hosts().launcher_folder() + "/digits\"\n";
  const std::string file = hosts().launcher_folder() + "/many.toml";
  std::ofstream(file) << toml;
  const double taken = up_takes(file);
  print_figure({{"point", 5},
                {"what", "command to all actors registered, an actor on each local node agent"},
                {"nodes", count},
                {"seconds", taken},
                {"bound", 20}});
  EXPECT_LT(taken, 20);
}

TEST_F(Start, TheProgramComesToAHostAtTheRateOfItsLink) {
  const SteadyClock clock;
  const std::string file = runs().file({"ships", {"a"}, ""}, one_host_job());
  up_takes(file);
  const auto size = static_cast<double>(archive_bytes());
  ASSERT_GT(size, 1e6);
  for (const double megabits : {100.0, 1000.0}) {
    runs().sterna({"down", "--all"})->exit_code(kPatience);
    forget_the_program("a");
    hosts().shape("a", fmt::format("{}mbit", megabits));
    const auto before = static_cast<double>(sent_to("a"));
    const auto up = runs().sterna({"up", file});
    // The payload begins once more has been sent than ssh says to get in, and ends with the last
    // growth before the silence in which the host unpacks.
    constexpr double kGettingIn = 50e3;
    constexpr Duration kSilence = milliseconds(60);
    std::optional<Time> first;
    Time last{};
    double most = 0;
    EXPECT_TRUE(eventually(kPatience, [&] {
      const double sent = static_cast<double>(sent_to("a")) - before;
      const Time now = clock.now();
      if (sent > kGettingIn && !first) first = now;
      if (sent > most + 2000) {
        most = sent;
        last = now;
      }
      return first && sent > size && now - last > kSilence;
    })) << up->story();
    EXPECT_EQ(up->exit_code(kPatience), 0) << up->story();
    hosts().shape("a", "none");
    const double taken = Seconds(last - *first).count();
    const double share = (size - kGettingIn) / taken / (megabits * 1e6 / 8);
    print_figure({{"point", 5},
                  {"what", "first shipping, first to last payload byte"},
                  {"link_mbit", megabits},
                  {"bytes", size},
                  {"seconds", taken},
                  {"mb_per_s", size / taken / 1e6},
                  {"share_of_link", share},
                  {"bound", 0.8}});
    // A gigabit is encrypted by half a core, which a loaded machine may not have.
    EXPECT_GT(share, megabits > 100 && !in_full() ? 0.1 : 0.8);
  }
}

TEST_F(Start, ShippingThatIsCutInTheMiddleGoesOnWhereItWas) {
  const std::string file = runs().file({"cut", {"a"}, ""}, one_host_job());
  up_takes(file);
  runs().sterna({"down", "--all"})->exit_code(kPatience);
  const std::uint64_t size = archive_bytes();
  forget_the_program("a");
  hosts().shape("a", "50mbit");
  const auto part = [] {
    const Said said = hosts().exec(
        "a", {"sh", "-c", "cat /root/.cache/sterna/bundles/*.part 2>/dev/null | wc -c"});
    return std::strtoull(said.out.c_str(), nullptr, 10);
  };
  const auto first = runs().sterna({"up", file});
  EXPECT_TRUE(eventually(kPatience, [&] { return part() > size / 3; })) << first->story();
  for (const RunProcess& process : first->here()) {
    if (process.name == "ssh") runs().kill(process);
  }
  EXPECT_NE(first->exit_code(kPatience), 0) << first->story();
  hosts().shape("a", "none");
  EXPECT_TRUE(eventually(seconds(20), [&] { return runs().there().empty(); }));
  const std::uint64_t there = part();
  EXPECT_GT(there, size / 3);
  EXPECT_LT(there, size);
  const std::uint64_t before = sent_to("a");
  up_takes(file);
  const std::uint64_t sent = sent_to("a") - before;
  print_figure({{"point", 5},
                {"what", "shipping cut in the middle"},
                {"archive", size},
                {"there_after_the_cut", there},
                {"sent_the_second_time", sent}});
  EXPECT_LT(sent, size - there + size / 20);
}

}  // namespace
}  // namespace sterna::test
