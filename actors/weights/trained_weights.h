// TrainedWeights: a net's values by name, from wherever a run left them: its weights file or one of
// its checkpoints.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "actors/checkpoint/saved.h"
#include "actors/weights/model_note.h"
#include "nets/tensor/parameter.h"
#include "nets/weights/tensor_file.h"
#include "runtime/base/result.h"

namespace sterna::actors {

/// The final weights in a run's directory.
inline constexpr const char* kWeightsFile = "weights.safetensors";

/// Which of a job's values: those of the parameters themselves, their moving averages, or
/// (`preferred`) averages where there are any.
enum class ValuesOf { preferred, parameters, averages };

class TrainedWeights {
 public:
  /// `path`: a safetensors file; a checkpoint's folder; or a run's directory or a folder of
  /// checkpoints, of which the newest is taken (of a run's directory its weights.safetensors where
  /// that is as new, unless it lacks the values asked for). Errors, in one line: those of opening a
  /// file and a checkpoint; invalid_argument where the values asked for are not kept.
  static Result<TrainedWeights> open(const std::string& path, ValuesOf which = ValuesOf::preferred);
  /// Of the run's best checkpoint (best_checkpoint()). Errors: those of open_best_checkpoint().
  static Result<TrainedWeights> open_best(const std::string& path,
                                          ValuesOf which = ValuesOf::preferred);
  /// Of a checkpoint that is open.
  static Result<TrainedWeights> open(const SavedCheckpoint& checkpoint, ValuesOf which);

  /// The file, or the checkpoint's folder.
  const std::string& path() const { return path_; }
  /// Of a checkpoint that was chosen as the newest that is whole: see damaged_after().
  const std::vector<std::string>& passed_over() const { return passed_over_; }
  /// What the weights are for. Errors: note_from's.
  Result<ModelNote> note() const;
  /// Steps trained, as far as they say.
  std::optional<std::uint64_t> steps() const;
  /// Whether they are moving averages, as far as they say.
  bool averages() const;
  /// Of a checkpoint the cluster file of its run; "" of a file.
  std::string resolved() const;

  /// Whether every tensor of the net, whose table this is, is there: of a file in the net's shape
  /// and in a type that is read, of a checkpoint in its size. Errors: malformed, naming the first
  /// tensor that is not so.
  Result<void> check(const std::string& net, const std::vector<nets::ParameterSpec>& table) const;
  /// The first that the table has not, of those that could be read; none: there is none.
  std::optional<std::string> beside(const std::vector<nets::ParameterSpec>& table) const;
  /// What there is by its name: of a file as its header lists it, of a checkpoint each parameter as
  /// one row, because it keeps no shapes (`of_checkpoint`). The order is the same at every call.
  std::vector<nets::ListedTensor> tensors() const;
  bool of_checkpoint() const { return std::holds_alternative<Checkpoint>(source_); }
  /// The elements of a readable one of tensors() from `first` on, as many as `into` takes, which it
  /// has. Any thread may read. Errors: as below.
  Result<void> read(const nets::ListedTensor& tensor, std::uint64_t first,
                    std::span<float> into) const;
  /// All of a tensor that check() has found to be there. Errors: io, malformed; of a checkpoint
  /// non_finite, too.
  Result<void> read(const nets::ParameterSpec& spec, std::span<float> into) const;

 private:
  struct Checkpoint {
    SavedCheckpoint saved;
    SavedState state;
    bool averages = false;
  };
  using Source = std::variant<nets::TensorFile, Checkpoint>;
  TrainedWeights(std::string path, Source source)
      : path_(std::move(path)), source_(std::move(source)) {}
  /// Of the one that open_checkpoint(path) gave.
  static Result<TrainedWeights> open_chosen(const SavedCheckpoint& checkpoint,
                                            const std::string& path, ValuesOf which);
  static Result<TrainedWeights> open_file(const std::string& path, ValuesOf which);

  std::string path_;
  Source source_;
  std::vector<std::string> passed_over_ = {};
};

}  // namespace sterna::actors
