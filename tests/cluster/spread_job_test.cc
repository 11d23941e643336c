// A job over four hosts ends with the bits of the same job on one host; in full it is LeNet on
// MNIST, which also has to learn.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "tests/cluster/cluster_runs.h"

namespace sterna::test {
namespace {

constexpr Duration kPatience = std::chrono::minutes(10);

/// 2 servers, 4 workers, 2 readers and an evaluator, on the hosts of their four groups.
std::string job(const std::vector<std::string>& groups, const std::string& data, int steps) {
  return fmt::format(R"(
[[actor]]
role = "parameter_server"
count = 2
hosts = [{0}]

[[actor]]
role = "worker"
count = 4
hosts = [{1}]

[[actor]]
role = "input_reader"
count = 2
hosts = [{2}]

[[actor]]
role = "evaluator"
hosts = [{3}]

[job]
net = "lenet"
steps = {4}
batch = 16
seed = 1

[data]
name = "{5}"

[optimizer]
name = "momentum"
learning_rate = 0.01
momentum = 0.9
weight_decay = 0.0005
schedule = "polynomial"

[gradient]
codec = "ternary"
clip = 2.5
min_size = 1
logits = true

[evaluator]
every = {6}
examples = 2000
)",
                     groups[0], groups[1], groups[2], groups[3], steps, data, steps / 8);
}

/// STERNA_MNIST: a folder with MNIST's four files, for the whole job.
std::string mnist_here() {
  const char* given = std::getenv("STERNA_MNIST");
  return given == nullptr ? "" : given;
}

TEST(Job, OverFourHostsEndsWithTheParametersOfOneHost) {
  const ClusterRuns runs(4);
  const ClusterHosts& hosts = runs.hosts();
  STERNA_NEEDS_HOSTS(hosts);
  const bool mnist = in_full() && !mnist_here().empty();
  const int steps = mnist ? 2000 : 24;
  const std::string name = mnist ? "mnist" : "digits";
  std::string data = hosts.launcher_folder() + "/digits";
  if (mnist) {
    data = mnist_here();
    for (const std::string& host : hosts.names()) {
      hosts.exec(host, {"rm", "-rf", kDigitsThere});
      const std::string there = std::string(kDigitsThere) + "/";
      hosts.must("put", {host, data + "/.", there});
    }
  }
  const auto result = [&](const std::vector<std::string>& arguments) {
    const auto run = runs.sterna(arguments);
    EXPECT_EQ(run->exit_code(kPatience), 0) << run->story();
    const auto lines = lines_of(run->out());
    return lines.empty() ? nlohmann::json() : nlohmann::json::parse(lines.back(), nullptr, false);
  };
  const std::string spread = runs.file(
      {"spread", {"a", "b", "c", "d"}, ""},
      job({R"("a", "b")", R"("a", "b", "c", "d")", R"("c", "d")", R"("a")"}, name, steps));
  const std::string alone =
      runs.file({"alone", {}, "", "root", "placer = \"local\"\n[[host]]\nname = \"one\"\n"},
                job({R"("one")", R"("one")", R"("one")", R"("one")"}, name, steps));
  const nlohmann::json one = result({"run", alone, "--json", "--data", data});
  const nlohmann::json four = result({"run", spread, "--json"});
  ASSERT_TRUE(one.is_object() && four.is_object());
  print_figure({{"point", 1},
                {"what", mnist ? "LeNet on MNIST" : "LeNet on drawn digits"},
                {"steps", steps},
                {"precision_at_1", four["precision_at_1"]},
                {"parameters_sha256_4_hosts", four["parameters_sha256"]},
                {"parameters_sha256_1_host", one["parameters_sha256"]},
                {"examples_per_second_4_hosts", four["examples_per_second"]},
                {"examples_per_second_1_host", one["examples_per_second"]}});
  EXPECT_EQ(four["parameters_sha256"], one["parameters_sha256"]);
  EXPECT_EQ(four["parameters_sha256"].get<std::string>().size(), 64U);
  EXPECT_GE(four["precision_at_1"].get<double>(), mnist ? 0.985 : 0);
}

/// Runs over four hosts that keep checkpoints.
class KeptJobs {
 public:
  KeptJobs() : runs_(4) {}
  const ClusterRuns& runs() const { return runs_; }
  std::string folder() const { return runs_.hosts().launcher_folder(); }
  std::unique_ptr<Call> start(const std::string& name, const std::vector<std::string>& groups,
                              std::vector<std::string> settings) const {
    const std::string file = runs_.file({name, {"a", "b", "c", "d"}, ""},
                                        small_unless_in_full(job(groups, "digits", 90)));
    std::vector<std::string> arguments = {"run", file, "--json", "--run-dir",
                                          folder() + "/" + name};
    settings.insert(settings.end(), {"gradient.error_feedback=true", "checkpoint.every_steps=30",
                                     "checkpoint.keep=99"});
    for (const std::string& setting : settings) {
      arguments.insert(arguments.end(), {"--set", setting});
    }
    return runs_.sterna(arguments);
  }
  static nlohmann::json result_of(Call& call) {
    EXPECT_EQ(call.exit_code(kPatience), 0) << call.story();
    const auto lines = lines_of(call.out());
    return lines.empty() ? nlohmann::json::object()
                         : nlohmann::json::parse(lines.back(), nullptr, false);
  }
  static std::string hash_of(Call& call) {
    return result_of(call).value("parameters_sha256", "no hash");
  }

 private:
  ClusterRuns runs_;
};

const std::vector<std::string> kHere = {R"("a", "b")", R"("a", "b", "c", "d")", R"("c", "d")",
                                        R"("a")"};
const std::vector<std::string> kMoved = {R"("c", "d")", R"("d", "c", "b", "a")", R"("a", "b")",
                                         R"("b")"};

// What servers and workers wrote on their hosts comes through the node agents to the launcher, and
// from there to whoever goes on, on other hosts than before, or in place of one that was killed.
TEST(Job, OverFourHostsGoesOnFromAnyCheckpointToTheSameParameters) {
  const KeptJobs jobs;
  STERNA_NEEDS_HOSTS(jobs.runs().hosts());
  const std::string undisturbed = KeptJobs::hash_of(*jobs.start("first", kHere, {}));
  EXPECT_EQ(undisturbed.size(), 64U);
  EXPECT_EQ(KeptJobs::hash_of(*jobs.start(
                "second", kMoved,
                {"checkpoint.resume=" + jobs.folder() + "/first/checkpoints/step-000000030"})),
            undisturbed);

  const auto hit = jobs.start("hit", kHere, {"actor.worker.restart=0"});
  const std::optional<RunProcess> worker = jobs.runs().wait_for("worker1", kPatience);
  ASSERT_TRUE(worker) << hit->story();
  ASSERT_TRUE(eventually(kPatience, [&] {
    return hit->exit_code(Duration::zero()) ||
           std::filesystem::exists(jobs.folder() + "/hit/checkpoints/step-000000030/manifest.json");
  })) << hit->story();
  jobs.runs().kill(*worker);
  const nlohmann::json result = KeptJobs::result_of(*hit);
  EXPECT_EQ(result.value("parameters_sha256", "no hash"), undisturbed) << hit->story();
  EXPECT_EQ(result.value("restarts", nlohmann::json::array()).size(), 1U) << result;
}

}  // namespace
}  // namespace sterna::test
