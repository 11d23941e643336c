// Model: a net with weights that say what they are for, ready to answer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "actors/weights/model_note.h"
#include "actors/weights/trained_weights.h"
#include "input/pictures/picture.h"
#include "nets/net.h"
#include "runtime/base/result.h"

namespace sterna::actors {

class Model {
 public:
  /// Whatever the weights say, nothing is made before their tensors have been found to be those of
  /// the net that they name, and memory for it to be there. `device`: what computes; null: the CPU.
  /// Errors, in one line: TrainedWeights', note_from's, those of making a net, and the device's;
  /// overloaded where it does not fit.
  static Result<Model> load(const TrainedWeights& weights,
                            std::shared_ptr<kernels::Device> device = nullptr);

  const ModelNote& note() const { return note_; }
  /// Of every class, for one picture, prepared as in evaluation. Errors: what the family refuses,
  /// in one line without the picture's name; non_finite for weights that give no finite numbers.
  Result<std::vector<float>> logits(const input::EncodedPicture& picture);

 private:
  Model() = default;

  ModelNote note_;
  input::Preparation how_;
  std::unique_ptr<nets::Net> net_;
};

/// The classes' probabilities: of all together 1.
std::vector<double> softmax(const std::vector<float>& logits);

/// The `most` classes with the largest logits, the largest first; of equal ones the lower first.
std::vector<std::uint32_t> likeliest(const std::vector<float>& logits, std::size_t most);

}  // namespace sterna::actors
