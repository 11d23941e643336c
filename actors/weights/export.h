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

/// Writes the net, its tensors in fp32 and its note to `into`, whole or not at all. Errors, in one
/// line: those of reading and checking the weights; invalid_argument for an unknown form, for
/// `into` that is the weights' own file, and for what the form cannot hold; io.
Result<void> export_weights(const TrainedWeights& weights, std::string_view form,
                            const std::string& into);

}  // namespace sterna::actors
