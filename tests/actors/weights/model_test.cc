#include "actors/weights/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "actors/weights/export.h"
#include "kernels/device/host_device.h"
#include "tests/actors/weights/written_model.h"
#include "tests/temporary_folder.h"

namespace sterna::actors {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;

class ModelTest : public testing::Test {
 protected:
  ModelTest() { write_small_model(path()); }
  std::string path() const { return folder_ / "weights.safetensors"; }
  TrainedWeights opened() const { return TrainedWeights::open(path()).value(); }
  std::string refusal() const {
    const auto loaded = Model::load(opened());
    if (loaded) return "";
    EXPECT_THAT(loaded.error().message, testing::Not(HasSubstr("\n")));
    EXPECT_THAT(loaded.error().message, testing::StartsWith(path() + ": "));
    return loaded.error().message;
  }
  TemporaryFolder folder_;
};

TEST_F(ModelTest, AnswersFromTheFileAlone) {
  Model model = Model::load(opened()).value();
  EXPECT_EQ(model.note(), small_note());
  const std::array<std::uint8_t, 4> pixels{255, 255, 255, 0};  // 1, 1, 1 and -1
  const auto logits = model.logits({.bytes = pixels, .shape = {2, 2, 1}});
  ASSERT_TRUE(logits.ok()) << logits.error().message;
  EXPECT_THAT(*logits, ElementsAre(FloatNear(0, 1e-6F), FloatNear(2, 1e-6F), FloatNear(3, 1e-6F)));
  const std::vector<double> probabilities = softmax(*logits);
  const double sum = 1 + std::exp(2.0) + std::exp(3.0);
  EXPECT_NEAR(probabilities[1], std::exp(2.0) / sum, 1e-6);
  EXPECT_NEAR(probabilities[0] + probabilities[1] + probabilities[2], 1, 1e-12);
}

TEST_F(ModelTest, AnswersOnADeviceToo) {
  const std::shared_ptr<kernels::Device> device =
      kernels::make_host_device({.seed = 1, .hidden = true});
  Model model = Model::load(opened(), device).value();
  const std::array<std::uint8_t, 4> pixels{255, 255, 255, 0};
  const auto logits = model.logits({.bytes = pixels, .shape = {2, 2, 1}});
  ASSERT_TRUE(logits.ok()) << logits.error().message;
  EXPECT_THAT(*logits, ElementsAre(FloatNear(0, 1e-6F), FloatNear(2, 1e-6F), FloatNear(3, 1e-6F)));
}

TEST_F(ModelTest, SaysWhatFailsOnADevice) {
  const auto failing = [this](const kernels::HostDeviceOptions& options) -> std::string {
    Result<Model> model = Model::load(opened(), kernels::make_host_device(options));
    if (!model) return model.error().message;
    const std::array<std::uint8_t, 4> pixels{255, 255, 255, 0};
    const auto logits = model->logits({.bytes = pixels, .shape = {2, 2, 1}});
    return logits ? "answered" : logits.error().message;
  };
  EXPECT_THAT(failing({.memory = 100}), HasSubstr("that the host device has free"));
  EXPECT_THAT(failing({.fails_after = 5}), HasSubstr("the host device has failed"));
}

TEST_F(ModelTest, RefusesAFileThatLacksATensor) {
  ModelNote deeper = small_note();
  deeper.job.hidden = {4};
  write_small_model(path(), deeper);
  EXPECT_THAT(refusal(), HasSubstr("has \"fc1/weights\" {4, 4}, and the file has none"));
}

TEST_F(ModelTest, RefusesTensorsOfOtherShapes) {
  ModelNote wider = small_note();
  wider.columns = 3;
  write_small_model(path(), wider);
  EXPECT_THAT(refusal(), HasSubstr("has \"logits/weights\" {3, 6}, and the file's is {3, 4}"));
}

TEST_F(ModelTest, RefusesAVastNetBeforeMemoryIsTaken) {
  ModelNote vast = small_note();
  vast.job.hidden.assign(64, 65536);
  write_small_model(path(), vast);
  EXPECT_THAT(refusal(), HasSubstr("the file has none"));
}

TEST_F(ModelTest, RefusesLogitsThatAreNotFinite) {
  const auto table = nets::describe_net(small_note().net(1)).value().parameters;
  const std::vector<float> weights(12, std::nanf("")), biases(3);
  const std::vector<std::span<const float>> values{weights, biases};
  ASSERT_TRUE(nets::write_safetensors(path(), table, values, to_metadata(small_note())).ok());
  Model model = Model::load(opened()).value();
  const std::array<std::uint8_t, 4> pixels{};
  const auto logits = model.logits({.bytes = pixels, .shape = {2, 2, 1}});
  ASSERT_FALSE(logits.ok());
  EXPECT_EQ(logits.error().code, Errc::non_finite);
}

TEST(Likeliest, HasTheLowerOfEqualClassesFirst) {
  EXPECT_THAT(likeliest({1, 3, 2, 3}, 3), ElementsAre(1U, 3U, 2U));
  EXPECT_THAT(likeliest({1, 3}, 5), ElementsAre(1U, 0U));
}

class ExportTest : public ModelTest {
 protected:
  static std::string contents(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

TEST_F(ExportTest, WritesEachForm) {
  for (const WeightsForm& form : weights_forms()) {
    const std::string into = folder_ / ("out" + std::string(form.extension));
    const auto done = export_weights(opened(), form.name, into);
    ASSERT_TRUE(done.ok()) << done.error().message;
    EXPECT_GT(std::filesystem::file_size(into), 60U) << form.name;
  }
  EXPECT_EQ(contents(folder_ / "out.safetensors"), contents(path()));
}

TEST_F(ExportTest, LeavesWhatIsThereWhereItFails) {
  const std::string into = folder_ / "out.onnx";
  std::ofstream(into) << "before";
  ModelNote deeper = small_note();
  deeper.job.hidden = {4};
  write_small_model(path(), deeper);
  EXPECT_FALSE(export_weights(opened(), "onnx", into).ok());
  EXPECT_EQ(contents(into), "before");
}

TEST_F(ExportTest, NamesATensorThatIsNotFiniteAndMakesNoOnnxOfIt) {
  const auto table = nets::describe_net(small_note().net(1)).value().parameters;
  std::vector<float> weights(12);
  const std::vector<float> biases(3);
  weights[7] = std::nanf("");
  const std::vector<std::span<const float>> values{weights, biases};
  ASSERT_TRUE(nets::write_safetensors(path(), table, values, to_metadata(small_note())).ok());
  EXPECT_EQ(export_weights(opened(), "npz", folder_ / "x.npz")->not_finite, table[0].name);
  const auto refused = export_weights(opened(), "onnx", folder_ / "x.onnx");
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr(table[0].name + " holds numbers that are not"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "x.onnx"));
}

TEST_F(ExportTest, RefusesItselfAndUnknownForms) {
  EXPECT_THAT(export_weights(opened(), "safetensors", path()).error().message,
              HasSubstr("is the file itself"));
  EXPECT_THAT(export_weights(opened(), "tensorflow", folder_ / "x").error().message,
              HasSubstr("no form \"tensorflow\""));
}

}  // namespace
}  // namespace sterna::actors
