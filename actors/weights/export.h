// Weights that say what they are for, in a form that other programs read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "actors/weights/trained_weights.h"
#include "runtime/base/result.h"

namespace sterna::actors {

/// A form by the name that it has on the command line.
struct WeightsForm {
  std::string_view name;
  std::string_view extension;
  std::string_view help;
};
/// safetensors, npz, onnx.
const std::vector<WeightsForm>& weights_forms();

/// What was written. Plain data.
struct Exported {
  /// The first tensor that holds a NaN or an infinity, in the order of the net's table; empty: none
  /// does. It stands in the file as it is.
  std::string not_finite;
};

/// Writes the net, its tensors in fp32 and its note to `into`, whole or not at all. Errors, in one
/// line: those of reading and checking the weights; invalid_argument for an unknown form, for
/// `into` that is the weights' own file, and for what the form cannot hold; of onnx, whose readers
/// make finite answers of such numbers (a Relu or a MaxPool may drop a NaN), non_finite, which
/// names the tensor, and what onnx_model() refuses; io.
Result<Exported> export_weights(const TrainedWeights& weights, std::string_view form,
                                const std::string& into);

}  // namespace sterna::actors
