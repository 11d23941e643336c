#include "actors/weights/trained_weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "actors/checkpoint/state_part.h"

namespace sterna::actors {
namespace {

namespace fs = std::filesystem;

bool keeps_averages(const SavedState& state) {
  const std::string prefix = array_of(kAverageState, "");
  return std::ranges::any_of(state.arrays(),
                             [&](const std::string& name) { return name.starts_with(prefix); });
}

/// Where a checkpoint has a tensor's values. What was not trained is its own average.
std::string array_of_values(const SavedState& state, bool averages, const std::string& tensor) {
  std::string average = array_of(kAverageState, tensor);
  if (averages && state.count(average) > 0) return average;
  return array_of(kParameterState, tensor);
}

Error not_kept(const std::string& path, bool averages) {
  return {Errc::invalid_argument,
          averages ? path +
                         ": holds no moving averages: its job keeps none "
                         "(optimizer.average_decay), or they are in the other weights of it"
                   : path +
                         ": holds moving averages alone; the parameters are in the checkpoints "
                         "of its run"};
}

}  // namespace

Result<TrainedWeights> TrainedWeights::open_file(const std::string& path, ValuesOf which) {
  STERNA_ASSIGN(nets::TensorFile file, nets::TensorFile::open(path));
  TrainedWeights weights(path, std::move(file));
  const bool averages = weights.averages();
  if (which != ValuesOf::preferred && averages != (which == ValuesOf::averages)) {
    return not_kept(path, !averages);
  }
  return weights;
}

Result<TrainedWeights> TrainedWeights::open(const SavedCheckpoint& checkpoint, ValuesOf which) {
  STERNA_ASSIGN(SavedState state, SavedState::open(checkpoint));
  const bool kept = keeps_averages(state);
  if (which == ValuesOf::averages && !kept) return not_kept(checkpoint.folder, true);
  const bool averages = kept && which != ValuesOf::parameters;
  return TrainedWeights(checkpoint.folder, Checkpoint{checkpoint, std::move(state), averages});
}

Result<TrainedWeights> TrainedWeights::open_chosen(const SavedCheckpoint& checkpoint,
                                                   const std::string& path, ValuesOf which) {
  Result<TrainedWeights> weights = open(checkpoint, which);
  if (weights && checkpoint.folder != path) weights->passed_over_ = damaged_after(checkpoint);
  return weights;
}

Result<TrainedWeights> TrainedWeights::open(const std::string& path, ValuesOf which) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return open_file(path, which);
  const std::string file = (fs::path(path) / kWeightsFile).string();
  const bool has_file = fs::exists(file, ignored);
  const Result<SavedCheckpoint> checkpoint = open_checkpoint(path);
  if (!has_file) {
    if (!checkpoint && checkpoint.error().code == Errc::not_found) {
      return Error(checkpoint.error()).in(fmt::format("{} has no {}", path, kWeightsFile));
    }
    STERNA_TRY(checkpoint);
    return open_chosen(*checkpoint, path, which);
  }
  Result<TrainedWeights> final = open_file(file, which);
  if (!checkpoint) return final;
  // Of an earlier end, where the run was gone on with.
  const bool older = final && final->steps().value_or(0) < checkpoint->manifest.step;
  const bool lacks = !final && final.error().code == Errc::invalid_argument;
  return older || lacks ? open_chosen(*checkpoint, path, which) : std::move(final);
}

Result<TrainedWeights> TrainedWeights::open_best(const std::string& path, ValuesOf which) {
  STERNA_ASSIGN(const SavedCheckpoint checkpoint, open_best_checkpoint(path));
  return open(checkpoint, which);
}

Result<ModelNote> TrainedWeights::note() const {
  if (const auto* file = std::get_if<nets::TensorFile>(&source_)) {
    return note_from(file->metadata(), path_);
  }
  const Checkpoint& checkpoint = std::get<Checkpoint>(source_);
  STERNA_ASSIGN(ModelNote note, note_from(checkpoint.saved.manifest.note, path_));
  note.steps = checkpoint.saved.manifest.step;
  if (!checkpoint.averages) note.average_decay = 0;
  return note;
}

std::optional<std::uint64_t> TrainedWeights::steps() const {
  if (const auto* checkpoint = std::get_if<Checkpoint>(&source_)) {
    return checkpoint->saved.manifest.step;
  }
  const Result<ModelNote> said = note();
  if (!said) return std::nullopt;
  return said->steps;
}

bool TrainedWeights::averages() const {
  if (const auto* checkpoint = std::get_if<Checkpoint>(&source_)) return checkpoint->averages;
  const Result<ModelNote> said = note();
  return said && said->average_decay > 0;
}

std::string TrainedWeights::resolved() const {
  const auto* checkpoint = std::get_if<Checkpoint>(&source_);
  return checkpoint != nullptr ? checkpoint->saved.manifest.resolved : "";
}

Result<void> TrainedWeights::check(const std::string& net,
                                   const std::vector<nets::ParameterSpec>& table) const {
  for (const nets::ParameterSpec& spec : table) {
    const auto wrong = [&](const std::string& what) {
      return Error{Errc::malformed, fmt::format("{}: {} has \"{}\" {{{}}}, and {}", path_, net,
                                                spec.name, fmt::join(spec.shape, ", "), what)};
    };
    if (const auto* checkpoint = std::get_if<Checkpoint>(&source_)) {
      const std::uint64_t count = checkpoint->state.count(
          array_of_values(checkpoint->state, checkpoint->averages, spec.name));
      if (count == spec.count()) continue;
      if (count == 0) return wrong("the checkpoint has none");
      return wrong(fmt::format("the checkpoint has {} numbers of it", count));
    }
    const nets::ListedTensor* found = std::get<nets::TensorFile>(source_).find(spec.name);
    if (found == nullptr) return wrong("the file has none");
    if (found->shape != spec.shape) {
      return wrong(fmt::format("the file's is {{{}}}", fmt::join(found->shape, ", ")));
    }
    if (!found->readable()) {
      return wrong(fmt::format("the file's is of type {}", nets::shown_name(found->dtype)));
    }
  }
  return {};
}

std::optional<std::string> TrainedWeights::beside(
    const std::vector<nets::ParameterSpec>& table) const {
  std::set<std::string> known;
  for (const nets::ParameterSpec& spec : table) known.insert(spec.name);
  if (const auto* file = std::get_if<nets::TensorFile>(&source_)) {
    for (const nets::ListedTensor& tensor : file->tensors()) {
      if (tensor.readable() && !known.contains(tensor.name)) return nets::shown_name(tensor.name);
    }
    return std::nullopt;
  }
  const std::string prefix = array_of(kParameterState, "");
  for (const std::string& array : std::get<Checkpoint>(source_).state.arrays()) {
    if (!array.starts_with(prefix)) continue;
    const std::string name = array.substr(prefix.size());
    if (!known.contains(name)) return nets::shown_name(name);
  }
  return std::nullopt;
}

std::vector<nets::ListedTensor> TrainedWeights::tensors() const {
  if (const auto* file = std::get_if<nets::TensorFile>(&source_)) return file->tensors();
  const SavedState& state = std::get<Checkpoint>(source_).state;
  const std::string prefix = array_of(kParameterState, "");
  std::vector<nets::ListedTensor> listed;
  for (const std::string& array : state.arrays()) {
    if (!array.starts_with(prefix)) continue;
    listed.push_back({array.substr(prefix.size()), "F32", {state.count(array)}});
  }
  return listed;
}

Result<void> TrainedWeights::read(const nets::ListedTensor& tensor, std::uint64_t first,
                                  std::span<float> into) const {
  if (const auto* file = std::get_if<nets::TensorFile>(&source_)) {
    return file->read(tensor, first, into);
  }
  const Checkpoint& checkpoint = std::get<Checkpoint>(source_);
  STERNA_ASSIGN(
      const Bytes values,
      checkpoint.state.read(array_of_values(checkpoint.state, checkpoint.averages, tensor.name),
                            first, into.size()));
  std::memcpy(into.data(), values.data(), into.size_bytes());
  return {};
}

Result<void> TrainedWeights::read(const nets::ParameterSpec& spec, std::span<float> into) const {
  if (const auto* file = std::get_if<nets::TensorFile>(&source_)) {
    return file->read(*file->find(spec.name), 0, into);
  }
  nets::ListedTensor whole;
  whole.name = spec.name;
  return read(whole, 0, into);
}

}  // namespace sterna::actors
