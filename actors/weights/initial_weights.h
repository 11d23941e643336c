// InitialWeights: what of a job's first parameters comes from other weights ([init]) in place of
// its seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "actors/job/job.h"
#include "actors/weights/model_note.h"
#include "actors/weights/trained_weights.h"
#include "nets/tensor/parameter.h"
#include "nets/weights/tensor_file.h"
#include "runtime/base/result.h"

namespace sterna::actors {

/// Which tensors meet, by their names, in the order of the net's table.
struct InitialMatch {
  std::vector<std::string> taken;    ///< of the net, from the file
  std::vector<std::string> drawn;    ///< of the net: skipped, or not in the file
  std::vector<std::string> left;     ///< of the file, in its order: not of the net, or skipped
  std::uint64_t elements_taken = 0;  ///< of `taken`, together
};

class InitialWeights {
 public:
  /// The file, checkpoint or run's directory that the job names, as TrainedWeights::open takes it,
  /// where this host has it: at its place ("~/" is this host's home), or by its name in the data
  /// folder. `specs`: the table of the job's net. Errors, in one line that says what to do:
  /// not_found where this host has nothing of the name, and others of opening; invalid_argument for
  /// a folder without weights, for a tensor of another shape (of a checkpoint: size) or element
  /// type than the net's, for weights with none of the net's tensors, and with torchvision's names
  /// for a tensor that only one of the two has.
  static Result<InitialWeights> open(const JobConfig& job,
                                     const std::vector<nets::ParameterSpec>& specs);

  /// Where they were found: a file, or a checkpoint's folder.
  const std::string& path() const { return weights_.path(); }
  const InitialMatch& match() const { return match_; }
  /// What they say of themselves. Errors: note_from's.
  Result<ModelNote> note() const { return weights_.note(); }
  /// Fills `into` with the elements of the net's tensor `index` from `first` on, if it is taken;
  /// else leaves it as it is. Any thread may read. Errors: io, malformed, and non_finite for a
  /// number that is no number.
  Result<void> read(std::uint32_t index, std::uint64_t first, std::span<float> into) const;

 private:
  InitialWeights(TrainedWeights weights, std::vector<nets::ListedTensor> tensors)
      : weights_(std::move(weights)), tensors_(std::move(tensors)) {}

  TrainedWeights weights_;
  std::vector<nets::ListedTensor> tensors_;  // all of weights_
  /// By the net's table: the tensor's place in tensors_; none: it is drawn.
  std::vector<std::optional<std::size_t>> sources_;
  InitialMatch match_;
};

/// What is taken, drawn and left, in a few lines of bounded length.
std::vector<std::string> summary(const InitialWeights& weights);
/// The same with every tensor's name, a line each.
std::vector<std::string> listing(const InitialWeights& weights);

}  // namespace sterna::actors
