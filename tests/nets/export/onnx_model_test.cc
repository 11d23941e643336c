// What other programs get of a net. That they compute the same with it, ONNX Runtime says:
// tests/reference/onnx_logits.py.
#include "nets/export/onnx_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/checker.h>
#include <onnx/shape_inference/implementation.h>

#include <cmath>
#include <cstring>
#include <set>

#include "nets/backend/describing_backend.h"
#include "nets/describe_net.h"
#include "nets/layers/layers.h"
#include "tests/nets/graph_fixture.h"

namespace sterna::nets {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Numbers for a table: of tensor t all t + 1.
struct Values {
  explicit Values(const std::vector<ParameterSpec>& table) {
    for (const ParameterSpec& spec : table) {
      tensors.emplace_back(spec.count(), static_cast<float>(tensors.size() + 1));
    }
  }
  std::vector<std::span<const float>> views() const { return {tensors.begin(), tensors.end()}; }
  std::vector<std::vector<float>> tensors;
};

onnx::ModelProto parsed(const Result<std::string>& model) {
  onnx::ModelProto proto;
  if (!model) {
    ADD_FAILURE() << model.error().message;
    return proto;
  }
  EXPECT_TRUE(proto.ParseFromString(*model));
  return proto;
}

/// By the checker, and by what each operator says of its output's shape.
void expect_valid(onnx::ModelProto model) {
  EXPECT_NO_THROW(onnx::checker::check_model(model));
  const onnx::ShapeInferenceOptions strict(true, 1, false);
  EXPECT_NO_THROW(
      onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(), strict));
}

std::vector<std::string> types_of(const onnx::ModelProto& model) {
  std::vector<std::string> types;
  for (const onnx::NodeProto& node : model.graph().node()) types.push_back(node.op_type());
  return types;
}

std::vector<float> tensor_of(const onnx::ModelProto& model, const std::string& name) {
  for (const onnx::TensorProto& tensor : model.graph().initializer()) {
    if (tensor.name() != name) continue;
    std::vector<float> values(tensor.raw_data().size() / sizeof(float));
    std::memcpy(values.data(), tensor.raw_data().data(), tensor.raw_data().size());
    return values;
  }
  ADD_FAILURE() << "the model has no " << name;
  return {};
}

NetOptions small(std::string_view name) {
  const ZooNet& net = *find_net(name);
  const std::size_t side = std::max<std::size_t>(net.smallest, 32);
  return {.name = std::string(name),
          .images = {.rows = side, .columns = side, .channels = 3, .classes = 7},
          .hidden = {net.hidden.begin(), net.hidden.end()},
          .batch = 1,
          .divisor = 8};
}

onnx::ModelProto model_of(std::string_view name, const Metadata& properties = {}) {
  const NetOptions options = small(name);
  const Values values(describe_net(options).value().parameters);
  const auto build = [&](Graph& graph) {
    return find_net(name)->build(graph, zoo_options(options));
  };
  return parsed(onnx_model(std::string(name), build, values.views(), properties));
}

TEST(OnnxModel, OfEachNetIsValidAndTakesAnyBatch) {
  for (const std::string_view name : net_names()) {
    SCOPED_TRACE(name);
    const onnx::ModelProto model = model_of(name);
    expect_valid(model);
    ASSERT_EQ(model.graph().input_size(), 1);
    ASSERT_EQ(model.graph().output_size(), 1);
    EXPECT_EQ(model.graph().input(0).name(), "images");
    EXPECT_EQ(model.graph().output(0).name(), "logits");
    const auto& logits = model.graph().output(0).type().tensor_type().shape();
    EXPECT_EQ(logits.dim(0).dim_param(), "batch");
    EXPECT_EQ(logits.dim(1).dim_value(), 7);
    EXPECT_EQ(model.opset_import(0).version(), 13);
  }
}

TEST(OnnxModel, OfEachNetHasItsBatchNormsInItsConvolutions) {
  for (const std::string_view name : net_names()) {
    EXPECT_THAT(types_of(model_of(name)), testing::Not(testing::Contains("BatchNormalization")))
        << name;
  }
}

TEST(OnnxModel, SaysWhatEachLayerDoes) {
  EXPECT_THAT(types_of(model_of("lenet")), ElementsAre("Conv", "MaxPool", "Relu", "Conv", "MaxPool",
                                                       "Relu", "Flatten", "Gemm", "Relu", "Gemm"));
  // A dense layer's weights lie in the order row, column, channel.
  EXPECT_THAT(types_of(model_of("mlp")),
              ElementsAre("Transpose", "Flatten", "Gemm", "Relu", "Gemm", "Relu", "Gemm"));
  EXPECT_THAT(types_of(model_of("cifarnet")),
              ElementsAre("Conv", "Relu", "MaxPool", "LRN", "Conv", "Relu", "LRN", "MaxPool",
                          "Transpose", "Flatten", "Gemm", "Relu", "Gemm", "Relu", "Gemm"));
}

TEST(OnnxModel, HasAReluBehindEachResidualSum) {
  const std::vector<std::string> types = types_of(model_of("resnet_20"));
  std::size_t sums = 0;
  for (std::size_t i = 0; i + 1 < types.size(); ++i) {
    if (types[i] != "Add") continue;
    ++sums;
    EXPECT_EQ(types[i + 1], "Relu");
  }
  EXPECT_EQ(sums, 9U);
}

TEST(OnnxModel, CarriesItsProperties) {
  const onnx::ModelProto model = model_of("lenet", {{"labels", "[\"a\"]"}, {"rows", "32"}});
  ASSERT_EQ(model.metadata_props_size(), 2);
  EXPECT_EQ(model.metadata_props(0).key(), "labels");
  EXPECT_EQ(model.metadata_props(0).value(), "[\"a\"]");
}

/// A convolution of one pixel from 1 to 2 channels and a batch norm, as `join` puts them together.
using Join = std::function<Activation&(Graph& graph, Activation& convolved)>;
onnx::ModelProto normed(const Join& join) {
  const auto build = [&](Graph& graph) -> NetOutputs {
    Activation& x = graph.input({1, 1, 3, 3}, Layout::channels_last);
    Activation& convolved = convolution(graph, x, {.name = "c", .outputs = 2},
                                        {.kernel = 1, .padding = Padding::valid});
    return {dense(graph, join(graph, convolved), {.name = "d", .outputs = 5})};
  };
  DescribingBackend backend;
  Graph graph(backend, {.shares_memory = true, .trains = false});
  build(graph);
  std::vector<ParameterSpec> table;
  for (std::size_t i = 0; i < graph.parameter_count(); ++i) {
    table.push_back(graph.parameter(i).spec);
  }
  return parsed(onnx_model("normed", build, Values(table).views(), {}));
}

TEST(OnnxModel, FoldsABatchNormIntoTheConvolutionBeforeIt) {
  const onnx::ModelProto model = normed([](Graph& graph, Activation& x) -> Activation& {
    return batch_norm(graph, x, {.name = "b", .epsilon = 0.5F, .scale = true, .relu = true});
  });
  expect_valid(model);
  EXPECT_THAT(types_of(model), ElementsAre("Conv", "Relu", "Transpose", "Flatten", "Gemm"));
  // The table: c/weights 1, c/biases 2, b/beta 3, b/gamma 4, d/weights 5, d/biases 6, b/mean 7,
  // b/variance 8.
  const double factor = 4 / std::sqrt(8.5);
  const auto weight = static_cast<float>(1 * factor);
  const auto bias = static_cast<float>((2 - 7) * factor + 3);
  EXPECT_THAT(tensor_of(model, "c/weights"), ElementsAre(weight, weight));
  EXPECT_THAT(tensor_of(model, "c/biases"), ElementsAre(bias, bias));
}

TEST(OnnxModel, IsRefusedWhereABatchNormHasNoRootOfItsVariance) {
  const auto build = [](Graph& graph) -> NetOutputs {
    Activation& x = graph.input({1, 1, 3, 3}, Layout::channels_last);
    Activation& convolved = convolution(graph, x, {.name = "c", .outputs = 2},
                                        {.kernel = 1, .padding = Padding::valid});
    return {dense(graph, batch_norm(graph, convolved, {.name = "b", .epsilon = 0.5F}),
                  {.name = "d", .outputs = 5})};
  };
  DescribingBackend backend;
  Graph graph(backend, {.shares_memory = true, .trains = false});
  build(graph);
  std::vector<ParameterSpec> table;
  for (std::size_t i = 0; i < graph.parameter_count(); ++i) {
    table.push_back(graph.parameter(i).spec);
  }
  Values values(table);
  values.tensors.back().back() = -0.5F;  // b/variance
  const auto refused = onnx_model("normed", build, values.views(), {});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("b/variance is -0.5 in channel 1"));
}

TEST(OnnxModel, KeepsABatchNormWhereTheConvolutionHasOtherReaders) {
  const onnx::ModelProto model = normed([](Graph& graph, Activation& x) -> Activation& {
    return add(graph, x, batch_norm(graph, x, {.name = "b", .epsilon = 0.5F}));
  });
  expect_valid(model);
  EXPECT_THAT(types_of(model),
              ElementsAre("Conv", "BatchNormalization", "Add", "Transpose", "Flatten", "Gemm"));
  EXPECT_THAT(tensor_of(model, "c/weights"), ElementsAre(1, 1));
  EXPECT_THAT(tensor_of(model, "b/beta/of_scale_1"), ElementsAre(1, 1));
}

TEST(OnnxModel, KeepsABatchNormBehindALayerThatIsNone) {
  const onnx::ModelProto model = normed([](Graph& graph, Activation& x) -> Activation& {
    return batch_norm(graph, sigmoid(graph, x), {.name = "b", .relu = true});
  });
  expect_valid(model);
  EXPECT_THAT(types_of(model), ElementsAre("Conv", "Sigmoid", "BatchNormalization", "Relu",
                                           "Transpose", "Flatten", "Gemm"));
}

TEST(OnnxModel, IsRefusedOfLayersThatDoNotSayWhatTheyDo) {
  const auto build = [](Graph& graph) -> NetOutputs {
    Activation& x = graph.input({1, 2}, Layout::row_major);
    return {scale(graph, x, 2)};
  };
  const auto model = onnx_model("scaled", build, {}, {});
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(model.error().message, HasSubstr("the layers of scaled do not all say what they do"));
}

}  // namespace
}  // namespace sterna::nets
