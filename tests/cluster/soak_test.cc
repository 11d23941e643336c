// A run over four hosts that something happens to every few seconds, for as long as it is let: it
// ends with the bits of an undisturbed one, and those of its processes that nobody strikes have
// grown by nothing. A few faults here; hours by the script `soak`.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "tests/cluster/cluster_runs.h"

namespace sterna::test {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr int kFewSteps = 200;
/// Of the time that an undisturbed run takes.
constexpr int kLongest = 20;
/// Over which hours take few steps, so that the undisturbed run need not take hours too.
constexpr const char* kSlower = "100mbit";
/// Beside what an allocator keeps of one burst.
constexpr double kMostGrowthPerHour = 1.0;  // MB
constexpr long kMostMoreDescriptors = 16;   // while connections are made again

double hours() {
  const char* given = std::getenv("STERNA_HOURS");
  return given == nullptr ? 0 : std::stod(given);
}
std::string seed() {
  const char* given = std::getenv("STERNA_SEED");
  return given == nullptr ? "1" : given;
}

/// Host a is spared, which has the server. All else may be on any other.
std::string job(std::int64_t steps) {
  const std::string again = "restart = 1000\nwithin = \"5s\"\nbackoff = \"50ms\"";
  const std::string whole = fmt::format(R"(
[chaos]
allow = true

[[actor]]
role = "parameter_server"
hosts = ["a"]

[[actor]]
role = "worker"
count = 3
hosts = ["b", "c", "d"]
{0}

[[actor]]
role = "input_reader"
hosts = ["d", "c", "b"]
{0}

[[actor]]
role = "evaluator"
hosts = ["c", "b", "d"]
{0}

[job]
net = "lenet"
steps = {1}
batch = 4
seed = 1

[data]
name = "digits"

[gradient]
codec = "ternary"

[evaluator]
every = 500
examples = 200
)",
                                        again, steps);
  return hours() > 0 ? whole : small_unless_in_full(whole);
}

/// What one process has, at a time.
struct Sample {
  double hour = 0;
  double megabytes = 0;  ///< of its own that is resident
  long descriptors = 0;
};
using Samples = std::map<std::string, std::vector<Sample>>;

/// By the least squares, of its later half: what it has once is no growth.
double growth_per_hour(const std::vector<Sample>& all) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (std::size_t i = all.size() / 2; i < all.size(); ++i) {
    n += 1, x += all[i].hour, y += all[i].megabytes;
    xx += all[i].hour * all[i].hour, xy += all[i].hour * all[i].megabytes;
  }
  const double spread = n * xx - x * x;
  return spread > 0 ? (n * xy - x * y) / spread : 0;
}

/// Megabytes, by a process's status: what it has written, not pages of the program that it has
/// looked at for the first time.
double resident(const std::string& status) {
  double kilobytes = 0;
  for (const std::string_view line : {"RssAnon:", "RssShmem:"}) {
    const std::size_t at = status.find(line);
    if (at != std::string::npos) kilobytes += std::atof(status.c_str() + at + line.size());
  }
  return kilobytes / 1024;
}

class Soak : public testing::Test {
 protected:
  void SetUp() override { STERNA_NEEDS_HOSTS(runs_.hosts()); }

  std::string folder(const std::string& name) const {
    return runs_.hosts().launcher_folder() + "/" + name;
  }
  std::unique_ptr<Call> start(const std::string& name, std::int64_t steps) const {
    const std::string file =
        runs_.file({"soak", {"a", "b", "c", "d"}, "", "root", "silence = \"2s\"\n"}, job(steps));
    return runs_.sterna({"run", file, "--run-dir", folder(name)});
  }
  nlohmann::json result(const std::string& name) const {
    return nlohmann::json::parse(content_of(folder(name) + "/result.json"), nullptr, false);
  }
  /// Of the launcher, the coordinator beside it, and who is on the host that is spared.
  void sample(const Call& launcher, double hour, Samples& samples) const {
    const auto note_here = [&](const std::string& name, pid_t pid) {
      const std::string proc = fmt::format("/proc/{}/", pid);
      std::error_code ignored;
      const auto descriptors =
          std::distance(std::filesystem::directory_iterator(proc + "fd", ignored), {});
      const double megabytes = resident(content_of(proc + "status"));
      if (megabytes > 0) samples[name].push_back({hour, megabytes, descriptors});
    };
    note_here("launcher", launcher.pid());
    for (const RunProcess& process : launcher.here()) {
      if (!process.run.empty()) note_here(process.name, process.pid);
    }
    for (const RunProcess& process : runs_.there()) {
      if (process.host != "a" || process.run.empty()) continue;
      const std::string question =
          fmt::format("ls /proc/{0}/fd | wc -l; cat /proc/{0}/status", process.pid);
      const Said said = runs_.hosts().exec("a", {"sh", "-c", question});
      if (!said.ok()) continue;
      samples[process.name].push_back({hour, resident(said.out), std::atol(said.out.c_str())});
    }
  }

  ClusterRuns runs_{4};
};

TEST_F(Soak, ChangesNothingAndNobodyGrows) {
  const auto calm_run = [&](const std::string& name, std::int64_t steps, Duration patience) {
    const auto call = start(name, steps);
    EXPECT_EQ(call->exit_code(patience), 0) << call->story();
    return result(name);
  };
  std::int64_t steps = kFewSteps;
  nlohmann::json calm = calm_run("calm", steps, std::chrono::minutes(3));
  ASSERT_TRUE(calm.is_object());
  double takes = calm["seconds"].get<double>();
  if (hours() > 0) {  // as many as take so long over a slower network, with all that they lose
    runs_.hosts().shape("a", kSlower);
    const nlohmann::json slower = calm_run("slower", steps, std::chrono::minutes(10));
    ASSERT_TRUE(slower.is_object());
    takes = 0.8 * 3600 * hours();
    steps = static_cast<std::int64_t>(takes * kFewSteps / slower["seconds"].get<double>());
    runs_.hosts().shape("a", "none");
    calm = calm_run("long", steps, std::chrono::hours(24));
    ASSERT_TRUE(calm.is_object());
    runs_.hosts().shape("a", kSlower);
  }

  const auto call = start("disturbed", steps);
  ASSERT_TRUE(eventually(std::chrono::minutes(1), [&] {
    return content_of(folder("disturbed") + "/metrics.jsonl").find("\"step\":") !=
               std::string::npos ||
           call->exit_code(Duration::zero());
  })) << call->story();
  const auto chaos =
      runs_.sterna({"chaos", "disturbed", "--seed", seed(), "--every", hours() > 0 ? "5s" : "1s",
                    "--for", fmt::format("{:.0f}s", kLongest * takes)});
  const auto began = Clock::now();
  const auto hour = [&] { return Seconds(Clock::now() - began).count() / 3600; };
  Samples samples;
  const double between = hours() > 0 ? 10.0 / 3600 : 0.5 / 3600;
  double next = 0;
  EXPECT_TRUE(eventually(std::chrono::seconds(static_cast<std::int64_t>(kLongest * takes) + 60),
                         [&] {
                           if (hour() >= next) {
                             sample(*call, hour(), samples);
                             next = hour() + between;
                           }
                           return call->exit_code(Duration::zero()).has_value();
                         }))
      << call->story();

  ASSERT_EQ(call->exit_code(Duration::zero()), 0) << call->story() << chaos->story();
  const nlohmann::json got = result("disturbed");
  EXPECT_EQ(got["parameters_sha256"], calm["parameters_sha256"]) << call->story();
  EXPECT_GT(got["injected_faults"].get<int>(), 0) << chaos->story();
  EXPECT_FALSE(got.contains("restarts")) << got["restarts"];
  print_figure({{"steps", steps},
                {"faults", got["injected_faults"]},
                {"actor_restarts", got.value("actor_restarts", nlohmann::json::array()).size()},
                {"seconds", got["seconds"]},
                {"seconds_undisturbed", takes}});
  for (const char* needed : {"launcher", "coordinator", "node-a", "server0"}) {
    EXPECT_TRUE(samples.contains(needed)) << needed;
  }
  for (const auto& [name, all] : samples) {
    if (all.size() < 4) continue;
    const Sample& middle = all[all.size() / 2];
    print_figure({{"process", name},
                  {"samples", all.size()},
                  {"megabytes", all.back().megabytes},
                  {"megabytes_an_hour", growth_per_hour(all)},
                  {"descriptors", all.back().descriptors},
                  {"descriptors_in_the_middle", middle.descriptors}});
    EXPECT_LE(all.back().descriptors, middle.descriptors + kMostMoreDescriptors) << name;
    if (hours() > 0) {
      EXPECT_LT(growth_per_hour(all), kMostGrowthPerHour) << name;
    }
  }
  EXPECT_TRUE(eventually(std::chrono::seconds(15), [&] { return runs_.there().empty(); }));
}

}  // namespace
}  // namespace sterna::test
