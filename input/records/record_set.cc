#include "input/records/record_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

/// Files that stay open; processes may hold but so many.
constexpr std::size_t kMostOpen = 256;

}  // namespace

Result<RecordSet> RecordSet::open(std::span<const fs::path> files, const UnpackOptions& options) {
  RecordSet set;
  STERNA_ASSIGN(set.paths_, plain_record_files(files, options));
  for (const fs::path& path : set.paths_) {
    STERNA_ASSIGN(RecordFile file, RecordFile::open(path));
    STERNA_ASSIGN(KeptIndex kept, load_index(file, options.cache));
    set.ends_.push_back(set.count() + kept.index.count());
    set.indexes_.push_back(std::move(kept.index));
    if (set.open_.size() < kMostOpen) set.open_.push_back(std::move(file));
  }
  return set;
}

Result<PictureRecord> RecordSet::read(std::uint64_t index) const {
  const Where where = locate(index);
  std::vector<std::uint8_t> data;
  if (where.file < open_.size()) {
    STERNA_TRY(open_[where.file].read(where.place, data));
  } else {
    STERNA_ASSIGN(const RecordFile file, RecordFile::open(paths_[where.file]));
    STERNA_TRY(file.read(where.place, data));
  }
  Result<PictureRecord> record = parse_picture_record(data);
  return std::move(record).in(place_of(index));
}

void RecordSet::announce(std::uint64_t index) const {
  const Where where = locate(index);
  if (where.file < open_.size()) open_[where.file].announce(where.place);
}

std::string RecordSet::place_of(std::uint64_t index) const {
  const auto [file, place] = locate(index);
  return fmt::format("{}: record {} at byte {}", paths_[file].string(), place.number, place.offset);
}

RecordSet::File RecordSet::file_of(std::uint64_t index) const {
  const std::size_t file = locate(index).file;
  return {file, file == 0 ? 0 : ends_[file - 1], ends_[file]};
}

RecordSet::Where RecordSet::locate(std::uint64_t index) const {
  assert(index < count());
  const auto end = std::ranges::upper_bound(ends_, index);
  const auto file = static_cast<std::size_t>(end - ends_.begin());
  const std::uint64_t first = file == 0 ? 0 : ends_[file - 1];
  return {file, indexes_[file].place(static_cast<std::size_t>(index - first))};
}

}  // namespace sterna::input
