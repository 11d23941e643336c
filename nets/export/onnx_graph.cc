#include "nets/export/onnx_graph.h"

namespace sterna::nets {
namespace {

onnx::AttributeProto& attribute(onnx::NodeProto& node, const char* name,
                                onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto& made = *node.add_attribute();
  made.set_name(name);
  made.set_type(type);
  return made;
}

}  // namespace

OnnxGraph::OnnxGraph(const std::string& name, std::int64_t opset, std::int64_t ir_version) {
  model_.set_ir_version(ir_version);
  model_.set_producer_name("sterna");
  model_.add_opset_import()->set_version(opset);
  model_.mutable_graph()->set_name(name);
}

void OnnxGraph::describe(onnx::ValueInfoProto& value, const std::string& name, const Shape& shape) {
  value.set_name(name);
  auto& type = *value.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  type.mutable_shape()->add_dim()->set_dim_param("batch");
  for (std::size_t i = 1; i < shape.size(); ++i) {
    type.mutable_shape()->add_dim()->set_dim_value(static_cast<std::int64_t>(shape[i]));
  }
}

void OnnxGraph::add_input(const std::string& name, const Shape& shape) {
  describe(*model_.mutable_graph()->add_input(), name, shape);
}

void OnnxGraph::add_output(const std::string& name, const Shape& shape) {
  describe(*model_.mutable_graph()->add_output(), name, shape);
}

onnx::NodeProto& OnnxGraph::emit(const char* type, const std::vector<std::string>& inputs,
                                 const std::string& output) {
  onnx::NodeProto& node = *model_.mutable_graph()->add_node();
  node.set_op_type(type);
  node.set_name(output);
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(output);
  return node;
}

void OnnxGraph::set(onnx::NodeProto& node, const char* name, std::int64_t value) {
  attribute(node, name, onnx::AttributeProto::INT).set_i(value);
}

void OnnxGraph::set(onnx::NodeProto& node, const char* name, float value) {
  attribute(node, name, onnx::AttributeProto::FLOAT).set_f(value);
}

void OnnxGraph::set(onnx::NodeProto& node, const char* name, const Ints& values) {
  onnx::AttributeProto& made = attribute(node, name, onnx::AttributeProto::INTS);
  for (const std::int64_t value : values) made.add_ints(value);
}

std::string OnnxGraph::keep(const std::string& name, const Shape& shape,
                            std::span<const float> values) {
  onnx::TensorProto& tensor = *model_.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  for (const std::size_t extent : shape) tensor.add_dims(static_cast<std::int64_t>(extent));
  tensor.set_raw_data(values.data(), values.size_bytes());
  return name;
}

std::string OnnxGraph::keep(const std::string& name, const Ints& values) {
  onnx::TensorProto& tensor = *model_.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::INT64);
  tensor.add_dims(static_cast<std::int64_t>(values.size()));
  for (const std::int64_t one : values) tensor.add_int64_data(one);
  return name;
}

}  // namespace sterna::nets
