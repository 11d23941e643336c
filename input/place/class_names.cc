#include "input/place/class_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <utility>

#include "input/formats/picture_folder.h"
#include "input/formats/picture_source.h"
#include "input/formats/tfrecord_folder.h"

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

/// The same names for labels that are less by `offset`; those below it are gone.
ClassLabels less(ClassLabels labels, std::uint32_t offset) {
  const std::uint32_t both = std::min<std::uint32_t>(offset, labels.first);
  const std::size_t gone = std::min<std::size_t>(offset - both, labels.names.size());
  labels.first = static_cast<std::uint16_t>(labels.first - both);
  labels.names.erase(labels.names.begin(),
                     labels.names.begin() + static_cast<std::ptrdiff_t>(gone));
  return labels;
}

/// So many classes are called by name.
constexpr std::size_t kMostNamed = 5;

/// Of folders of pictures, which are counted from 0.
Result<std::vector<std::string>> picture_hints(const fs::path& dir) {
  std::vector<std::string> hints;
  STERNA_ASSIGN(std::optional<ClassLabels> labels,
                labels_in(split_folder(dir, Split::train).value_or(dir)));
  if (!labels) {
    STERNA_ASSIGN(labels, labels_in(dir));
  }
  if (labels && labels->first > 0) {
    hints.push_back(
        fmt::format("labels.txt counts from {}, and folders of pictures from 0: {} is "
                    "class 0",
                    labels->first, labels->names.front()));
  }
  STERNA_ASSIGN(std::optional<PictureFolder> folder, list_split(dir, Split::train));
  if (!folder) {
    STERNA_ASSIGN(folder, list_picture_folder(dir));
  }
  std::vector<std::uint64_t> pictures(folder->classes.size());
  for (const PictureFolder::Picture& picture : folder->pictures) ++pictures[picture.label];
  std::string lacking = without_examples(pictures, ClassLabels{folder->classes, 0});
  if (!lacking.empty()) hints.push_back(std::move(lacking));
  return hints;
}

}  // namespace

Result<std::optional<ClassLabels>> labels_in(const fs::path& dir) {
  constexpr std::array<std::string_view, 3> kNames{kLabelsFile, "batches.meta.txt",
                                                   "fine_label_names.txt"};
  for (const std::string_view name : kNames) {
    std::error_code ignored;
    if (!fs::exists(dir / name, ignored)) continue;
    STERNA_ASSIGN(ClassLabels labels, read_labels(dir / name));
    return std::optional(std::move(labels));
  }
  return std::optional<ClassLabels>();
}

Result<std::optional<ClassLabels>> class_names(const fs::path& dir, const DataOptions& options) {
  if (options.synthetic) return std::optional<ClassLabels>();
  const Format& format = format_of(dir, options);
  if (&format == &kPictureFolder) {  // which counts its classes from 0, whatever labels.txt says
    STERNA_ASSIGN(std::optional<PictureFolder> folder, list_split(dir, Split::train));
    if (!folder) return std::optional<ClassLabels>();
    return std::optional(ClassLabels{std::move(folder->classes), 0});
  }
  STERNA_ASSIGN(std::optional<ClassLabels> labels, labels_in(dir));
  if (!labels || &format != &kTfRecord) return labels;
  return std::optional(less(*std::move(labels), options.label_offset));
}

std::string without_examples(std::span<const std::uint64_t> examples,
                             const std::optional<ClassLabels>& names) {
  const auto name_of = [&](std::size_t label) {
    const bool named = names && label >= names->first && label - names->first < names->names.size();
    return named ? names->names[label - names->first] : std::to_string(label);
  };
  std::vector<std::string> lacking;
  const auto count = static_cast<std::size_t>(std::ranges::count(examples, 0U));
  for (std::size_t label = 0; label < examples.size() && lacking.size() < kMostNamed; ++label) {
    if (examples[label] == 0) lacking.push_back(name_of(label));
  }
  if (count == 0) return "";
  return fmt::format("{} of {} classes {} no example to train on: {}{}", count, examples.size(),
                     count == 1 ? "has" : "have", fmt::join(lacking, ", "),
                     count > lacking.size() ? ", ..." : "");
}

Result<std::vector<std::string>> class_hints(const fs::path& dir, const DataOptions& options) {
  const Format& format = format_of(dir, options);
  if (&format != &kTfRecord) {
    // What has files of fixed names is of a data set whose classes are known.
    const bool named = format.files != nullptr && missing_files(format, dir, options).empty();
    if (named || options.synthetic) return std::vector<std::string>();
    return picture_hints(dir);
  }
  STERNA_ASSIGN(const std::optional<ClassLabels> names, class_names(dir, options));
  if (!names || names->first == 0) return std::vector<std::string>();
  const bool one = names->first == 1;
  const std::uint32_t first = names->first + options.label_offset;
  return std::vector{fmt::format(
      "labels.txt begins at {}: {} no name; where no example has {}, "
      "data.label_offset = {} leaves {} out",
      first, one ? "class 0 has" : fmt::format("classes 0 to {} have", names->first - 1),
      one ? "it" : "them", first, one ? "it" : "them")};
}

}  // namespace sterna::input
