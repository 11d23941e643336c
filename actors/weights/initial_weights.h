// InitialWeights: what of a job's first parameters comes from a file ([init]) in place of its seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "actors/job/job.h"
#include "actors/weights/model_note.h"
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
  /// The file that the job names, where this host has it: at its place ("~/" is this host's home),
  /// or by its name in the data folder. `specs`: the table of the job's net. Errors, in one line
  /// that says what to do: not_found and others of opening; invalid_argument for a tensor of
  /// another shape or element type than the net's, for a file with none of the net's tensors, and
  /// with torchvision's names for a tensor that only one of the two has.
  static Result<InitialWeights> open(const JobConfig& job,
                                     const std::vector<nets::ParameterSpec>& specs);

  /// Where it was found.
  const std::string& path() const { return file_.path(); }
  const InitialMatch& match() const { return match_; }
  /// What the file says of itself. Errors: note_from's.
  Result<ModelNote> note() const { return note_from(file_.metadata(), file_.path()); }
  /// Fills `into` with the elements of the net's tensor `index` from `first` on, if it is taken;
  /// else leaves it as it is. Any thread may read. Errors: io, malformed, and non_finite for a
  /// number that is no number.
  Result<void> read(std::uint32_t index, std::uint64_t first, std::span<float> into) const;

 private:
  explicit InitialWeights(nets::TensorFile file) : file_(std::move(file)) {}

  nets::TensorFile file_;
  /// By the net's table: the tensor's place in the file; none: it is drawn.
  std::vector<std::optional<std::size_t>> sources_;
  InitialMatch match_;
};

/// What is taken, drawn and left, in a few lines of bounded length.
std::vector<std::string> summary(const InitialWeights& weights);
/// The same with every tensor's name, a line each.
std::vector<std::string> listing(const InitialWeights& weights);

}  // namespace sterna::actors
