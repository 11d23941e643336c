// A net with its weights as an ONNX model (https://onnx.ai, opset 13), made of what the net's graph
// says of itself: no net and no layer is written a second time.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "nets/graph/graph.h"
#include "nets/weights/tensor_file.h"
#include "nets/zoo/zoo.h"
#include "runtime/base/result.h"

namespace sterna::nets {

/// What evaluation computes, from "images" {batch, channels, rows, columns} to "logits" {batch,
/// classes}; the batch is of any size. A batch norm that follows a convolution directly, and is its
/// only reader, is folded into it, in double precision. `build` adds the net to an empty graph, for
/// one image. `values`: the tensors of its table, in its order. `properties` become the model's
/// metadata_props. The result is a serialized ModelProto. Errors: invalid_argument for a net whose
/// layers do not all say what they do, or a model of 2 GB or more, which a protocol buffer cannot
/// hold; malformed, naming the tensor, for a variance that has no root.
Result<std::string> onnx_model(const std::string& name,
                               const std::function<NetOutputs(Graph& graph)>& build,
                               std::span<const std::span<const float>> values,
                               const Metadata& properties);

}  // namespace sterna::nets
