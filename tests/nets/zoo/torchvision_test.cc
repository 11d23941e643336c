// torchvision's nets, by the names that it gives their tensors, have its logits. The files are
// large: tests/reference/torchvision_weights.py makes them where PyTorch is, and STERNA_TORCHVISION
// names their folder.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "nets/weights/torchvision_names.h"
#include "nets/weights/weights_file.h"
#include "tests/nets/net_fixture.h"

namespace sterna::nets {
namespace {

const NamedTensor& named(const WeightsFile& file, const std::string& name) {
  const auto found = std::ranges::find(file.tensors, name, &NamedTensor::name);
  if (found == file.tensors.end()) throw std::runtime_error("the file lacks " + name);
  return *found;
}

/// Every parameter of the net is in the file, and nothing else but counters.
void load(Net& net, const std::string& name, const WeightsFile& file) {
  ASSERT_EQ(file.tensors.size(), net.parameters().size());
  for (std::size_t i = 0; i < net.parameters().size(); ++i) {
    const ParameterSpec& spec = net.parameters()[i];
    const NamedTensor& tensor = named(file, torchvision_name(name, spec.name).value_or("?"));
    ASSERT_EQ(tensor.shape, spec.shape) << spec.name;
    std::ranges::copy(tensor.values, net.parameter(i).begin());
    net.parameters_changed(i);
  }
}

void expect_logits(const std::string& name) {
  const char* folder = std::getenv("STERNA_TORCHVISION");
  if (folder == nullptr) {
    GTEST_SKIP() << "SKIPPED: STERNA_TORCHVISION names no folder with torchvision's weights; "
                    "tests/reference/torchvision_weights.py makes them";
  }
  const std::string path = std::string(folder) + "/" + name;
  const auto weights = read_safetensors(path + ".safetensors");
  ASSERT_TRUE(weights.ok()) << weights.error().message;
  const auto pass = read_safetensors(path + "_logits.safetensors");
  ASSERT_TRUE(pass.ok()) << pass.error().message;
  const NamedTensor& images = named(*pass, "images");
  const NamedTensor& expected = named(*pass, "logits");
  const auto net = make_net({.name = name,
                             .images = {.rows = images.shape[1],
                                        .columns = images.shape[2],
                                        .channels = images.shape[3],
                                        .classes = expected.shape[1]},
                             .batch = images.shape[0],
                             .bn_scale = true,
                             .pool_padding = true,
                             .trains = false});
  ASSERT_TRUE(net.ok()) << net.error().message;
  ASSERT_NO_FATAL_FAILURE(load(**net, name, *weights));
  std::vector<float> logits(expected.values.size());
  ASSERT_TRUE((*net)->infer(images.values, images.shape[0], logits).ok());
  float error = 0, size = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    error = std::max(error, std::abs(logits[i] - expected.values[i]));
    size = std::max(size, std::abs(expected.values[i]));
  }
  EXPECT_LT(error, 1e-4F * size);
  testing::Test::RecordProperty("relative_error", std::to_string(error / size));
}

TEST(Torchvision, ResnetHasTheLogitsOfOurs) { expect_logits("resnet_50"); }
TEST(Torchvision, InceptionHasTheLogitsOfOurs) { expect_logits("inception_v3"); }

}  // namespace
}  // namespace sterna::nets
