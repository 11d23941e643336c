// OnnxGraph: nodes, their attributes and constant tensors of an ONNX model, one line each for who
// draws a net. Internal to this room: the header of the messages is heavy.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nets/tensor/tensor.h"

namespace sterna::nets {

class OnnxGraph {
 public:
  using Ints = std::vector<std::int64_t>;

  OnnxGraph(const std::string& name, std::int64_t opset, std::int64_t ir_version);
  /// With the first extent open, as "batch".
  void add_input(const std::string& name, const Shape& shape);
  void add_output(const std::string& name, const Shape& shape);

  /// A node with one output, which it is called after.
  onnx::NodeProto& emit(const char* type, const std::vector<std::string>& inputs,
                        const std::string& output);
  static void set(onnx::NodeProto& node, const char* name, std::int64_t value);
  static void set(onnx::NodeProto& node, const char* name, float value);
  static void set(onnx::NodeProto& node, const char* name, const Ints& values);

  /// Constants; each returns its name.
  std::string keep(const std::string& name, const Shape& shape, std::span<const float> values);
  std::string keep(const std::string& name, const Ints& values);

  onnx::ModelProto& model() { return model_; }

 private:
  static void describe(onnx::ValueInfoProto& value, const std::string& name, const Shape& shape);

  onnx::ModelProto model_;
};

}  // namespace sterna::nets
