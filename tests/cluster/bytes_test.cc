// What `status` says that a run's processes sent and received is what the kernel counted on the
// network cards of their hosts, over links of 100 Mbit/s.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/cluster/cluster_runs.h"

namespace sterna::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Seconds = std::chrono::duration<double>;

constexpr Duration kPatience = seconds(120);
constexpr double kParameters = 784.0 * 4096 + 4096 + 4096 * 512 + 512 + 512 * 10 + 10;
constexpr double kLink = 100e6 / 8;  // bytes a second, each way

/// Who talks with whom sits on different hosts, so that all of it passes the cards.
std::string wide_job(const std::string& codec, std::int64_t steps) {
  std::string job = kSmallJob;
  job.replace(job.find("steps = 1000000000"), 18, fmt::format("steps = {}", steps));
  job.replace(job.find("hidden = [16]"), 13, "hidden = [4096, 512]");
  return job + "\n[gradient]\ncodec = \"" + codec + "\"\n[deadlines]\nstep = \"60s\"\n";
}

struct Traffic {
  double in = 0;
  double out = 0;
};

class Links : public testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() { runs_ = std::make_unique<ClusterRuns>(4); }
  static void TearDownTestSuite() { runs_.reset(); }
  static inline std::unique_ptr<ClusterRuns> runs_;
};

/// By host, what the run's processes there say.
std::map<std::string, Traffic> told(const nlohmann::json& status) {
  std::map<std::string, Traffic> hosts;
  for (const auto& member : status["members"]) {
    Traffic& traffic = hosts[member["host"]];
    traffic.in += member["bytes_in"].get<double>();
    traffic.out += member["bytes_out"].get<double>();
  }
  return hosts;
}

std::map<std::string, double> counted(const ClusterHosts& hosts, const std::string& host) {
  std::map<std::string, double> counters;
  for (const std::string& line : lines_of(hosts.must("bytes", {host}))) {
    counters[line.substr(0, line.find(' '))] = std::stod(line.substr(line.find(' ') + 1));
  }
  return counters;
}

TEST_P(Links, CarryTheBytesThatStatusReports) {
  const ClusterHosts& hosts = runs_->hosts();
  STERNA_NEEDS_HOSTS(hosts);
  const SteadyClock clock;
  const std::vector<std::string> names = {"a", "b", "c", "d"};
  const std::int64_t steps = in_full() ? 12 : 4;
  const std::string file = runs_->file(
      {"wide_" + GetParam(), names, "", "root", "silence = \"5m\"\n"}, wide_job(GetParam(), steps));
  std::map<std::string, std::map<std::string, double>> before;
  // The program is brought before the links are slow.
  runs_->file({"small", names, ""}, kSmallJob);
  const auto warm = runs_->ask({"up", hosts.launcher_folder() + "/small.toml"});
  runs_->ask({"down", warm["id"]});
  for (const std::string& host : names) {
    hosts.shape(host, "100mbit");
    before[host] = counted(hosts, host);
  }
  const std::string id = runs_->ask({"up", file})["id"];
  std::int64_t first = 0;
  std::int64_t last = 0;
  ASSERT_TRUE(eventually(kPatience, [&] { return (first = runs_->step_of(id)) >= 1; }));
  const Time began = clock.now();
  ASSERT_TRUE(eventually(kPatience, [&] { return (last = runs_->step_of(id)) >= steps - 1; }));
  const double per_step = Seconds(clock.now() - began).count() / static_cast<double>(last - first);

  // The workers have the batches of the last step; the evaluator waits for its test examples. So
  // the links fall silent, and all has been told.
  for (const RunProcess& process : runs_->there()) {
    if (process.name != "reader0") continue;
    hosts.exec(process.host, {"kill", "-STOP", std::to_string(process.pid)});
  }
  double seen = 0;
  Time since = clock.now();
  ASSERT_TRUE(eventually(kPatience, [&] {
    constexpr double kHeartbeats = 30e3;
    auto card = counted(hosts, "a");
    const double now = card["tx_bytes"] + card["rx_bytes"];
    if (now - seen > kHeartbeats) {
      seen = now;
      since = clock.now();
    }
    return clock.now() - since > milliseconds(1500);
  }));
  const auto status = runs_->ask({"status", id});
  ASSERT_TRUE(status.is_object());
  std::map<std::string, std::map<std::string, double>> after;
  for (const std::string& host : names) after[host] = counted(hosts, host);
  for (const auto& process : runs_->there()) {
    if (process.name == "reader0") {
      hosts.exec(process.host, {"kill", "-CONT", std::to_string(process.pid)});
    }
  }
  for (const std::string& host : names) hosts.shape(host, "none");
  runs_->ask({"down", id});

  auto reported = told(status);
  for (const char* host : {"a", "b", "d"}) {  // c has a reader, which hardly says anything
    const auto grown = [&](const char* counter) {
      return after[host][counter] - before[host][counter];
    };
    const Traffic all = reported[host];
    const double share = (grown("rx_bytes") + grown("tx_bytes")) / (all.in + all.out);
    print_figure({{"point", 7},
                  {"codec", GetParam()},
                  {"host", host},
                  {"kernel_in", grown("rx_bytes")},
                  {"status_in", all.in},
                  {"packets_in", grown("rx_packets")},
                  {"kernel_out", grown("tx_bytes")},
                  {"status_out", all.out},
                  {"packets_out", grown("tx_packets")},
                  {"kernel_over_status", share}});
    EXPECT_NEAR(share, 1, 0.05) << host;
  }
  // Two workers take all parameters from one server, each step.
  const double bound = 2 * 4 * kParameters / kLink;
  print_figure({{"point", 7},
                {"codec", GetParam()},
                {"seconds_per_step", per_step},
                {"parameters_down_take", bound},
                {"examples_per_second", status["status"]["examples_per_second"]}});
  std::printf(
      "%s: a step takes %.2f s; of that %.2f s are the parameters down, which bound the gain of "
      "any codec of gradients\n",
      GetParam().c_str(), per_step, bound);
}

INSTANTIATE_TEST_SUITE_P(Codecs, Links, testing::Values("ternary", "none"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace sterna::test
