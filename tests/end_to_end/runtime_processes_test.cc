// Runs of real processes: this program starts itself as coordinator, node and actors, asks them,
// kills them in every way, and looks for what is left.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <utility>

#include "runtime/host/process_names.h"
#include "runtime/host/real_machine.h"
#include "runtime/main.h"
#include "runtime/zmq/socket_directory.h"
#include "tests/runtime/cluster/cluster_test_actor.h"

namespace sterna::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

/// Polls what nobody tells us about (/proc), until it is true or the time is up.
bool eventually(const std::function<bool()>& done, Duration patience) {
  const SteadyClock clock;
  const Time deadline = clock.now() + patience;
  while (!done()) {
    if (clock.now() > deadline) return false;
    ::poll(nullptr, 0, 5);
  }
  return true;
}

ClusterOptions quick(const std::string& transport) {
  ClusterOptions options;
  options.network.tcp = transport != "ipc";
  options.network.near = transport == "mixed";
  options.heartbeat = milliseconds(100);
  options.silence = milliseconds(1000);
  options.start_deadline = seconds(30);  // a sanitizer's start on a loaded machine
  return options;
}

/// Where the nodes of a run that talks ipc within its hosts keep their sockets.
std::vector<std::filesystem::path> near_directories(std::uint64_t run) {
  char prefix[32];
  std::snprintf(prefix, sizeof prefix, "sterna-%016llx-", static_cast<unsigned long long>(run));
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(socket_directory_base())) {
    if (entry.path().filename().string().starts_with(prefix)) found.push_back(entry.path());
  }
  return found;
}

class RuntimeProcesses : public testing::TestWithParam<std::string> {
 protected:
  explicit RuntimeProcesses(ClusterOptions options = quick(GetParam()))
      : cluster(machine, registry, std::move(options)) {}
  void SetUp() override {
    cluster.set_events(
        {.down = [this](const ProcessDown& down) { downs.push_back(down); },
         .status = [this](const StatusReport& report) { status = report; },
         .restarts =
             [this](const ProcessRestarts& one) { restarts.push_back(one.down.identity.text()); },
         .link_trouble = [this](const LinkTrouble& trouble) { linked_again += trouble.over; }});
    const Result<void> started = cluster.start();
    ASSERT_TRUE(started.ok()) << started.error().message;
    for (const std::string name : {"a", "b"}) {
      Result<ActorRef<Peer>> peer = cluster.spawn<Peer>(name, "peer", PeerArgs{});
      ASSERT_TRUE(peer.ok()) << peer.error().message;
      peers.push_back(*peer);
    }
  }
  void TearDown() override {
    cluster.stop(seconds(2));
    EXPECT_TRUE(eventually([&] { return processes_of_run(cluster.run()).empty(); }, seconds(5)));
    EXPECT_FALSE(std::filesystem::exists(cluster.options().network.directory));
    EXPECT_THAT(near_directories(cluster.run()), IsEmpty());
  }
  pid_t pid(const std::string& name) {
    for (const FoundProcess& process : processes_of_run(cluster.run())) {
      if (process.name == name) return static_cast<pid_t>(process.pid);
    }
    ADD_FAILURE() << "no process called " << name;
    return 0;
  }
  /// 0 would be the test's own process group.
  static void strike(pid_t process, int signal) {
    if (process > 0) ::kill(process, signal);
  }
  bool wait(const std::function<bool()>& done, Duration patience) {
    return cluster.run_until(done, machine.loop().now() + patience);
  }
  /// Another actor, which begins with 40 and may be started again so often.
  void begin(const std::string& name, std::uint32_t times) {
    ActorSpec spec{name, "peer", pack(PeerArgs{40, ""})};
    spec.restart = {.times = times, .backoff = milliseconds(20)};
    const auto started = cluster.start_actors({spec});
    ASSERT_TRUE(started.ok()) << started.error().message;
  }
  /// What a is answered by the actor of that name, or by the one that follows it.
  std::int64_t relay(const std::string& name) {
    return total_of(cluster.ask(peers[0], RelayAgain{name, 1}, seconds(60)));
  }
  /// The same where that actor is killed once a has asked it, before it can answer.
  std::int64_t relay_to_killed(const std::string& name) {
    const pid_t killed = pid(name);
    if (killed == 0) return -1;
    ::kill(killed, SIGSTOP);
    Future<Balance> answer = cluster.process().ask(peers[0], RelayAgain{name, 1}, seconds(60));
    // It comes behind that: once it is answered a has asked.
    EXPECT_TRUE(cluster.ask(peers[0], Deposit{0}, seconds(5)).ok());
    strike(killed, SIGKILL);
    if (wait([&] { return answer.ready(); }, seconds(60))) return total_of(answer.take());
    ADD_FAILURE() << "nobody has answered";
    return -1;
  }
  static std::int64_t total_of(const Result<Balance>& balance) {
    EXPECT_TRUE(balance.ok()) << (balance.ok() ? "" : balance.error().message);
    return balance.ok() ? balance->value : -1;
  }
  std::uint64_t incarnation_of(const std::string& name) {
    const Result<Found> found = cluster.ask(agent_of<Coordinator>(kCoordinatorProcess),
                                            Find{name, seconds(5)}, seconds(10));
    EXPECT_TRUE(found.ok()) << (found.ok() ? "" : found.error().message);
    return found.ok() ? found->incarnation : 0;
  }
  /// Kills b with a signal while a watches it; what a learnt, and how long that took.
  std::pair<Obituary, Duration> mourn(int signal, Duration patience) {
    Future<Obituary> obituary = cluster.process().ask(peers[0], Mourn{"b"}, seconds(60));
    EXPECT_TRUE(cluster.ask(peers[0], Relay{"b", 1}, seconds(5)).ok());
    const pid_t process = pid("b");
    const Time struck = machine.loop().now();
    strike(process, signal);
    EXPECT_TRUE(wait([&] { return obituary.ready(); }, patience));
    if (!obituary.ready()) return {};
    const Result<Obituary> read = obituary.take();
    EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.error().message);
    return {read.ok() ? *read : Obituary{}, machine.loop().now() - struck};
  }

  Registry registry = peer_registry();
  RealMachine machine;
  Cluster cluster;
  std::vector<ActorRef<Peer>> peers;
  std::vector<ProcessDown> downs;
  std::vector<std::string> restarts;
  int linked_again = 0;  ///< connections that were lost and are back
  StatusReport status;
};

/// A process whose connection with its node is cut has two heartbeats to dial again, which on a
/// loaded machine may take longer than the quick ones last.
class RuntimeConnections : public RuntimeProcesses {
 protected:
  RuntimeConnections() : RuntimeProcesses(unhurried()) {}
  static ClusterOptions unhurried() {
    ClusterOptions options = quick(GetParam());
    options.heartbeat = milliseconds(500);
    options.silence = seconds(5);
    return options;
  }
};

auto transports() { return testing::Values("ipc", "tcp_and_curve", "mixed"); }
std::string name_of_transport(const testing::TestParamInfo<std::string>& over) {
  return over.param;
}
INSTANTIATE_TEST_SUITE_P(Over, RuntimeProcesses, transports(), name_of_transport);
INSTANTIATE_TEST_SUITE_P(Over, RuntimeConnections, transports(), name_of_transport);

TEST_P(RuntimeProcesses, ActorsInProcessesOfTheirOwnAnswerTheLauncherAndEachOther) {
  EXPECT_EQ(cluster.ask(peers[0], Deposit{2}, seconds(5))->value, 2);
  const Result<Balance> there = cluster.ask(peers[0], Relay{"b", 3}, seconds(5));
  ASSERT_TRUE(there.ok()) << there.error().message;
  EXPECT_EQ(there->value, 3);
  const Result<Balance> back = cluster.ask(peers[1], Relay{"a", 5}, seconds(5));
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(back->value, 7);
  const StopReport report = cluster.stop(seconds(5));
  EXPECT_EQ(report.stopped, 2u);
  EXPECT_EQ(report.killed, 0u);
  EXPECT_EQ(report.survivors, 0u);
  EXPECT_FALSE(cluster.failure().has_value());
}

TEST_P(RuntimeProcesses, StatusNamesProcessesWithTheirMemory) {
  ASSERT_TRUE(wait([&] { return status.processes.size() == 3; }, seconds(10)));
  EXPECT_EQ(status.processes[0].identity.name, "node-localhost");
  EXPECT_EQ(status.processes[1].pid, pid("a"));
  EXPECT_GT(status.processes[1].resident_bytes, 1U << 20);
}

TEST_P(RuntimeProcesses, AreCalledAsTheProgramIs) {
  const std::string folder = "/proc/" + std::to_string(pid("a"));
  const std::string name = own_program_name();
  std::string line;
  std::getline(std::ifstream(folder + "/comm"), line);
  EXPECT_EQ(line, name.substr(0, 15));  // what the kernel keeps of it
  std::getline(std::ifstream(folder + "/cmdline"), line, '\0');
  EXPECT_EQ(line, name);
}

TEST_P(RuntimeProcesses, AKilledActorIsMournedWithItsCauseWithinASecond) {
  const auto [obituary, took] = mourn(SIGKILL, seconds(10));
  EXPECT_EQ(obituary.name, "b");
  EXPECT_EQ(obituary.incarnation, 1u);
  EXPECT_THAT(obituary.cause, StartsWith("killed by SIGKILL"));
  EXPECT_LT(took, seconds(1));
  ASSERT_TRUE(wait([&] { return cluster.failure().has_value(); }, seconds(1)));
  EXPECT_EQ(cluster.failure()->identity.name, "b");
}

TEST_P(RuntimeProcesses, AStoppedProcessDiesOfSilence) {
  const auto [obituary, took] = mourn(SIGSTOP, seconds(10));
  EXPECT_THAT(obituary.cause, StartsWith("silence"));
  EXPECT_LT(took, seconds(3));
}

TEST_P(RuntimeProcesses, AHandlerThatBlocksItsLoopDiesOfSilence) {
  cluster.process().tell(peers[1], Block{60'000});
  ASSERT_TRUE(wait([&] { return cluster.failure().has_value(); }, seconds(10)));
  EXPECT_EQ(cluster.failure()->identity.name, "b");
  EXPECT_THAT(cluster.failure()->cause, StartsWith("silence"));
}

TEST_P(RuntimeProcesses, AFailedActorsCauseIsTheRunsCause) {
  cluster.process().tell(peers[1], Fail{"the loss is not finite"});
  ASSERT_TRUE(wait([&] { return cluster.failure().has_value(); }, seconds(5)));
  EXPECT_EQ(cluster.failure()->cause, "the loss is not finite");
  EXPECT_EQ(cluster.failure()->exit_code, 1);
}

TEST_P(RuntimeProcesses, AKilledNodeLeavesNobodyBehind) {
  strike(pid("node-localhost"), SIGKILL);
  ASSERT_TRUE(
      wait([&] { return cluster.failure() && !cluster.failure()->consequence; }, seconds(5)));
  EXPECT_EQ(cluster.failure()->identity.name, "node-localhost");
  EXPECT_THAT(cluster.failure()->cause, HasSubstr("SIGKILL"));
  EXPECT_TRUE(eventually(
      [&] {
        const auto left = processes_of_run(cluster.run());
        return left.size() == 1 && left[0].name == "coordinator";
      },
      seconds(5)));
}

TEST_P(RuntimeProcesses, AKilledCoordinatorComesAgainAndEndsEverybody) {
  const auto killed = pid("coordinator");
  strike(killed, SIGKILL);
  ASSERT_TRUE(wait([&] { return cluster.coordinator().identity.incarnation == 2; }, seconds(5)));
  EXPECT_NE(pid("coordinator"), killed);
  for (const ActorRef<Peer>& peer : peers) {
    const Result<Balance> balance = cluster.ask(peer, Deposit{1}, seconds(5));
    EXPECT_TRUE(balance.ok()) << balance.error().message;
  }
  ASSERT_TRUE(cluster.inspect(*cluster.process_of("node-localhost")).ok());
  EXPECT_FALSE(cluster.failure().has_value());
  cluster.stop(seconds(5));
  EXPECT_TRUE(eventually([&] { return processes_of_run(cluster.run()).empty(); }, seconds(5)));
}

TEST_P(RuntimeProcesses, WhoAskedAKilledActorByNameIsAnsweredByItsNextIncarnation) {
  ASSERT_NO_FATAL_FAILURE(begin("c", 2));
  EXPECT_EQ(relay("c"), 41);
  EXPECT_EQ(relay_to_killed("c"), 41) << "the next one begins with 40, too";
  EXPECT_EQ(relay("c"), 42);
  EXPECT_EQ(incarnation_of("c"), 2u);
  ASSERT_TRUE(wait([&] { return !restarts.empty(); }, seconds(5)));
  EXPECT_THAT(restarts, ElementsAre("c#1"));
  EXPECT_TRUE(downs.empty());
  EXPECT_FALSE(cluster.failure().has_value());
}

TEST_P(RuntimeProcesses, TheNextCoordinatorKnowsWhoMayComeAgainAndHowOften) {
  ASSERT_NO_FATAL_FAILURE(begin("c", 2));
  EXPECT_EQ(relay("c"), 41);
  EXPECT_EQ(relay_to_killed("c"), 41);
  strike(pid("coordinator"), SIGKILL);
  ASSERT_TRUE(wait([&] { return cluster.coordinator().identity.incarnation == 2; }, seconds(5)));
  EXPECT_EQ(relay_to_killed("c"), 41);
  EXPECT_EQ(incarnation_of("c"), 3u);
  ASSERT_TRUE(wait([&] { return restarts.size() == 3; }, seconds(5)));
  EXPECT_THAT(restarts, ElementsAre("c#1", "coordinator#1", "c#2"));
  EXPECT_FALSE(cluster.failure().has_value());
  // Each of the two coordinators has seen one of its restarts.
  const pid_t last = pid("c");
  ASSERT_GT(last, 0);
  ::kill(last, SIGKILL);
  ASSERT_TRUE(wait([&] { return cluster.failure().has_value(); }, seconds(5)));
  EXPECT_EQ(cluster.failure()->identity.text(), "c#3");
  EXPECT_THAT(cluster.failure()->cause,
              AllOf(HasSubstr("SIGKILL"), HasSubstr("after 2 restarts of it within 10m")));
}

TEST_P(RuntimeConnections, WhatIsUnderWayWhenTheyAreCutIsCountedOnce) {
  std::vector<Future<Balance>> answers;
  const auto ask_many = [&] {
    for (int i = 0; i < 50; ++i) {
      answers.push_back(cluster.process().ask(peers[1], Deposit{1}, seconds(60)));
      answers.push_back(cluster.process().ask(peers[0], RelayAgain{"b", 1}, seconds(60)));
    }
  };
  const auto answered = [&] {
    return std::ranges::all_of(answers, [](const auto& one) { return one.ready(); });
  };
  ask_many();
  ASSERT_TRUE(wait(answered, seconds(30)));
  for (int cuts = 1; cuts <= 3; ++cuts) {
    ask_many();
    Future<void> cut = cluster.inject({"b", FaultKind::CUT, {}, "a test", {}});
    ask_many();
    ASSERT_TRUE(wait([&] { return cut.ready(); }, seconds(10)));
    const Result<void> done = cut.take();
    ASSERT_TRUE(done.ok()) << done.error().message;
    ask_many();
    // b had one with a and one with the launcher.
    ASSERT_TRUE(wait([&] { return linked_again >= 2 * cuts && answered(); }, seconds(30)));
  }
  std::set<std::int64_t> totals;
  for (Future<Balance>& answer : answers) totals.insert(total_of(answer.take()));
  EXPECT_EQ(totals.size(), answers.size());
  EXPECT_EQ(*totals.rbegin(), std::ssize(answers));
  EXPECT_TRUE(restarts.empty());
  EXPECT_TRUE(downs.empty());
  EXPECT_FALSE(cluster.failure().has_value());
}

/// A launcher in a process of its own: this program with another argument.
class LauncherProcess {
 public:
  explicit LauncherProcess(const char* mode) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::execl("/proc/self/exe", "runtime_processes_test", "--launch", mode, nullptr);
      ::_exit(126);
    }
    ::close(ends[1]);
    // One line: "RUN DIRECTORY", once its actors are ready.
    std::string line;
    for (char c = 0; ::read(ends[0], &c, 1) == 1 && c != '\n';) line += c;
    ::close(ends[0]);
    const auto space = line.find(' ');
    if (space == std::string::npos) return;
    run = std::stoull(line.substr(0, space), nullptr, 16);
    directory = line.substr(space + 1);
  }
  ~LauncherProcess() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  void signal(int number) const { ::kill(pid_, number); }

  std::uint64_t run = 0;
  std::string directory;

 private:
  pid_t pid_ = 0;
};

int launch(const std::string& transport, int argc, char** argv, const Registry& registry) {
  return sterna::main(
      argc, argv, registry,
      [](Cluster& cluster) {
        for (const char* name : {"a", "b"}) {
          if (!cluster.spawn<Peer>(name, "peer", PeerArgs{})) return 1;
        }
        std::printf("%llx %s\n", static_cast<unsigned long long>(cluster.run()),
                    cluster.options().network.directory.c_str());
        std::fflush(stdout);
        cluster.run_until([&] { return cluster.interrupted(); }, kNever);
        return 130;
      },
      quick(transport));
}

TEST(RuntimeLauncher, KilledItLeavesNeitherProcessesNorSockets) {
  const LauncherProcess launcher("ipc");
  ASSERT_NE(launcher.run, 0u);
  EXPECT_EQ(processes_of_run(launcher.run).size(), 4u);
  EXPECT_TRUE(std::filesystem::exists(launcher.directory));
  launcher.signal(SIGKILL);
  EXPECT_TRUE(eventually([&] { return processes_of_run(launcher.run).empty(); }, seconds(5)));
  EXPECT_FALSE(std::filesystem::exists(launcher.directory));
}

TEST(RuntimeLauncher, KilledItLeavesNoSocketsOfItsNodes) {
  const LauncherProcess launcher("mixed");
  ASSERT_NE(launcher.run, 0u);
  EXPECT_THAT(near_directories(launcher.run), SizeIs(1));
  launcher.signal(SIGKILL);
  EXPECT_TRUE(eventually([&] { return processes_of_run(launcher.run).empty(); }, seconds(5)));
  EXPECT_THAT(near_directories(launcher.run), IsEmpty());
}

/// Two hosts, as far as anybody in the run can tell.
TEST(RuntimeHosts, TheProcessesOfEachHaveSocketsOfTheirOwnAndReachTheOthers) {
  const Registry registry = peer_registry();
  RealMachine machine;
  ClusterOptions options = quick("mixed");
  options.hosts = {{"x", options.network}, {"y", options.network}};
  Cluster cluster(machine, registry, options);
  ASSERT_TRUE(cluster.start());
  std::vector<ActorSpec> specs;
  for (const auto& [name, host] : {std::pair{"a", "x"}, {"b", "x"}, {"c", "y"}}) {
    specs.push_back({name, "peer", pack(PeerArgs{}), host});
  }
  const Result<std::vector<Started>> peers = cluster.start_actors(specs);
  ASSERT_TRUE(peers) << peers.error().message;
  const auto directories = near_directories(cluster.run());
  ASSERT_THAT(directories, SizeIs(2));
  const auto has = [&](const char* socket, std::size_t host) {
    return std::filesystem::exists(directories[host] / socket);
  };
  EXPECT_NE(has("c.1.data", 0), has("c.1.data", 1));
  for (const std::size_t host : {0U, 1U}) {
    EXPECT_EQ(has("a.1.data", host), has("b.1.data", host));
    EXPECT_NE(has("a.1.data", host), has("c.1.data", host));
  }
  int total = 0;
  for (const Started& from : *peers) {
    for (const char* to : {"a", "b", "c"}) {
      if (&from - peers->data() == to[0] - 'a') continue;
      const Result<ActorRef<Peer>> peer = from.actor.as<Peer>();
      ASSERT_TRUE(peer);
      const Result<Balance> there = cluster.ask(*peer, Relay{to, 1}, seconds(5));
      ASSERT_TRUE(there) << there.error().message;
      total += static_cast<int>(there->value);
    }
  }
  EXPECT_EQ(total, 9);  // 1 and 2 of each
  cluster.stop(seconds(5));
  EXPECT_THAT(near_directories(cluster.run()), IsEmpty());
}

TEST(RuntimeLauncher, InterruptedItStopsItsOwnRunAndNoOther) {
  const LauncherProcess first("ipc");
  const LauncherProcess second("tcp");
  ASSERT_NE(first.run, 0u);
  ASSERT_NE(second.run, 0u);
  first.signal(SIGINT);
  EXPECT_TRUE(eventually([&] { return processes_of_run(first.run).empty(); }, seconds(5)));
  EXPECT_TRUE(eventually([&] { return !std::filesystem::exists(first.directory); }, seconds(5)));
  EXPECT_EQ(processes_of_run(second.run).size(), 4u);
}

}  // namespace
}  // namespace sterna::test

int main(int argc, char** argv) {
  const sterna::Registry registry = sterna::test::peer_registry();
  if (const auto code = sterna::host_if_child(argc, argv, registry)) return *code;
  if (argc == 3 && std::string(argv[1]) == "--launch") {
    return sterna::test::launch(argv[2], argc, argv, registry);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
