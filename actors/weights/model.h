// Model: a net with the weights of a file that says what it is, ready to answer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "actors/weights/model_note.h"
#include "input/pictures/picture.h"
#include "nets/net.h"
#include "nets/tensor/parameter.h"
#include "nets/weights/tensor_file.h"
#include "runtime/base/result.h"

namespace sterna::actors {

/// Whether the file has every tensor of a net with this table, in the net's shape and in a type
/// that is read. Errors: malformed, naming the first tensor that is not so.
Result<void> check_tensors(const nets::TensorFile& file,
                           const std::vector<nets::ParameterSpec>& table);

class Model {
 public:
  /// Whatever the file says, nothing is made before its tensors have been found to be those of the
  /// net that it names, and memory for it to be there. Errors, in one line: TensorFile's,
  /// note_from's, check_tensors', and those of making a net; overloaded where it does not fit.
  static Result<Model> load(const std::string& path);

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
