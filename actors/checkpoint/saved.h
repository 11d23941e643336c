// Checkpoints on disk: which a folder holds, whether one is whole, and the state that one keeps.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/checkpoint/manifest.h"
#include "nets/weights/tensor_file.h"
#include "runtime/base/bytes.h"
#include "runtime/base/result.h"

namespace sterna::actors {

/// The folder of a run's directory where its checkpoints lie.
inline constexpr const char* kCheckpointFolder = "checkpoints";

struct SavedCheckpoint {
  std::string folder;
  Manifest manifest;
  std::uint64_t bytes() const;
};

/// A folder that is named as a checkpoint's, and what is wrong with it, if anything.
struct FoundCheckpoint {
  std::string folder;
  std::uint64_t step = 0;
  Result<Manifest> manifest;
};

/// The folder of checkpoints that a person means: that of a run's directory, or the one given.
std::string checkpoints_in(const std::string& path);

/// Those in `folder`, the oldest first; none where there is no such folder. `run`: those alone of
/// which the manifest says that this run made them; empty: all.
std::vector<FoundCheckpoint> find_checkpoints(const std::string& folder,
                                              const std::string& run = "");

/// Whether each part is there and has its size; with `contents` its bytes are read, too. The error
/// names the part.
Result<void> check_parts(const SavedCheckpoint& checkpoint, bool contents);

/// The same of one part.
Result<void> check_part(const SavedCheckpoint& checkpoint, const Manifest::Part& part,
                        bool contents);

/// One checkpoint by what a person gives: its folder, or a folder of checkpoints or a run's
/// directory, of which the newest whole one is taken, with `run` of that run's. Every byte of its
/// parts has been read and is that which was written. Errors: not_found, malformed, permission;
/// each in a line that says what to do.
Result<SavedCheckpoint> open_checkpoint(const std::string& path, const std::string& run = "");

/// Of those that as many examples measured, by their number (0: it was not noted), the index of the
/// one of the highest precision@1, the earliest of equals.
std::map<std::uint64_t, std::size_t> best_of_each_count(const std::vector<FoundCheckpoint>& found);

/// The index of the one of the highest precision@1. Those that other numbers of examples measured
/// count with the lower end of their interval: a sample's luck is not worth what all examples say.
/// None: no checkpoint was evaluated.
std::optional<std::size_t> best_checkpoint(const std::vector<FoundCheckpoint>& found);

/// That of a run's directory or a folder of checkpoints. Errors: not_found where no checkpoint has
/// a precision@1; those of open_checkpoint(), also where an earlier one is whole.
Result<SavedCheckpoint> open_best_checkpoint(const std::string& path);

/// Why those of the same run beside `taken` that are of later steps are not whole, a line each,
/// which names the file: what open_checkpoint() passes over. One that was never finished is no
/// news.
std::vector<std::string> damaged_after(const SavedCheckpoint& taken);

/// The state that a checkpoint keeps, read by array and place, however it was cut.
class SavedState {
 public:
  /// Reads the parts' headers. Errors: not_found, io, malformed, with the file's name.
  static Result<SavedState> open(const SavedCheckpoint& checkpoint);

  /// Elements [first, first + count) of an array. Errors: not_found where there is nothing of the
  /// array; malformed where there is something, but not all of these; non_finite; io.
  Result<Bytes> read(const std::string& array, std::uint64_t first, std::uint64_t count) const;
  /// How many elements there are of an array.
  std::uint64_t count(const std::string& array) const;
  /// In alphabetical order.
  std::vector<std::string> arrays() const;

 private:
  struct Piece {
    std::size_t file = 0;
    std::size_t tensor = 0;  ///< of that
    std::uint64_t count = 0;
  };
  std::vector<nets::TensorFile> files_;
  std::map<std::string, std::map<std::uint64_t, Piece>> arrays_;  ///< by the first element
};

}  // namespace sterna::actors
