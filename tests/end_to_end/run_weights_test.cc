// Runs that begin with the weights of others, and what is done with the weights that they leave.
#include <cstdint>
#include <filesystem>
#include <vector>

#include "input/pictures/encode.h"
#include "nets/weights/weights_file.h"
#include "tests/end_to_end/run_test.h"

namespace sterna::test {
namespace {

using testing::HasSubstr;

class RunWeightsTest : public RunTest {
 protected:
  void train(const Arguments& settings, const std::string& directory) {
    Arguments arguments = with(settings);
    arguments.insert(arguments.end(), {"--run-dir", directory});
    SternaProgram& program = run(arguments);
    ASSERT_EQ(program.exit_code(kPatience), 0) << program.story();
  }
};

TEST_F(RunWeightsTest, ARunGoesOnFromTheWeightsOfAnother) {
  train({}, "first");
  SternaProgram& second =
      run({"--run-dir", "second", "--set", "init.from=first/weights.safetensors", "--set",
           "init.skip=[\"logits\"]", "--set", "init.train_only=[\"logits\", \"fc3/biases\"]"});
  ASSERT_EQ(second.exit_code(kPatience), 0) << second.story();
  EXPECT_THAT(second.err(), HasSubstr("init.from: 6 tensors, 1251070 numbers, from " +
                                      path("first/weights.safetensors")));
  EXPECT_THAT(second.err(),
              HasSubstr("init.from: 2 drawn from the seed: logits/weights, logits/biases"));
  EXPECT_THAT(content_of(path("second/logs/server0.log")), HasSubstr("taken: conv2/biases"));
  const auto before = nets::read_safetensors(path("first/weights.safetensors")).value();
  const auto after = nets::read_safetensors(path("second/weights.safetensors")).value();
  ASSERT_EQ(after.tensors.size(), 8U);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(before.tensors[i].values == after.tensors[i].values, i < 5) << before.tensors[i].name;
  }
}

TEST_F(RunWeightsTest, WeightsThatDoNotFitAreRefusedBeforeAnythingStarts) {
  train({"data.classes=12"}, "first");
  SternaProgram& second =
      run({"--run-dir", "second", "--set", "init.from=first/weights.safetensors"});
  EXPECT_EQ(second.exit_code(kPatience), 2) << second.story();
  EXPECT_THAT(second.err(), HasSubstr("\"logits/weights\" {10, 500} is \"logits/weights\" {12, "
                                      "500} in "));
  EXPECT_FALSE(exists("second"));
  SternaProgram& check = sterna(
      {"check", "job.toml", "--data", digits(), "--set", "init.from=first/weights.safetensors"});
  EXPECT_EQ(check.exit_code(kPatience), 2) << check.story();
  EXPECT_THAT(check.err(), HasSubstr("\"logits/weights\" {12, 500} in "));
}

TEST_F(RunWeightsTest, OnePictureAndOneModelLeaveTheProgram) {
  train({}, "first");
  const input::Picture grey{{28, 28, 1}, std::vector<std::uint8_t>(784, 100)};
  const std::vector<std::uint8_t> png = input::encode_png(grey).value();
  write("grey.png", {png.begin(), png.end()});
  SternaProgram& predict =
      sterna({"predict", "--weights", "first/weights.safetensors", "--json", "grey.png"});
  ASSERT_EQ(predict.exit_code(kPatience), 0) << predict.story();
  const auto told = nlohmann::json::parse(predict.out());
  EXPECT_EQ(told["net"], "lenet");
  EXPECT_EQ(told["steps"], 30);
  EXPECT_EQ(told["pictures"][0]["top"].size(), 5U);
  SternaProgram& model = sterna({"export", "first/weights.safetensors", "--to", "onnx"});
  ASSERT_EQ(model.exit_code(kPatience), 0) << model.story();
  EXPECT_GT(std::filesystem::file_size(path("first/weights.onnx")), 1256080U * 4);
}

}  // namespace
}  // namespace sterna::test
