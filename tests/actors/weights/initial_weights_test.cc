#include "actors/weights/initial_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "nets/describe_net.h"
#include "nets/weights/torchvision_names.h"
#include "nets/weights/weights_file.h"
#include "tests/actors/weights/kept_state.h"
#include "tests/temporary_folder.h"

namespace sterna::actors {
namespace {

using nets::ParameterSpec;
using testing::ElementsAre;
using testing::HasSubstr;

class InitialWeightsTest : public testing::Test {
 protected:
  InitialWeightsTest() {
    job.net = "lenet";
    job.init.from = folder_ / "some.safetensors";
  }
  std::vector<ParameterSpec> table() const {
    return nets::describe_net(net_options(job)).value().parameters;
  }
  /// A file of such tensors, each full of its own number: 1, 2, …
  void write(const std::vector<ParameterSpec>& specs) {
    std::vector<std::vector<float>> values;
    std::vector<std::span<const float>> views;
    values.reserve(specs.size());
    for (const ParameterSpec& spec : specs) {
      values.emplace_back(spec.count(), static_cast<float>(values.size() + 1));
      views.emplace_back(values.back());
    }
    ASSERT_TRUE(nets::write_safetensors(job.init.from, specs, views, {}).ok());
  }
  std::string refusal() const {
    const auto opened = InitialWeights::open(job, table());
    if (opened) return "";
    EXPECT_THAT(opened.error().message, testing::Not(HasSubstr("\n")));
    EXPECT_THAT(opened.error().message, testing::StartsWith("init.from: "));
    return opened.error().message;
  }

  TemporaryFolder folder_;
  JobConfig job;
};

TEST_F(InitialWeightsTest, MeetTheNetsByTheirNames) {
  write({{.name = "fc3/biases", .shape = {500}},
         {.name = "other", .shape = {3}},
         {.name = "logits/weights", .shape = {10, 500}},
         {.name = "conv1/biases", .shape = {20}}});
  job.init.skip = {"logits"};
  const auto weights = InitialWeights::open(job, table());
  ASSERT_TRUE(weights.ok()) << weights.error().message;
  EXPECT_THAT(weights->match().taken, ElementsAre("conv1/biases", "fc3/biases"));
  EXPECT_THAT(weights->match().left, ElementsAre("other", "logits/weights"));
  EXPECT_THAT(weights->match().drawn,
              ElementsAre("conv1/weights", "conv2/weights", "conv2/biases", "fc3/weights",
                          "logits/weights", "logits/biases"));
  EXPECT_EQ(weights->match().elements_taken, 520U);
  std::vector<float> values(3, -1);
  ASSERT_TRUE(weights->read(5, 7, values).ok());
  EXPECT_THAT(values, ElementsAre(1, 1, 1));
  ASSERT_TRUE(weights->read(6, 0, values).ok());
  EXPECT_THAT(values, ElementsAre(1, 1, 1));  // as they were: logits are drawn
}

TEST_F(InitialWeightsTest, AreToldInAFewLinesAndListedWhole) {
  write({{.name = "fc3/biases", .shape = {500}}, {.name = "other", .shape = {3}}});
  const auto weights = InitialWeights::open(job, table()).value();
  const std::vector<std::string> lines = summary(weights);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0], "init.from: 1 tensors, 500 numbers, from " + weights.path());
  EXPECT_EQ(lines[1],
            "init.from: 7 drawn from the seed: conv1/weights, conv1/biases, conv2/weights, …");
  EXPECT_EQ(lines[2], "init.from: 1 of the file left out: other");
  EXPECT_EQ(listing(weights).size(), 3U + 1 + 7 + 1);
}

TEST_F(InitialWeightsTest, OfAnotherShapeAreRefusedByTheirNames) {
  write({{.name = "conv1/biases", .shape = {20}}, {.name = "logits/weights", .shape = {5, 500}}});
  EXPECT_THAT(refusal(),
              HasSubstr("\"logits/weights\" {10, 500} is \"logits/weights\" {5, 500} in "));
  EXPECT_THAT(refusal(), HasSubstr("init.skip = [\"logits\"]"));
  job.init.skip = {"logits"};
  EXPECT_EQ(refusal(), "");
}

TEST_F(InitialWeightsTest, OfAnotherNetAreRefusedByTheFirstTensorThatDiffers) {
  write({{.name = "features.0.bias", .shape = {64}},
         {.name = "features.10.weight", .shape = {20, 1, 5, 5}},
         {.name = "features.2.weight", .shape = {64, 3, 11, 11}}});
  EXPECT_THAT(refusal(), HasSubstr("has none of the tensors that lenet would take: where it has "
                                   "\"features.2.weight\" {64, 3, 11, 11}, ours has "
                                   "\"conv1/weights\" {20, 1, 5, 5}"));
}

TEST_F(InitialWeightsTest, OfOtherElementTypesAreRefusedWhereTheNetWantsThem) {
  const std::string header =
      R"({"conv1/biases":{"dtype":"I64","shape":[20],"data_offsets":[0,160]}})";
  const std::uint64_t length = header.size();
  std::ofstream out(job.init.from, std::ios::binary);
  out.write(reinterpret_cast<const char*>(&length), sizeof length);
  out << header << std::string(160, '\0');
  out.close();
  EXPECT_THAT(refusal(), HasSubstr("is of type I64; F32, F16 and BF16 are read"));
}

TEST_F(InitialWeightsTest, ThatAreNoNumbersAreRefused) {
  const std::vector<ParameterSpec> specs{{.name = "conv1/biases", .shape = {20}}};
  std::vector<float> values(20);
  values[11] = std::nanf("");
  const std::span<const float> view = values;
  ASSERT_TRUE(nets::write_safetensors(job.init.from, specs, std::span(&view, 1), {}).ok());
  const auto weights = InitialWeights::open(job, table()).value();
  const auto read = weights.read(1, 10, std::span(values).first(5));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, Errc::non_finite);
  EXPECT_THAT(read.error().message, HasSubstr("element 11 of \"conv1/biases\" {20}"));
}

TEST_F(InitialWeightsTest, ThatAreNotThereOrDamagedAreSaidToBe) {
  EXPECT_THAT(refusal(), HasSubstr("this host has no "));
  job.data.dir = folder_.path() + "/data";
  EXPECT_THAT(refusal(), HasSubstr(" and no " + job.data.dir + "/some.safetensors"));
  std::ofstream(job.init.from) << "no weights at all";
  EXPECT_THAT(refusal(), HasSubstr("not a valid safetensors file"));
}

/// torchvision's tensors of the job's net, with one changed.
class TorchvisionWeightsTest : public InitialWeightsTest {
 protected:
  TorchvisionWeightsTest() {
    job.init.names = kTorchvisionNames;
    job.picture = {299, 299, 3};
    job.classes = 5;
  }
  std::vector<ParameterSpec> theirs() const {
    std::vector<ParameterSpec> specs = table();
    for (ParameterSpec& spec : specs) {
      spec.name = nets::torchvision_name(job.net, spec.name).value_or("?");
      spec.stddev = 0;
    }
    return specs;
  }
};

TEST_F(TorchvisionWeightsTest, MeetOursByTheirMap) {
  for (const char* net : {"resnet_50", "inception_v3"}) {
    job.net = net;
    job.net_choices.bn_scale = true;
    write(theirs());
    const auto weights = InitialWeights::open(job, table());
    ASSERT_TRUE(weights.ok()) << weights.error().message;
    EXPECT_EQ(weights->match().taken.size(), table().size());
    EXPECT_TRUE(weights->match().left.empty());
  }
}

TEST_F(TorchvisionWeightsTest, LackingOneAreRefused) {
  job.net = "resnet_50";
  std::vector<ParameterSpec> specs = theirs();
  specs.erase(specs.begin() + 3);
  write(specs);
  EXPECT_THAT(refusal(), HasSubstr("has no \"layer1.0.conv1.weight\", which is "
                                   "\"block1_1/conv1/weights\" {64, 64, 1, 1} of resnet_50"));
}

TEST_F(TorchvisionWeightsTest, WithOneMoreAreRefused) {
  job.net = "inception_v3";
  job.net_choices.bn_scale = true;
  write(theirs());
  job.net_choices.bn_scale = false;
  EXPECT_THAT(refusal(), HasSubstr("set net.bn_scale = true"));
}

TEST_F(TorchvisionWeightsTest, OfNetsThatAreNotOursAreRefused) {
  job.net = "alexnet";
  job.picture = {224, 224, 3};
  write({{.name = "features.0.weight", .shape = {64, 3, 11, 11}},
         {.name = "features.0.bias", .shape = {64}}});
  EXPECT_THAT(refusal(), HasSubstr("is another net than alexnet: where it has "
                                   "\"features.0.weight\" {64, 3, 11, 11}, ours has "
                                   "\"conv1_1/weights\" {48, 3, 11, 11}; of torchvision's nets "
                                   "those are ours that train as resnet_50 and inception_v3"));
}

TEST(TorchvisionNames, AreTheirs) {
  const auto of = [](const char* net, const char* tensor) {
    return nets::torchvision_name(net, tensor).value_or("");
  };
  EXPECT_EQ(of("resnet_50", "conv1/weights"), "conv1.weight");
  EXPECT_EQ(of("resnet_50", "conv1/gamma"), "bn1.weight");
  EXPECT_EQ(of("resnet_50", "block2_3/conv1/mean"), "layer2.2.bn1.running_mean");
  EXPECT_EQ(of("resnet_50", "block1_1/shortcut/weights"), "layer1.0.downsample.0.weight");
  EXPECT_EQ(of("resnet_50", "block1_1/shortcut/variance"), "layer1.0.downsample.1.running_var");
  EXPECT_EQ(of("resnet_50", "logits/biases"), "fc.bias");
  EXPECT_EQ(of("inception_v3", "conv3/weights"), "Conv2d_3b_1x1.conv.weight");
  EXPECT_EQ(of("inception_v3", "mixed_768d/b2e/beta"), "Mixed_6d.branch7x7dbl_5.bn.bias");
  EXPECT_EQ(of("inception_v3", "aux/conv/gamma"), "AuxLogits.conv1.bn.weight");
  EXPECT_EQ(of("inception_v3", "aux/logits/weights"), "AuxLogits.fc.weight");
  EXPECT_EQ(of("inception_v3", "mixed_768d/b9/beta"), "");
  EXPECT_EQ(of("resnet_50", "block1_0/conv1/mean"), "");
  EXPECT_EQ(of("lenet", "conv1/weights"), "");
}

/// A run's directory with two checkpoints, of whose two tensors one is in two pieces.
void keep_checkpoints(const std::string& run) {
  keep_state(run, 3, {piece_of(kParameterState, "fc3/biases", 0, std::vector<float>(500, 9))});
  keep_state(run, 7,
             {piece_of(kParameterState, "fc3/biases", 0, std::vector<float>(300, 1)),
              piece_of(kParameterState, "fc3/biases", 300, std::vector<float>(200, 2)),
              piece_of(kParameterState, "conv1/biases", 0, std::vector<float>(20, 3))});
}

TEST_F(InitialWeightsTest, AreTakenOfTheNewestCheckpointOfARun) {
  job.init.from = folder_ / "run";
  keep_checkpoints(job.init.from);
  const auto weights = InitialWeights::open(job, table());
  ASSERT_TRUE(weights.ok()) << weights.error().message;
  EXPECT_EQ(weights->path(), job.init.from + "/checkpoints/step-000000007");
  EXPECT_THAT(weights->match().taken, ElementsAre("conv1/biases", "fc3/biases"));
  std::vector<float> values(4);
  ASSERT_TRUE(weights->read(5, 298, values).ok());
  EXPECT_THAT(values, ElementsAre(1, 1, 2, 2));
}

TEST_F(InitialWeightsTest, OfACheckpointAreRefusedInAnotherSize) {
  job.init.from = folder_ / "run";
  keep_checkpoints(job.init.from);
  std::vector<ParameterSpec> specs = table();
  specs[1].shape = {30};
  const auto opened = InitialWeights::open(job, specs);
  ASSERT_FALSE(opened.ok());
  EXPECT_THAT(opened.error().message,
              HasSubstr("\"conv1/biases\" {30} is \"conv1/biases\" {20} in "));
}

TEST_F(InitialWeightsTest, AreNotLookedForElsewhereWhereAFolderHasNone) {
  job.init.from = folder_ / "run";
  std::filesystem::create_directory(job.init.from);
  const auto opened = InitialWeights::open(job, table());
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, Errc::invalid_argument);
  EXPECT_THAT(opened.error().message, HasSubstr(job.init.from + " has no weights.safetensors: "));
}

}  // namespace
}  // namespace sterna::actors
