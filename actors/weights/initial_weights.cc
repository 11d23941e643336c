#include "actors/weights/initial_weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "nets/weights/torchvision_names.h"
#include "runtime/base/file.h"

namespace sterna::actors {
namespace {

using nets::ListedTensor;
using nets::ParameterSpec;
using nets::shown_name;

constexpr std::size_t kNamesShown = 3;  // of each kind, in a summary

Error refused(std::string what) {
  return {Errc::invalid_argument, "init.from: " + std::move(what)};
}

std::string shown(std::span<const std::size_t> shape) {
  return fmt::format("{{{}}}", fmt::join(shape, ", "));
}
std::string shown(const ListedTensor& tensor) {
  return fmt::format("\"{}\" {}", shown_name(tensor.name), shown(tensor.shape));
}
std::string shown(const ParameterSpec& spec) {
  return fmt::format("\"{}\" {}", spec.name, shown(spec.shape));
}

Result<TrainedWeights> find_weights(const JobConfig& job) {
  namespace fs = std::filesystem;
  const std::string named = expand_home(job.init.from);
  std::vector<std::string> places{named};
  if (!job.data.dir.empty()) {
    places.push_back(expand_home(job.data.dir) / fs::path(named).filename());
  }
  for (const std::string& place : places) {
    Result<TrainedWeights> opened = TrainedWeights::open(place);
    if (opened || opened.error().code != Errc::not_found) return std::move(opened).in("init.from");
    std::error_code ignored;
    // It is there, and no copy elsewhere is what was meant.
    if (fs::is_directory(place, ignored)) return refused(opened.error().message);
  }
  return Error{Errc::not_found,
               fmt::format("init.from: this host has no {}: every host with a parameter server "
                           "needs the file; copy it there, or name a place that all share",
                           fmt::join(places, " and no "))};
}

/// Numbers in names by their values: "features.2" before "features.10".
bool naturally_before(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  while (!a.empty() && !b.empty()) {
    if (digit(a.front()) && digit(b.front())) {
      const auto number = [&](std::string_view text) {
        return text.substr(0, std::ranges::find_if_not(text, digit) - text.begin());
      };
      const std::string_view one = number(a), other = number(b);
      if (one.size() != other.size()) return one.size() < other.size();
      if (one != other) return one < other;
      a.remove_prefix(one.size());
      b.remove_prefix(other.size());
      continue;
    }
    if (a.front() != b.front()) return a.front() < b.front();
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  return a.size() < b.size();
}

/// In words the first tensor in which another net's file differs from ours: matrices and windows
/// are compared one after the other, and then what else it has.
std::string first_difference(const std::vector<ListedTensor>& tensors,
                             const std::vector<ParameterSpec>& specs) {
  std::vector<const ListedTensor*> theirs;
  for (const ListedTensor& tensor : tensors) {
    if (tensor.readable()) theirs.push_back(&tensor);
  }
  std::ranges::sort(
      theirs, [](const auto* a, const auto* b) { return naturally_before(a->name, b->name); });
  std::stable_partition(theirs.begin(), theirs.end(),
                        [](const auto* one) { return one->shape.size() > 1; });
  auto ours = specs.begin();
  const auto next = [&] {
    return ours = std::find_if(ours, specs.end(),
                               [](const auto& spec) { return spec.shape.size() > 1; });
  };
  for (const ListedTensor* tensor : theirs) {
    if (next() == specs.end()) return fmt::format("ours has no {}", shown(*tensor));
    if (tensor->shape != ours->shape) {
      return fmt::format("where it has {}, ours has {}", shown(*tensor), shown(*ours));
    }
    ++ours;
  }
  if (next() != specs.end()) return fmt::format("it has no {}", shown(*ours));
  return "its tensors have other names";
}

std::string torchvisions_nets() {
  return fmt::format("of torchvision's nets those are ours that train as {}",
                     fmt::join(nets::torchvision_nets(), " and "));
}

}  // namespace

Result<InitialWeights> InitialWeights::open(const JobConfig& job,
                                            const std::vector<ParameterSpec>& specs) {
  STERNA_ASSIGN(TrainedWeights opened, find_weights(job));
  std::vector<ListedTensor> listed = opened.tensors();
  InitialWeights weights(std::move(opened), std::move(listed));
  const std::string& path = weights.path();
  const bool torchvision = job.init.names == kTorchvisionNames;
  const auto known = nets::torchvision_nets();
  if (torchvision && std::ranges::find(known, job.net) == known.end()) {
    return refused(fmt::format("{} is another net than {}: {}; {}", path, job.net,
                               first_difference(weights.tensors_, specs), torchvisions_nets()));
  }
  std::set<std::string_view> taken, skipped;  // in the file
  std::vector<std::optional<std::size_t>> sources;
  InitialMatch match;
  for (const ParameterSpec& spec : specs) {
    const std::string name =
        torchvision ? nets::torchvision_name(job.net, spec.name).value_or(spec.name) : spec.name;
    const auto found = std::ranges::find(weights.tensors_, name, &ListedTensor::name);
    const bool has = found != weights.tensors_.end();
    const bool skips = job.init.skips(spec.name);
    if (skips || !has) {
      if (torchvision && !skips) {
        return refused(fmt::format("{} has no \"{}\", which is {} of {}: {}", path, name,
                                   shown(spec), job.net, torchvisions_nets()));
      }
      if (has) skipped.insert(found->name);
      sources.emplace_back();
      match.drawn.push_back(spec.name);
      continue;
    }
    const std::string fresh = spec.name.substr(0, spec.name.rfind('/'));
    const bool fits = weights.weights_.of_checkpoint() ? found->count() == spec.count()
                                                       : found->shape == spec.shape;
    if (!fits) {
      return refused(
          fmt::format("{} is {} in {}; the rest of the file is taken with init.skip = "
                      "[\"{}\"]",
                      shown(spec), shown(*found), path, fresh));
    }
    if (!found->readable()) {
      return refused(fmt::format("{} of {} is of type {}; F32, F16 and BF16 are read",
                                 shown(*found), path, shown_name(found->dtype)));
    }
    taken.insert(found->name);
    sources.emplace_back(found - weights.tensors_.begin());
    match.taken.push_back(spec.name);
    match.elements_taken += spec.count();
  }
  for (const ListedTensor& tensor : weights.tensors_) {
    if (taken.contains(tensor.name)) continue;
    const bool skips = skipped.contains(tensor.name) || !tensor.readable();
    if (torchvision && !skips) {
      return refused(fmt::format(
          "{} has {}, and {} as it is chosen has no such tensor: {}", path, shown(tensor), job.net,
          job.net_choices.bn_scale ? torchvisions_nets() : "set net.bn_scale = true"));
    }
    match.left.push_back(shown_name(tensor.name));
  }
  if (match.taken.empty()) {
    return refused(fmt::format("{} has none of the tensors that {} would take: {}", path, job.net,
                               first_difference(weights.tensors_, specs)));
  }
  weights.sources_ = std::move(sources);
  weights.match_ = std::move(match);
  return weights;
}

Result<void> InitialWeights::read(std::uint32_t index, std::uint64_t first,
                                  std::span<float> into) const {
  if (!sources_[index]) return {};
  const ListedTensor& tensor = tensors_[*sources_[index]];
  STERNA_TRY(weights_.read(tensor, first, into).in("init.from"));
  const auto wrong = std::ranges::find_if_not(into, [](float x) { return std::isfinite(x); });
  if (wrong == into.end()) return {};
  return Error{Errc::non_finite,
               fmt::format("init.from: element {} of {} in {} is {}",
                           first + (wrong - into.begin()), shown(tensor), path(), *wrong)};
}

namespace {

/// "2 drawn: a, b".
std::string counted(const std::vector<std::string>& names, std::string_view what,
                    std::size_t most) {
  const std::size_t shown = std::min(most, names.size());
  std::string text =
      fmt::format("{} {}: {}", names.size(), what, fmt::join(std::span(names).first(shown), ", "));
  if (shown < names.size()) text += ", …";
  return text;
}

}  // namespace

std::vector<std::string> summary(const InitialWeights& weights) {
  const InitialMatch& match = weights.match();
  std::vector<std::string> lines{fmt::format("init.from: {} tensors, {} numbers, from {}",
                                             match.taken.size(), match.elements_taken,
                                             weights.path())};
  if (!match.drawn.empty()) {
    lines.push_back("init.from: " + counted(match.drawn, "drawn from the seed", kNamesShown));
  }
  if (!match.left.empty()) {
    lines.push_back("init.from: " + counted(match.left, "of the file left out", kNamesShown));
  }
  return lines;
}

std::vector<std::string> listing(const InitialWeights& weights) {
  const InitialMatch& match = weights.match();
  std::vector<std::string> lines = summary(weights);
  for (const std::string& name : match.taken) lines.push_back("init.from: taken: " + name);
  for (const std::string& name : match.drawn) lines.push_back("init.from: drawn: " + name);
  for (const std::string& name : match.left) lines.push_back("init.from: left out: " + name);
  return lines;
}

}  // namespace sterna::actors
