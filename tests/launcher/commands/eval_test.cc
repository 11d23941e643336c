// sterna eval: what it refuses. That its numbers are the run's, tests/end_to_end shows.
#include <array>

#include "actors/weights/model_note.h"
#include "kernels/device/host_device.h"
#include "launcher/commands/weights/evaluate_weights.h"
#include "launcher/view/confusion_csv.h"
#include "nets/net.h"
#include "nets/weights/weights_file.h"
#include "tests/actors/simulated_job.h"
#include "tests/launcher/commands/command_fixture.h"
#include "tests/launcher/one_of_each.h"

namespace sterna::launcher {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class EvalCommand : public CommandTest {
 protected:
  EvalCommand() {
    actors::write_small_dataset(data, 20, 30);
    write("resolved.toml", kOneOfEach + R"([job]
net = "mlp"
hidden = [4]
steps = 7
)");
  }
  /// Of a net with as many hidden units, without the last of its tensors if `less`: zeros, or
  /// multiples of `each` that differ.
  std::string weights(std::uint32_t hidden, bool less = false, float each = 0,
                      const nets::Metadata& says = {}) {
    const auto net = nets::make_net({.name = "mlp", .hidden = {hidden}, .batch = 1}).value();
    std::vector<nets::ParameterSpec> specs = net->parameters();
    if (less) specs.pop_back();
    std::vector<std::span<const float>> values;
    for (std::size_t t = 0; t < specs.size(); ++t) {
      const std::span<float> some = net->parameter(t);
      for (std::size_t i = 0; i < some.size(); ++i) {
        some[i] = each * (static_cast<float>(i * 37 % 11) - 5);
      }
      values.emplace_back(some);
    }
    std::string path = folder.path() + "/weights.safetensors";
    EXPECT_TRUE(nets::write_safetensors(path, specs, values, says).ok());
    return path;
  }
  /// That say what their classes are called.
  std::string weights_for(const std::vector<std::string>& classes) {
    actors::JobConfig job;
    job.net = "mlp";
    job.hidden = {4};
    job.picture = {28, 28, 1};
    job.classes = 10;
    return weights(4, false, 0, to_metadata(actors::note_of(job, 7, "mnist", {classes, 0})));
  }
  Said eval(const std::string& weights, std::vector<const char*> more = {}) {
    more.insert(more.begin(), {"eval", "--weights", weights.c_str(), "--data", data.c_str()});
    return sterna(more);
  }

  const std::string data = folder.path() + "/data";
};

TEST_F(EvalCommand, SaysHowGoodTheWeightsInAFolderAre) {
  weights(4);
  const std::string confusion = folder.path() + "/confusion.csv";
  const Said said = eval(folder.path(), {"--confusion", confusion.c_str()});
  EXPECT_EQ(said.exit, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("precision@1 0.0000, recall@5 0.0000, loss 2.3026 on 30 test "
                                  "examples of "));
  std::ifstream csv(confusion);
  std::string line;
  std::getline(csv, line);
  EXPECT_EQ(line, "label,0,1,2,3,4,5,6,7,8,9,none");
  write("data/labels.txt", "cat\ndog\nowl\n");
  const std::string named = folder.path() + "/named.csv";
  EXPECT_EQ(eval(folder.path(), {"--confusion", named.c_str()}).exit, 0);
  std::getline(std::ifstream(named), line);
  EXPECT_EQ(line, "label,\"cat\",\"dog\",\"owl\",3,4,5,6,7,8,9,none");
  EXPECT_THAT(eval(folder.path(), {"--subset", "train", "--json"}).out,
              HasSubstr("\"subset\":\"train\",\"examples\":20,"));
  EXPECT_THAT(eval(folder.path(), {"--examples", "7", "--json"}).out,
              HasSubstr("\"examples\":7,\"left_out_examples\":0,\"precision_at_1\":0.0,"));
}

TEST_F(EvalCommand, SaysTheSameOfADevice) {
  const std::string path = weights(4, false, 0.01F);
  const auto found = [&](std::shared_ptr<kernels::Device> device) {
    const auto opened = actors::TrainedWeights::open(path).value();
    EvaluateOptions options;
    options.data = data;
    options.device = std::move(device);
    return evaluate_weights(opened, options, {});
  };
  const auto cpu = found(nullptr);
  ASSERT_TRUE(cpu.ok()) << cpu.error().message;
  EXPECT_EQ(cpu->evaluation.examples, 30U);
  EXPECT_GT(cpu->evaluation.precision_at_1, 0);
  const auto device = found(kernels::make_host_device({.seed = 1, .hidden = true}));
  ASSERT_TRUE(device.ok()) << device.error().message;
  EXPECT_EQ(device->evaluation.precision_at_1, cpu->evaluation.precision_at_1);
  EXPECT_EQ(device->evaluation.recall_at_5, cpu->evaluation.recall_at_5);
  EXPECT_EQ(device->evaluation.confusion, cpu->evaluation.confusion);
  EXPECT_NEAR(device->evaluation.loss, cpu->evaluation.loss, 1e-5);
  const auto failed = found(kernels::make_host_device({.fails_after = 10}));
  ASSERT_FALSE(failed.ok());
  EXPECT_THAT(failed.error().message, HasSubstr("the host device has failed"));
}

TEST_F(EvalCommand, DoesNotFollowARunThatIsOver) {
  write("result.json", "{\"exit\":130,\"steps\":5,\"cause\":\"interrupted\"}");
  for (const std::string& path : {folder.path(), folder.path() + "/checkpoints/"}) {
    const Said said = sterna({"eval", "--checkpoint", path.c_str(), "--follow"});
    EXPECT_EQ(said.exit, 1);
    EXPECT_EQ(said.err, path +
                            ": there is no checkpoint to evaluate, and the run has ended at step "
                            "5: interrupted\n");
  }
}

// Nobody builds the module beside this test.
TEST_F(EvalCommand, ComputesOnNoOtherDeviceThanThatItIsTold) {
  const Said none = eval(weights(4), {"--device", "cuda"});
  EXPECT_EQ(none.exit, 1);
  EXPECT_THAT(none.err, AllOf(testing::StartsWith("--device cuda: "),
                              HasSubstr("libsterna_cuda.so is not there")));
  EXPECT_EQ(none.out, "");
  const Said unknown = eval(weights(4), {"--device", "cuda:first"});
  EXPECT_EQ(unknown.exit, 2);
  EXPECT_THAT(unknown.err, HasSubstr("\"cuda:first\" is no device; say cpu"));
}

TEST_F(EvalCommand, RefusesInALineWhatIsNotOfTheNet) {
  const Said narrow = eval(weights(3));
  EXPECT_EQ(narrow.exit, 2);
  EXPECT_THAT(narrow.err,
              HasSubstr("mlp has \"fc1/weights\" {4, 784}, and the file's is {3, 784}\n"));
  EXPECT_THAT(eval(weights(4, true)).err, HasSubstr("mlp has \"logits/biases\" {10}, and the "
                                                    "file has none\n"));
  const std::string path = weights(4);
  write("other.toml", "format = 2");
  const std::string other = folder.path() + "/other.toml";
  EXPECT_THAT(eval(path, {"--config", other.c_str()}).err, HasSubstr("other.toml"));
}

TEST_F(EvalCommand, RefusesDataWhoseClassesAreOthersOrInAnotherOrder) {
  write("data/labels.txt", "cat\ndog\nowl\n");
  EXPECT_EQ(eval(weights_for({"cat", "dog", "owl"})).exit, 0);
  EXPECT_EQ(eval(weights_for({})).exit, 0) << "nobody says";
  const std::string path = weights_for({"cat", "owl", "dog"});
  const Said swapped = eval(path, {"--json"});
  EXPECT_EQ(swapped.exit, 2);
  EXPECT_EQ(swapped.out, "");
  EXPECT_EQ(swapped.err, "class 1 is \"owl\" in " + path + " and \"dog\" in " + data +
                             "; evaluate the weights on data of the same classes, in the same "
                             "order\n");
  std::filesystem::remove(folder.path() + "/resolved.toml");
  EXPECT_EQ(eval(path).exit, 2) << "nor by what the weights say of themselves alone";
  std::filesystem::remove(data + "/labels.txt");
  EXPECT_EQ(eval(path).exit, 0) << "the data do not say";
}

TEST_F(EvalCommand, SaysHowToNameDataThatLieElsewhereThanWhereTheRunHadThem) {
  weights(4);
  std::ofstream(folder.path() + "/resolved.toml", std::ios::app) << "[data]\ndir = \"/no/such\"\n";
  const Said said = sterna({"eval", "--weights", folder.path().c_str()});
  EXPECT_EQ(said.exit, 2);
  EXPECT_THAT(said.err, AllOf(HasSubstr("/no/such does not exist"),
                              HasSubstr("; or say with --data where it is\n")));
  EXPECT_EQ(eval(folder.path()).exit, 0);
}

TEST_F(EvalCommand, WithoutAClusterFileTheWeightsMustSayWhatTheyAre) {
  const std::string path = weights(4);
  ASSERT_TRUE(std::filesystem::remove(folder.path() + "/resolved.toml"));
  const Said said = eval(path);
  EXPECT_EQ(said.exit, 2);
  EXPECT_THAT(said.err, HasSubstr("without a cluster file (--config): " + path));
}

}  // namespace
}  // namespace sterna::launcher
