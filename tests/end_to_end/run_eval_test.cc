// What is said of a run's checkpoints beside it and after it: the numbers of its own evaluator.
#include <filesystem>
#include <map>
#include <tuple>

#include "actors/evaluator/evaluation.h"
#include "input/pictures/encode.h"
#include "nets/net.h"
#include "nets/weights/weights_file.h"
#include "tests/end_to_end/run_test.h"

namespace sterna::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// What a line of JSON has of a key, as it stands there: two numbers of the same text are the same
/// bits.
std::string text_of(const std::string& line, const std::string& key) {
  const std::string before = "\"" + key + "\":";
  const std::size_t at = line.find(before);
  if (at == std::string::npos) return "no " + key;
  const std::size_t begin = at + before.size();
  return line.substr(begin, line.find_first_of(",}", begin) - begin);
}

/// By step, subset, and what was evaluated.
using Which = std::tuple<std::string, std::string, std::string>;
using Numbers = std::vector<std::string>;

Numbers numbers_of(const std::string& line) {
  Numbers numbers;
  for (const char* key : {"precision_at_1", "recall_at_5", "loss", "examples"}) {
    numbers.push_back(text_of(line, key));
  }
  return numbers;
}

class RunEval : public RunTest {
 protected:
  /// A run that keeps averages and every version that it evaluates.
  SternaProgram& kept_run() {
    Arguments arguments =
        with({"optimizer.average_decay=0.9", "evaluator.of=both",
              "evaluator.subsets=[\"test\", \"train\"]", "evaluator.train_examples=60",
              "checkpoint.every_steps=10", "checkpoint.keep=10"});
    arguments.insert(arguments.end(), {"--run-dir", "run"});
    return run(arguments);
  }
  std::string said(const Arguments& arguments) {
    SternaProgram& program = sterna(arguments);
    EXPECT_EQ(program.exit_code(kPatience), 0) << program.story();
    return program.out();
  }
  /// The hash of a file's tensors, as a result has it.
  std::string hash_of(const std::string& file) const {
    const auto weights = nets::read_safetensors(path(file)).value();
    const auto net = nets::make_net({.name = "lenet", .batch = 1}).value();
    for (std::size_t t = 0; t < net->parameters().size(); ++t) {
      std::ranges::copy(weights.tensors[t].values, net->parameter(t).begin());
    }
    return actors::parameters_sha256(*net).value();
  }
};

TEST_F(RunEval, EveryNumberOfTheEvaluatorIsThatOfTheCheckpointOfItsStep) {
  SternaProgram& program = kept_run();
  ASSERT_EQ(program.exit_code(kPatience), 0) << program.story();
  std::map<Which, Numbers> live;
  for (const std::string& line : lines_of(content_of(path("run/metrics.jsonl")))) {
    if (text_of(line, "kind") != "\"evaluation\"") continue;
    live[{text_of(line, "step"), text_of(line, "subset"), text_of(line, "of")}] = numbers_of(line);
  }
  ASSERT_EQ(live.size(), 12U);
  // A version that was due while another was being written has none.
  std::erase_if(live, [&](const auto& one) {
    const std::string& step = std::get<0>(one.first);
    return !std::filesystem::exists(path("run/checkpoints/step-0000000" + step));
  });
  ASSERT_GE(live.size(), 4U) << program.story();
  std::map<Which, Numbers> afterwards;
  for (const auto& [which, numbers] : live) {
    const auto& [step, subset, of] = which;
    for (const std::string& line : lines_of(
             said({"eval", "--checkpoint", "run/checkpoints/step-0000000" + step, "--subset",
                   subset.substr(1, subset.size() - 2), "--examples", numbers[3], "--json"}))) {
      afterwards[{text_of(line, "steps"), text_of(line, "subset"), text_of(line, "of")}] =
          numbers_of(line);
    }
  }
  EXPECT_EQ(afterwards, live);
}

TEST_F(RunEval, WhoFollowsARunHearsOfEveryCheckpointAndOfTheEnd) {
  SternaProgram& follower = sterna({"eval", "--checkpoint", "run", "--follow", "--examples", "20",
                                    "--json", "--data", digits()});
  ASSERT_TRUE(eventually(kPatience, [&] { return !follower.err().empty(); })) << follower.story();
  EXPECT_THAT(follower.err(), HasSubstr("run: waiting for its first checkpoint"));
  SternaProgram& program = kept_run();
  ASSERT_EQ(program.exit_code(kPatience), 0) << program.story();
  ASSERT_EQ(follower.exit_code(kPatience), 0) << follower.story();
  std::vector<std::string> told;
  for (const std::string& line : lines_of(follower.out())) {
    told.push_back(text_of(line, "steps") + " " + text_of(line, "of"));
  }
  // A version that was due while another was being written has none.
  std::vector<std::string> there;
  for (const char* step : {"10", "20", "30"}) {
    const std::string folder = path("run/checkpoints/step-0000000" + std::string(step));
    if (!std::filesystem::exists(folder + "/manifest.json")) continue;
    for (const char* of : {" \"parameters\"", " \"averages\""})
      there.push_back(step + std::string(of));
  }
  EXPECT_EQ(told, there) << program.story();
  ASSERT_FALSE(there.empty());
  EXPECT_EQ(there.back(), "30 \"averages\"");
}

TEST_F(RunEval, CtrlCEndsWhoFollows) {
  SternaProgram& follower = sterna({"eval", "--checkpoint", "run", "--follow"});
  ASSERT_TRUE(eventually(kPatience, [&] { return !follower.err().empty(); })) << follower.story();
  follower.interrupt();
  EXPECT_EQ(follower.exit_code(kPatience), 130) << follower.story();
}

TEST_F(RunEval, ACheckpointAndARunAnswerAsWeightsDo) {
  SternaProgram& program = kept_run();
  ASSERT_EQ(program.exit_code(kPatience), 0) << program.story();
  said({"export", "run", "--to", "safetensors", "--into", "averages.safetensors"});
  EXPECT_TRUE(content_of(path("averages.safetensors")) ==
              content_of(path("run/weights.safetensors")));
  said({"export", "run", "--to", "safetensors", "--raw", "--into", "raw.safetensors"});
  EXPECT_EQ(hash_of("raw.safetensors"), result()["parameters_sha256"]);
  said({"export", "run/checkpoints/step-000000030", "--to", "safetensors"});
  EXPECT_TRUE(content_of(path("run/step-000000030.safetensors")) ==
              content_of(path("run/weights.safetensors")));
  std::string best;
  for (const std::string& line : lines_of(said({"checkpoints", "run", "--json"}))) {
    if (text_of(line, "best") == "true") best = text_of(line, "step");
  }
  EXPECT_THAT(said({"eval", "--checkpoint", "run", "--best", "--averaged", "--json"}),
              HasSubstr("\"steps\":" + best + ",\"of\":\"averages\""));
  EXPECT_THAT(said({"eval", "--weights", "run", "--best", "--raw", "--json"}),
              HasSubstr("\"steps\":" + best + ",\"of\":\"parameters\""));
  const input::Picture grey{{28, 28, 1}, std::vector<std::uint8_t>(784, 100)};
  const std::vector<std::uint8_t> png = input::encode_png(grey).value();
  write("grey.png", {png.begin(), png.end()});
  const auto told = nlohmann::json::parse(
      said({"predict", "--weights", "run/checkpoints/step-000000010", "--json", "grey.png"}));
  EXPECT_EQ(told["net"], "lenet");
  EXPECT_EQ(told["steps"], 10);
  std::filesystem::remove(path("run/weights.safetensors"));
  SternaProgram& line = sterna({"eval", "--weights", "run"});
  EXPECT_EQ(line.exit_code(kPatience), 0) << line.story();
  EXPECT_THAT(line.out(), HasSubstr("lenet, averages, step 30, run/checkpoints/step-000000030\n"));
}

TEST_F(RunEval, WhatItCannotEvaluateIsSaidInALine) {
  const auto refusal = [&](const Arguments& arguments) {
    SternaProgram& program = sterna(arguments);
    EXPECT_EQ(program.exit_code(kPatience), 2) << program.story();
    EXPECT_EQ(lines_of(program.err()).size(), 1U) << program.err();
    return program.err();
  };
  EXPECT_THAT(refusal({"eval"}), HasSubstr("either --weights or --checkpoint"));
  EXPECT_THAT(refusal({"eval", "--checkpoint", "nowhere"}), HasSubstr("nowhere: there is no such"));
  EXPECT_THAT(refusal({"eval", "--checkpoint", "job.toml", "--follow"}),
              HasSubstr("to follow a run takes its directory"));
  EXPECT_THAT(refusal({"eval", "--checkpoint", "."}), HasSubstr("there is no checkpoint"));
  EXPECT_THAT(refusal({"eval", "--weights", "."}), HasSubstr("has no weights.safetensors"));
}

}  // namespace
}  // namespace sterna::test
