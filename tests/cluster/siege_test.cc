// A run under attack by somebody without a key: its steps go on, its processes do not grow, nobody
// is let in, and when the attacker has gone nothing of him is left.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <sstream>
#include <thread>

#include "runtime/zmq/zmq_transport.h"
#include "tests/cluster/cluster_runs.h"

namespace sterna::test {
namespace {

using std::chrono::seconds;
using Seconds = std::chrono::duration<double>;

constexpr Duration kPatience = seconds(120);
constexpr const char* kPorts = "41000-41039";

/// Takes connections on the launching machine and throws away what they bring: what the attacker
/// costs who is not attacked.
class Bystander {
 public:
  explicit Bystander(const std::string& address) {
    sockaddr_in own = {};
    own.sin_family = AF_INET;
    ::inet_pton(AF_INET, address.c_str(), &own.sin_addr);
    socklen_t size = sizeof(own);
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&own), size), 0);
    EXPECT_EQ(::listen(listener_, 1000), 0);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&own), &size);
    target_ = address + ":" + std::to_string(ntohs(own.sin_port));
    thread_ = std::thread([this] { take(); });
  }
  Bystander(const Bystander&) = delete;
  Bystander& operator=(const Bystander&) = delete;
  ~Bystander() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  const std::string& target() const { return target_; }

 private:
  void take() {
    std::vector<char> buffer(1 << 16);
    const timeval patience = {0, 20000};
    for (int one = 0; (one = ::accept(listener_, nullptr, nullptr)) >= 0; ::close(one)) {
      ::setsockopt(one, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
      while (::recv(one, buffer.data(), buffer.size(), 0) > 0) {
      }
    }
  }
  int listener_ = -1;
  std::string target_;
  std::thread thread_;
};

class Siege : public testing::Test {
 protected:
  void SetUp() override {
    runs_ = std::make_unique<ClusterRuns>(4);
    STERNA_NEEDS_HOSTS(runs_->hosts());
    const std::string file =
        runs_->file({"besieged",
                     {"a", "b", "c", "d"},
                     "",
                     "root",
                     fmt::format("ports = \"{}\"\nsilence = \"30s\"\n", kPorts)},
                    kSmallJob);
    id_ = runs_->ask({"up", file})["id"];
    ASSERT_TRUE(eventually(kPatience, [&] { return runs_->step_of(id_) > 100; }));
  }
  void TearDown() override {
    if (id_.empty()) return;
    EXPECT_EQ(runs_->ask({"down", id_}).value("left", -1), 0);
  }
  const ClusterHosts& hosts() { return runs_->hosts(); }

  std::unique_ptr<Program> attack(std::vector<std::string> words,
                                  const std::vector<std::string>& targets) {
    const std::string binary = std::getenv("STERNA_BINARY");
    words.insert(words.begin(), binary.substr(0, binary.rfind('/')) + "/tests/attack");
    for (const std::string& target : targets) {
      words.insert(words.end(), {"--target", target});
    }
    return std::make_unique<Program>(hosts().launcher_folder(), words, own_environment());
  }
  static nlohmann::json report(Program& attack) {
    EXPECT_EQ(attack.exit_code(kPatience), 0) << attack.err();
    return nlohmann::json::parse(attack.out(), nullptr, false);
  }
  /// Every open port of the run on its hosts, found as an attacker would.
  std::vector<std::string> open_ports() {
    std::vector<std::string> all;
    for (const std::string& host : hosts().names()) {
      all.push_back(hosts().address(host) + ":" + kPorts);
    }
    const auto scan = attack({"scan"}, all);
    return report(*scan)["open"];
  }
  /// Steps a second, over so many seconds.
  double rate(double over) {
    const SteadyClock clock;
    const Time began = clock.now();
    const std::int64_t first = runs_->step_of(id_);
    eventually(std::chrono::duration_cast<Duration>(Seconds(over)), [] { return false; });
    const std::int64_t last = runs_->step_of(id_);
    return static_cast<double>(last - first) / Seconds(clock.now() - began).count();
  }
  /// Resident bytes by "host/name".
  std::map<std::string, double> memory() {
    std::map<std::string, double> all;
    for (const std::string& host : hosts().names()) {
      for (const std::string& line :
           lines_of(hosts().exec(host, {"ps", "-ww", "-eo", "rss,args"}).out)) {
        std::istringstream words(line);
        double kilobytes = 0;
        std::string program, mark, name;
        if (words >> kilobytes >> program >> mark >> name && mark == "__process") {
          all[host + "/" + name] = kilobytes * 1024;
        }
      }
    }
    return all;
  }
  /// Seconds of processor that the busiest thread of the run's on any host takes in one second.
  double busiest_thread() {
    const auto look = [&] {
      std::map<std::string, double> ticks;
      for (const std::string& host : hosts().names()) {
        const Said said = hosts().exec(
            host, {"sh", "-c",
                   "for p in $(pgrep -f __process); do for t in /proc/$p/task/*/stat; do echo \"$t "
                   "$(sed 's/.*) //' $t)\"; done; done 2>/dev/null"});
        for (const std::string& line : lines_of(said.out)) {
          std::istringstream words(line);
          std::vector<std::string> all;
          for (std::string word; words >> word;) all.push_back(word);
          constexpr std::size_t kUser = 12;  // after the path: state is the third of proc(5)
          if (all.size() > kUser + 1) {
            ticks[host + all[0]] = std::stod(all[kUser]) + std::stod(all[kUser + 1]);
          }
        }
      }
      return ticks;
    };
    const SteadyClock clock;
    const Time began = clock.now();
    auto before = look();
    eventually(seconds(3), [] { return false; });
    double most = 0;
    for (const auto& [thread, now] : look()) {
      if (before.contains(thread)) most = std::max(most, now - before[thread]);
    }
    return most / static_cast<double>(::sysconf(_SC_CLK_TCK)) /
           Seconds(clock.now() - began).count();
  }
  void reader(const char* signal) {
    for (const RunProcess& process : runs_->there()) {
      if (process.name != "reader0") continue;
      hosts().exec(process.host, {"kill", signal, std::to_string(process.pid)});
    }
  }

  std::unique_ptr<ClusterRuns> runs_;
  std::string id_;
};

TEST_F(Siege, StepsGoOnNobodyGrowsAndNobodyIsLetIn) {
  const double minute = in_full() ? 60 : 6;
  const std::vector<std::string> ports = open_ports();
  EXPECT_GE(ports.size(), 16U);  // control and data of 5 actors and, of 4 nodes, one or both
  const Bystander bystander(hosts().launcher_address());
  const std::string length = std::to_string(minute + 2);
  const auto outside = attack({"flood", "--seconds", length}, {bystander.target()});
  const double usual = rate(minute);
  report(*outside);
  const auto small = memory();
  const auto inside = attack({"flood", "--seconds", length}, ports);
  const double besieged = rate(minute);
  const nlohmann::json flood = report(*inside);
  double growth = 0;
  auto large = memory();
  for (const auto& [name, bytes] : small) growth = std::max(growth, large[name] - bytes);
  print_figure({{"point", 4},
                {"what", "flood of 100 connections/s and 5 MB/s at the run's ports"},
                {"seconds", minute},
                {"open_ports", ports.size()},
                {"connections", flood["attempts"]},
                {"bytes", flood["bytes_sent"]},
                {"held_longest", flood["held_longest"]},
                {"accepted", flood["accepted"]},
                {"steps_per_second_while_elsewhere", usual},
                {"steps_per_second", besieged},
                {"share", besieged / usual},
                {"most_growth_bytes", growth}});
  // On a machine shared with other tests, a few seconds are no measurement.
  EXPECT_GT(besieged / usual, in_full() ? 0.9 : 0.5);
  EXPECT_LT(growth, 10e6);
  EXPECT_EQ(flood["accepted"], 0);
  constexpr double kSlack = 3;  // seconds: the flood's clock begins before the listener's does
  EXPECT_LT(flood["held_longest"], in_seconds(ZmqOptions().handshake_timeout) + kSlack);
}

TEST_F(Siege, PastTheLimitOfDescriptorsTheRunSurvivesAndNothingSpinsAfterwards) {
  const std::vector<std::string> ports = open_ports();
  for (const std::string& host : hosts().names()) {
    hosts().exec(
        host,
        {"sh", "-c", "for p in $(pgrep -f __process); do prlimit --pid $p --nofile=256:256; done"});
  }
  const double usual = rate(in_full() ? 10 : 4);
  const auto inside =
      attack({"flood", "--unthrottled", "--seconds", in_full() ? "30" : "5"}, ports);
  const nlohmann::json flood = report(*inside);
  const SteadyClock clock;
  const Time over = clock.now();
  double after = 0;
  EXPECT_TRUE(eventually(seconds(10),
                         [&] {
                           after = rate(2);
                           return after > (in_full() ? 0.9 : 0.5) * usual;
                         }))
      << usual << " " << after;
  const double back = Seconds(clock.now() - over).count();
  reader("-STOP");
  eventually(seconds(1), [] { return false; });
  const double spinning = busiest_thread();
  reader("-CONT");
  print_figure({{"point", 4},
                {"what", "flood without throttle, 256 descriptors a process"},
                {"connections", flood["attempts"]},
                {"open_at_most", flood["open_at_most"]},
                {"accepted", flood["accepted"]},
                {"steps_per_second_before", usual},
                {"steps_per_second_after", after},
                {"seconds_until_back", back},
                {"busiest_thread_when_idle", spinning}});
  EXPECT_EQ(flood["accepted"], 0);
  EXPECT_LT(spinning, 0.2);
}

}  // namespace
}  // namespace sterna::test
