// One job, run by real processes in every shape that a file can give it: the same bits each time,
// and those of the plain loop that is its oracle.
#include "launcher/cluster_file/cluster_file.h"
#include "launcher/job/job_plan.h"
#include "tests/actors/simulated_job.h"
#include "tests/end_to_end/run_test.h"

namespace sterna::test {
namespace {

using Settings = std::vector<std::string>;

class RunHash : public RunTest {
 protected:
  /// The hash that `sterna run` reports with these settings ("KEY=VALUE") of the file.
  std::string hash(const Settings& settings) {
    Arguments arguments = with(settings);
    arguments.emplace_back("--json");
    return hash_of(run(arguments));
  }
  std::string hash_of(SternaProgram& program) {
    EXPECT_EQ(program.exit_code(kPatience), 0) << program.story();
    const std::vector<std::string> lines = lines_of(program.out());
    if (lines.empty()) return "no result";
    const auto json = nlohmann::json::parse(lines.back(), nullptr, false);
    return json.value("parameters_sha256", "no hash");
  }
  /// The digits in two shards, in the test's folder.
  void split() {
    SternaProgram& program =
        sterna({"data", "split", digits(), "--shards", "2", "--into", "parts"});
    ASSERT_EQ(program.exit_code(kPatience), 0) << program.story();
  }
  std::string oracle(const Settings& settings) const {
    const auto file = launcher::read_cluster_file(path("job.toml"), settings);
    if (!file.ok()) return file.error().message;
    const auto job = launcher::job_of(*file, {digits(), "digits", false});
    return job.ok() ? actors::sequential_oracle(*job) : job.error().message;
  }
};

TEST_F(RunHash, OverIpcItIsThePlainLoops) { EXPECT_EQ(hash({}), oracle({})); }

TEST_F(RunHash, OverTcpWithCurveItIsTheSame) {
  EXPECT_EQ(hash({"cluster.transport=tcp", "cluster.security=curve"}), oracle({}));
}

TEST_F(RunHash, OverIpcWithinHostsItIsTheSame) {
  EXPECT_EQ(hash({"cluster.transport=mixed"}), oracle({}));
}

TEST_F(RunHash, OverTcpInTheClearItIsTheSame) {
  EXPECT_EQ(hash({"cluster.transport=tcp", "cluster.security=none"}), oracle({}));
}

TEST_F(RunHash, WithTwoServersAndTwoReadersItIsTheSame) {
  EXPECT_EQ(hash({"actor.parameter_server.count=2", "actor.input_reader.count=2"}), oracle({}));
}

/// A few steps of a net with batch norm, and of one with LRN, on digits as coloured pictures.
Settings few_steps_of(const std::string& net) {
  return {"job.net=" + net, "job.steps=4",     "job.batch=4",       "data.preprocess=resize_crop",
          "data.size=32",   "data.channels=3", "evaluator.every=0", "evaluator.examples=1"};
}

Settings both(Settings settings, const Settings& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

/// Rank 0's steps begin at times that are drawn: its packets come first or last.
const std::string kShuffled = R"(
[[inject.delay]]
ranks = [0]
delay = "20ms"
random = true
)";

class HashOfNet : public RunHash, public testing::WithParamInterface<const char*> {};

TEST_P(HashOfNet, OverIpcAndTcpWithOneServerOrThreeAndShuffledArrivalItIsThePlainLoops) {
  const Settings job = few_steps_of(GetParam());
  const std::string expected = oracle(job);
  EXPECT_EQ(hash(job), expected);
  write("job.toml", kThirtySteps + kShuffled);
  EXPECT_EQ(hash(both(job, {"cluster.transport=tcp", "actor.parameter_server.count=3"})), expected);
}

INSTANTIATE_TEST_SUITE_P(, HashOfNet, testing::Values("cifarnet", "resnet_20"),
                         [](const auto& net) { return std::string(net.param); });

const Settings kTwoShards = {"actor.input_reader.count=2", "actor.input_reader.shards=2"};

TEST_F(RunHash, WithAShardOfTheDataForEachReaderItIsTheSame) {
  EXPECT_EQ(hash(kTwoShards), oracle({}));
}

TEST_F(RunHash, FromFoldersOfOneShardEachItIsTheSame) {
  split();
  const std::string two_hosts = R"(
[cluster]
placer = "local"

[[host]]
name = "a"
data = "FOLDER/a"

[[host]]
name = "b"
data = "FOLDER/b/shard-1-of-2"
)";
  std::string text = kThirtySteps + two_hosts;
  for (auto at = text.find("FOLDER"); at != std::string::npos; at = text.find("FOLDER")) {
    text.replace(at, std::string("FOLDER").size(), folder());
  }
  write("job.toml", text);
  // Each host has nothing but its own shard.
  for (const std::string shard : {"a/shard-0-of-2", "b/shard-1-of-2"}) {
    std::filesystem::create_directories(std::filesystem::path(path(shard)).parent_path());
    std::filesystem::rename(path("parts" + shard.substr(1)), path(shard));
  }
  Arguments arguments = {"run", "job.toml", "--json"};
  const Arguments shards = with(kTwoShards);
  arguments.insert(arguments.end(), shards.begin(), shards.end());
  EXPECT_EQ(hash_of(sterna(arguments)), oracle({}));
}

TEST_F(RunHash, AReaderThatFindsAnothersShardSaysWhichAndEndsTheRun) {
  split();
  Arguments arguments = {"run", "job.toml", "--data", "parts/shard-0-of-2"};
  const Arguments shards = with(kTwoShards);
  arguments.insert(arguments.end(), shards.begin(), shards.end());
  SternaProgram& program = sterna(arguments);
  EXPECT_EQ(program.exit_code(kPatience), 1) << program.story();
  EXPECT_THAT(program.err(), testing::HasSubstr("holds shard 0 of 2, but shard 1 of 2 is wanted"));
}

TEST_F(RunHash, WithBothRanksInOneWorkerItIsTheSame) {
  EXPECT_EQ(hash({"actor.worker.count=1", "actor.worker.ranks=2"}), oracle({}));
}

TEST_F(RunHash, WithoutServersItIsTheSame) {
  const std::string expected = oracle({});
  write("job.toml", without_servers());
  EXPECT_EQ(hash({}), expected);
  EXPECT_EQ(hash({"cluster.transport=tcp", "actor.input_reader.count=2"}), expected);
  const Settings floats = {"gradient.codec=none", "optimizer.name=nesterov"};
  EXPECT_EQ(hash(floats), oracle(floats));
}

// What it has nobody else has: all go on from the newest checkpoint.
TEST_F(RunHash, WhereTheWorkerWithoutServersIsKilledItIsTheSame) {
  const std::string expected = oracle({});
  write("job.toml", without_servers());
  Arguments arguments =
      with({"checkpoint.every_steps=5", "gradient.scaler=last_step",
            "inject.fault=[{at_step = 12, actor = \"worker0\", kind = \"kill\"}]"});
  arguments.insert(arguments.end(), {"--json", "--run-dir", "killed"});
  const std::string last_step = oracle({"gradient.scaler=last_step"});
  EXPECT_NE(last_step, expected);
  SternaProgram& program = run(arguments);
  EXPECT_EQ(hash_of(program), last_step);
  const auto result = nlohmann::json::parse(lines_of(program.out()).back(), nullptr, false);
  EXPECT_EQ(result.value("restarts", nlohmann::json::array()).size(), 1U) << program.out();
}

TEST_F(RunHash, WithoutACodecAllShapesAgreeAmongThemselves) {
  const std::string codec = "gradient.codec=none";
  const std::string expected = oracle({codec});
  EXPECT_NE(expected, oracle({}));
  EXPECT_EQ(hash({codec}), expected);
  EXPECT_EQ(hash({codec, "cluster.transport=tcp", "actor.parameter_server.count=2",
                  "actor.input_reader.count=2"}),
            expected);
  EXPECT_EQ(hash({codec, "actor.worker.count=1", "actor.worker.ranks=2"}), expected);
}

TEST_F(RunHash, WhatAutoHasChosenCanBeRunAgain) {
  const Settings automatic = {"gradient.codec=auto", "gradient.scaler=last_step",
                              "gradient.down=average"};
  Arguments arguments = with(automatic);
  arguments.insert(arguments.end(), {"--json", "--run-dir", "first"});
  SternaProgram& first = run(arguments);
  const std::string expected = hash_of(first);
  EXPECT_THAT(first.err(), testing::ContainsRegex("codec auto: .* for [0-9]+ tensor"));
  const auto resolved = launcher::read_cluster_file(path("first/resolved.toml"));
  ASSERT_TRUE(resolved.ok()) << resolved.error().message;
  EXPECT_NE(resolved->gradient.codec, "auto");
  EXPECT_EQ(resolved->gradient.tensors.size(), 8U);
  EXPECT_EQ(hash_of(sterna({"run", "first/resolved.toml", "--json"})), expected);
}

}  // namespace
}  // namespace sterna::test
