// What a run that went well leaves for people and programs: its last line, its folder, its weights.
#include "actors/evaluator/evaluation.h"
#include "nets/net.h"
#include "nets/weights/weights_file.h"
#include "tests/end_to_end/run_test.h"

namespace sterna::test {
namespace {

class RunResultTest : public RunTest {
 protected:
  nlohmann::json run_to_the_end(const Arguments& more = {}) {
    Arguments arguments = {"--json", "--run-dir", "run"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    SternaProgram& program = run(arguments);
    EXPECT_EQ(program.exit_code(kPatience), 0) << program.story();
    const std::vector<std::string> lines = lines_of(program.out());
    return lines.empty() ? nlohmann::json() : nlohmann::json::parse(lines.back(), nullptr, false);
  }
};

TEST_F(RunResultTest, TheLastLineIsTheResultWithEveryKeyAndResultJsonIsTheSame) {
  const nlohmann::json json = run_to_the_end();
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json, result());
  for (const char* key : {"run",
                          "exit",
                          "steps",
                          "first_step",
                          "job",
                          "workers",
                          "ranks",
                          "data",
                          "data_dir",
                          "codec",
                          "security",
                          "isa",
                          "seconds",
                          "seconds_to_first_step",
                          "evaluations",
                          "examples_per_second",
                          "loss",
                          "precision_at_1",
                          "bits_per_ternarized_element_up",
                          "bits_per_element_up",
                          "bits_per_element_down",
                          "bytes_up",
                          "bytes_down",
                          "coded_bytes_up",
                          "coded_bytes_down",
                          "parameters_sha256"}) {
    EXPECT_TRUE(json.contains(key) && !json[key].is_null()) << key;
  }
  EXPECT_LT(json["coded_bytes_up"], json["bytes_up"]);
  EXPECT_LT(json["coded_bytes_down"], json["bytes_down"]) << "pictures come down, too";
  EXPECT_EQ(json["run"], "run");
  EXPECT_EQ(json["exit"], 0);
  EXPECT_EQ(json["steps"], 30);
  EXPECT_EQ(json["workers"], 2);
  EXPECT_EQ(json["ranks"], 2);
  EXPECT_EQ(json["codec"], "ternary");
  EXPECT_EQ(json["first_step"], 0);
  EXPECT_EQ(json["job"]["net"], "lenet");
  EXPECT_EQ(json["job"]["steps"], 30);
  EXPECT_EQ(json["job"]["scheme"], "sync");
  EXPECT_LE(json["bits_per_ternarized_element_up"].get<double>(), 2.05);
  EXPECT_LE(json["bits_per_element_up"].get<double>(), 2.25);
  EXPECT_EQ(json["bits_per_element_down"], 32);
  EXPECT_GT(json["loss"].get<double>(), 0);
  EXPECT_GT(json["seconds"].get<double>(), 0);

  std::vector<std::pair<int, int>> evaluations;
  for (const auto& one : json["evaluations"]) {
    evaluations.emplace_back(one["step"], one["examples"]);
    EXPECT_GT(one["seconds"].get<double>(), 0);
  }
  const int all = kFewDigits.test;
  EXPECT_EQ(evaluations, (std::vector<std::pair<int, int>>{{10, 100}, {20, 100}, {30, all}}));
  EXPECT_EQ(json["precision_at_1"], json["evaluations"].back()["precision_at_1"]);
  const auto status = nlohmann::json::parse(content_of(path("run/status.json")));
  EXPECT_EQ(status["elapsed_seconds"], json["seconds"]) << "stopping is no part of either";
}

TEST_F(RunResultTest, OverTcpItSaysHowItWasSecured) {
  const nlohmann::json json = run_to_the_end(with({"cluster.transport=tcp", "job.steps=2"}));
  EXPECT_EQ(json["security"], "curve");
  EXPECT_EQ(json["transport"], "tcp");
}

TEST_F(RunResultTest, TheFolderHasResolvedFileLogsMetricsWeightsAndResult) {
  run_to_the_end();
  for (const char* file :
       {"resolved.toml", "metrics.jsonl", "events.jsonl", "result.json", "status.json",
        "weights.safetensors", "confusion.csv", "logs/coordinator.log", "logs/node-localhost.log",
        "logs/server0.log", "logs/reader0.log", "logs/worker0.log", "logs/worker1.log",
        "logs/evaluator0.log"}) {
    EXPECT_TRUE(exists(std::string("run/") + file)) << file;
  }
  std::size_t entries = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(path("run"))) {
    ++entries;
  }
  EXPECT_EQ(entries, 8U);  // no temporary file is left

  std::map<std::string, int> kinds;
  int step = 0;
  for (const std::string& line : lines_of(content_of(path("run/metrics.jsonl")))) {
    const auto json = nlohmann::json::parse(line);
    ++kinds[json["kind"]];
    if (json["kind"] == "loss") {
      EXPECT_EQ(json["step"], kinds["loss"]) << "each step, in its order";
      EXPECT_GT(json["loss"], json["decay_loss"]);
      EXPECT_GT(json["decay_loss"], 0);
    }
    if (json["kind"] != "step") continue;
    EXPECT_GT(json["step"], step);
    step = json["step"];
    EXPECT_GT(json["learning_rate"], 0);
    EXPECT_GT(json["loss"], 0);
  }
  EXPECT_EQ(step, 30);
  EXPECT_EQ(kinds["run"], 1);
  EXPECT_EQ(kinds["loss"], 30);
  EXPECT_EQ(kinds["evaluation"], 3);
}

TEST_F(RunResultTest, TheResolvedFileTrainsTheSameNet) {
  const nlohmann::json json = run_to_the_end();
  SternaProgram& again =
      sterna({"run", "run/resolved.toml", "--data", digits(), "--run-dir", "again"});
  EXPECT_EQ(again.exit_code(kPatience), 0) << again.story();
  EXPECT_EQ(result("again")["parameters_sha256"], json["parameters_sha256"]);
}

TEST_F(RunResultTest, TheWeightsOnDiskAreThoseOfTheHash) {
  const nlohmann::json json = run_to_the_end();
  const auto weights = nets::read_safetensors(path("run/weights.safetensors"));
  ASSERT_TRUE(weights.ok()) << weights.error().message;
  const auto net = nets::make_net({.name = "lenet", .batch = 1});
  ASSERT_TRUE(net.ok());
  const auto& specs = (*net)->parameters();
  ASSERT_EQ(weights->tensors.size(), specs.size());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const nets::NamedTensor& tensor = weights->tensors[i];
    EXPECT_EQ(tensor.name, specs[i].name);
    ASSERT_EQ(tensor.values.size(), (*net)->parameter(i).size());
    std::copy(tensor.values.begin(), tensor.values.end(), (*net)->parameter(i).begin());
  }
  EXPECT_EQ(actors::parameters_sha256(**net).value(), json["parameters_sha256"]);
}

TEST_F(RunResultTest, WithoutJsonItSaysHowItWentInWords) {
  SternaProgram& program = run({"--run-dir", "run"});
  EXPECT_EQ(program.exit_code(kPatience), 0) << program.story();
  EXPECT_THAT(program.out(), testing::HasSubstr("step 30 of 30"));
  EXPECT_THAT(program.out(), testing::HasSubstr(" on digits after 30 steps"));
  EXPECT_THAT(program.out(), testing::HasSubstr("everything is in run"));
}

TEST_F(RunResultTest, WithoutARunDirectoryItMakesOneNamedAfterTheFile) {
  SternaProgram& program = run({"--set", "job.steps=1"});
  EXPECT_EQ(program.exit_code(kPatience), 0) << program.story();
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path("runs"))) {
    names.push_back(entry.path().filename().string());
  }
  ASSERT_EQ(names.size(), 1U);
  EXPECT_THAT(names.front(), testing::MatchesRegex("job-[0-9]+T[0-9]+Z"));
}

TEST_F(RunResultTest, SternaEvalSaysOfItsWeightsWhatTheRunSaidToTheLastBit) {
  const nlohmann::json json =
      run_to_the_end(with({"optimizer.average_decay=0.9", "evaluator.of=both",
                           "evaluator.subsets=[\"test\", \"train\"]",
                           "evaluator.train_examples=300", "evaluator.behind=skip"}));
  const nlohmann::json& evaluations = json["evaluations"];
  ASSERT_GE(evaluations.size(), 4U);
  EXPECT_EQ(json["precision_at_1"], evaluations.back()["precision_at_1"]);
  EXPECT_EQ(json["recall_at_5"], evaluations.back()["recall_at_5"]);
  const auto later = [&](const std::string& subset, const std::string& weights) {
    SternaProgram& program = sterna({"eval", "--weights", weights, "--subset", subset, "--data",
                                     digits(), "--json", "--confusion", path(subset + ".csv")});
    EXPECT_EQ(program.exit_code(kPatience), 0) << program.story();
    return nlohmann::json::parse(program.out(), nullptr, false);
  };
  // The last four: of parameters on train and test, of averages on train and test.
  for (const char* subset : {"train", "test"}) {
    const nlohmann::json& live =
        evaluations[evaluations.size() - (subset == std::string("train") ? 2 : 1)];
    const nlohmann::json found = later(subset, "run");
    EXPECT_EQ(live["step"], 30);
    EXPECT_EQ(live["of"], "averages");
    EXPECT_EQ(found["of"], "averages");
    for (const char* key : {"subset", "examples", "precision_at_1", "recall_at_5", "loss"}) {
      EXPECT_EQ(found[key], live[key]) << subset << " " << key;
    }
  }
  EXPECT_EQ(content_of(path("run/confusion.csv")), content_of(path("test.csv")));
  // From the file alone.
  std::filesystem::create_directory(path("elsewhere"));
  std::filesystem::copy_file(path("run/weights.safetensors"), path("elsewhere/w.safetensors"));
  EXPECT_EQ(later("test", "elsewhere/w.safetensors")["loss"], evaluations.back()["loss"]);
}

TEST_F(RunResultTest, SternaEvalComputesOnAsManyThreadsAsTheRunDid) {
  const nlohmann::json json = run_to_the_end(with({"job.threads=2", "job.steps=3"}));
  SternaProgram& program = sterna({"eval", "--weights", "run", "--json"});
  EXPECT_EQ(program.exit_code(kPatience), 0) << program.story();
  const auto found = nlohmann::json::parse(program.out(), nullptr, false);
  EXPECT_EQ(found["loss"], json["evaluations"].back()["loss"]);
}

}  // namespace
}  // namespace sterna::test
