#include "actors/checkpoint/saved.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>
#include <system_error>

#include "actors/checkpoint/state_part.h"
#include "nets/weights/tensor_file.h"
#include "runtime/base/file.h"

namespace sterna::actors {
namespace {

namespace fs = std::filesystem;

std::string path_of(const SavedCheckpoint& checkpoint, const Manifest::Part& part) {
  return (fs::path(checkpoint.folder) / part.file).string();
}

/// The lower end of Wilson's interval of one standard deviation (E. B. Wilson, Probable Inference,
/// J. Am. Stat. Assoc. 22, 1927); 0 where nobody noted of how many examples.
double precision_at_least(const MeasuredPrecision& precision) {
  const auto n = static_cast<double>(precision.examples);
  const double p = precision.at_1;
  return n > 0 ? (p + 0.5 / n - std::sqrt(p * (1 - p) / n + 0.25 / (n * n))) / (1 + 1 / n) : 0;
}

/// Errors: where it is none, or may not be read.
Result<void> check_is_folder(const std::string& path) {
  STERNA_TRY(may_read_folder(path));
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return {};
  return Error{Errc::not_found, path + ": there is no such folder of a run or checkpoint"};
}

Error with_advice(Error error) {
  error.message += "; take another checkpoint (`sterna checkpoints` lists those of a run)";
  return error;
}

/// The newest that is whole of those in `folder`, as find_checkpoints().
Result<SavedCheckpoint> newest(const std::string& folder, const std::string& run) {
  std::vector<FoundCheckpoint> found = find_checkpoints(folder, run);
  std::optional<Error> first_wrong;
  for (auto one = found.rbegin(); one != found.rend(); ++one) {
    Result<void> whole = one->manifest ? Result<void>() : Result<void>(one->manifest.error());
    if (whole) {
      SavedCheckpoint saved{one->folder, *one->manifest};
      whole = check_parts(saved, true);
      if (whole) return saved;
    }
    if (!first_wrong) first_wrong = whole.error();
  }
  if (first_wrong) return Error(*first_wrong).in(folder + ": no checkpoint here is whole");
  return Error{Errc::not_found, folder + ": there is no checkpoint"};
}

}  // namespace

std::uint64_t SavedCheckpoint::bytes() const {
  std::uint64_t sum = 0;
  for (const Manifest::Part& part : manifest.parts) sum += part.bytes;
  return sum;
}

std::string checkpoints_in(const std::string& path) {
  const fs::path inside = fs::path(path) / kCheckpointFolder;
  std::error_code ignored;
  return fs::is_directory(inside, ignored) ? inside.string() : path;
}

std::vector<FoundCheckpoint> find_checkpoints(const std::string& folder, const std::string& run) {
  std::map<std::uint64_t, std::string> folders;  // by step
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    const auto step = parse_checkpoint_name(at->path().filename().string());
    std::error_code ignored;
    if (step && at->is_directory(ignored)) folders[*step] = at->path().string();
  }
  std::vector<FoundCheckpoint> found;
  for (const auto& [step, path] : folders) {
    Result<Manifest> manifest = read_manifest(path);
    if (!run.empty() && (!manifest || manifest->run != run)) continue;
    if (manifest && manifest->step != step) {
      manifest = Error{Errc::malformed,
                       fmt::format("{}: its manifest is step {}'s", path, manifest->step)};
    }
    found.push_back({path, step, std::move(manifest)});
  }
  return found;
}

Result<void> check_part(const SavedCheckpoint& checkpoint, const Manifest::Part& part,
                        bool contents) {
  const std::string path = path_of(checkpoint, part);
  std::error_code failed;
  const fs::file_status status = fs::symlink_status(path, failed);
  if (!fs::exists(status)) {
    return Error{Errc::not_found, path + ": this part of the checkpoint is missing"};
  }
  if (!fs::is_regular_file(status)) {
    return Error{Errc::malformed, path + ": this part of the checkpoint is a link or no file"};
  }
  const std::uint64_t bytes = fs::file_size(path, failed);
  if (failed) return system_error(path, failed.value());
  if (bytes != part.bytes) {
    return Error{Errc::malformed, fmt::format("{}: {} bytes, and the checkpoint's manifest says {}",
                                              path, bytes, part.bytes)};
  }
  if (!contents) return {};
  STERNA_ASSIGN(const Hash hash, hash_of_file(path));
  if (hash != part.hash) {
    return Error{Errc::malformed, path + ": its bytes are not those that were written"};
  }
  return {};
}

Result<void> check_parts(const SavedCheckpoint& checkpoint, bool contents) {
  for (const Manifest::Part& part : checkpoint.manifest.parts) {
    STERNA_TRY(check_part(checkpoint, part, contents));
  }
  return {};
}

Result<SavedCheckpoint> open_checkpoint(const std::string& path, const std::string& run) {
  STERNA_TRY(check_is_folder(path));
  const fs::path given(path);
  std::error_code ignored;
  if (fs::exists(given / kManifestFile, ignored)) {
    Result<Manifest> manifest = read_manifest(path);
    if (!manifest) return with_advice(manifest.error());
    SavedCheckpoint saved{path, std::move(*manifest)};
    const Result<void> whole = check_parts(saved, true);
    if (!whole) return with_advice(whole.error());
    return saved;
  }
  if (parse_checkpoint_name(given.filename().string())) {
    return Error{Errc::not_found,
                 path + ": this checkpoint was never finished: it has no " + kManifestFile};
  }
  const std::string folder = checkpoints_in(path);
  STERNA_TRY(may_read_folder(folder));
  return newest(folder, run);
}

std::map<std::uint64_t, std::size_t> best_of_each_count(const std::vector<FoundCheckpoint>& found) {
  std::map<std::uint64_t, std::size_t> best;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!found[i].manifest || !found[i].manifest->precision) continue;
    const MeasuredPrecision& precision = *found[i].manifest->precision;
    std::size_t& highest = best.try_emplace(precision.examples, i).first->second;
    if (precision.at_1 > found[highest].manifest->precision->at_1) highest = i;
  }
  return best;
}

std::optional<std::size_t> best_checkpoint(const std::vector<FoundCheckpoint>& found) {
  std::optional<std::size_t> best;
  const auto at_least = [&](std::size_t i) {
    return precision_at_least(*found[i].manifest->precision);
  };
  for (const auto& [examples, highest] : best_of_each_count(found)) {
    if (!best || at_least(highest) >= at_least(*best)) best = highest;
  }
  return best;
}

Result<SavedCheckpoint> open_best_checkpoint(const std::string& path) {
  STERNA_TRY(check_is_folder(path));
  const std::string folder = checkpoints_in(path);
  STERNA_TRY(may_read_folder(folder));
  const std::vector<FoundCheckpoint> found = find_checkpoints(folder);
  if (const std::optional<std::size_t> best = best_checkpoint(found)) {
    return open_checkpoint(found[*best].folder);
  }
  return Error{Errc::not_found,
               found.empty()
                   ? folder +
                         ": there is no checkpoint to choose the best of; name a run's "
                         "directory that keeps some"
                   : folder + ": no checkpoint here was evaluated, so that none is the best"};
}

std::vector<std::string> damaged_after(const SavedCheckpoint& taken) {
  std::vector<std::string> lines;
  // A folder may be named with a slash behind it.
  const fs::path around = (fs::path(taken.folder) / "").parent_path().parent_path();
  for (const FoundCheckpoint& one : find_checkpoints(around.empty() ? "." : around.string())) {
    if (one.step <= taken.manifest.step) continue;
    if (!one.manifest && one.manifest.error().code == Errc::not_found) continue;
    if (one.manifest && one.manifest->run != taken.manifest.run) continue;
    const Result<void> whole = one.manifest ? check_parts({one.folder, *one.manifest}, true)
                                            : Result<void>(one.manifest.error());
    if (!whole) lines.push_back(whole.error().message);
  }
  return lines;
}

Result<SavedState> SavedState::open(const SavedCheckpoint& checkpoint) {
  SavedState state;
  for (const Manifest::Part& part : checkpoint.manifest.parts) {
    STERNA_ASSIGN(nets::TensorFile file, nets::TensorFile::open(path_of(checkpoint, part)));
    for (std::size_t t = 0; t < file.tensors().size(); ++t) {
      const nets::ListedTensor& tensor = file.tensors()[t];
      const std::optional<PieceName> name = parse_piece_name(tensor.name);
      if (!name || tensor.dtype != "F32") {
        return Error{Errc::malformed, file.path() + ": holds a tensor that is no part of a state"};
      }
      const Piece piece{state.files_.size(), t, tensor.count()};
      if (!state.arrays_[name->array].try_emplace(name->first, piece).second) {
        return Error{Errc::malformed, fmt::format("{}: {} comes twice in the checkpoint",
                                                  file.path(), nets::shown_name(name->array))};
      }
    }
    state.files_.push_back(std::move(file));
  }
  for (const auto& [array, pieces] : state.arrays_) {
    std::uint64_t end = 0;
    for (const auto& [first, piece] : pieces) {
      if (first < end || piece.count > UINT64_MAX - first) {
        return Error{Errc::malformed,
                     fmt::format("{}: pieces of {} overlap", state.files_[piece.file].path(),
                                 nets::shown_name(array))};
      }
      end = first + piece.count;
    }
  }
  return state;
}

Result<Bytes> SavedState::read(const std::string& array, std::uint64_t first,
                               std::uint64_t count) const {
  const auto found = arrays_.find(array);
  if (found == arrays_.end()) {
    return Error{Errc::not_found, array + ": the checkpoint has nothing of it"};
  }
  const std::map<std::uint64_t, Piece>& pieces = found->second;
  const auto buffer = make_buffer(count * sizeof(float));
  for (std::uint64_t done = 0; done < count;) {
    const std::uint64_t at = first + done;
    auto piece = pieces.upper_bound(at);
    const bool before = piece != pieces.begin();
    if (before) --piece;
    const std::uint64_t inside = before ? at - piece->first : 0;
    if (!before || inside >= piece->second.count) {
      return Error{Errc::malformed, fmt::format("{}: the checkpoint has no element {} of {}",
                                                files_[pieces.begin()->second.file].path(), at,
                                                nets::shown_name(array))};
    }
    const std::uint64_t these = std::min(count - done, piece->second.count - inside);
    const nets::TensorFile& file = files_[piece->second.file];
    const std::span<float> read = buffer->as<float>().subspan(done, these);
    STERNA_TRY(file.read(file.tensors()[piece->second.tensor], inside, read));
    if (!std::ranges::all_of(read, [](float one) { return std::isfinite(one); })) {
      return Error{Errc::non_finite, fmt::format("{}: {} holds what is no number", file.path(),
                                                 nets::shown_name(array))};
    }
    done += these;
  }
  return share(buffer);
}

std::uint64_t SavedState::count(const std::string& array) const {
  const auto found = arrays_.find(array);
  std::uint64_t sum = 0;
  if (found == arrays_.end()) return sum;
  for (const auto& [first, piece] : found->second) sum += piece.count;
  return sum;
}

std::vector<std::string> SavedState::arrays() const {
  std::vector<std::string> names;
  for (const auto& [name, pieces] : arrays_) names.push_back(name);
  return names;
}

}  // namespace sterna::actors
