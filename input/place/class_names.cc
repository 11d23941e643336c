#include "input/place/class_names.h"

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
  const Format& format = format_of(dir);
  if (&format == &kPictureFolder) {  // which counts its classes from 0, whatever labels.txt says
    STERNA_ASSIGN(std::optional<PictureFolder> folder, list_split(dir, Split::train));
    if (!folder) return std::optional<ClassLabels>();
    return std::optional(ClassLabels{std::move(folder->classes), 0});
  }
  STERNA_ASSIGN(std::optional<ClassLabels> labels, labels_in(dir));
  if (!labels || &format != &kTfRecord) return labels;
  return std::optional(less(*std::move(labels), options.label_offset));
}

}  // namespace sterna::input
