#include "input/build/record_split.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "input/build/encode_record.h"
#include "input/files/listing.h"
#include "input/formats/format.h"
#include "input/formats/picture_folder.h"
#include "input/formats/source.h"
#include "input/formats/tfrecord_folder.h"
#include "input/place/class_names.h"
#include "input/place/data_set.h"
#include "input/records/record_set.h"

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

using MaybeSplit = std::optional<RecordSplit>;

/// Classes that nothing names: by their numbers, so that whoever reads the records knows how many.
ClassLabels numbered(std::size_t classes) {
  ClassLabels labels;
  for (std::size_t label = 0; label < classes; ++label) {
    labels.names.push_back(std::to_string(label));
  }
  return labels;
}

Result<MaybeSplit> open_stored(const fs::path& dir, Split split) {
  STERNA_ASSIGN(Dataset dataset, load_data(dir, split));
  RecordSplit opened;
  STERNA_ASSIGN(opened.labels, labels_in(dir));
  if (!opened.labels) opened.labels = numbered(dataset.classes);
  const auto source = std::make_shared<const MemorySource>(std::move(dataset));
  opened.count = source->facts().count;
  opened.read = [source, split](std::uint64_t index) -> Result<PictureRecord> {
    STERNA_ASSIGN(const StoredExample example, source->read(index));
    STERNA_ASSIGN(PictureRecord record, file_record(example));
    record.label = example.label;
    record.name = fmt::format("{}_{:05}.png", split == Split::train ? "train" : "test", index);
    return record;
  };
  return MaybeSplit(std::move(opened));
}

Result<MaybeSplit> open_pictures(const fs::path& dir, Split split) {
  STERNA_ASSIGN(std::optional<PictureFolder> listed, list_split(dir, split));
  if (!listed && split == Split::test) return MaybeSplit();
  if (!listed) {
    STERNA_ASSIGN(listed, list_picture_folder(dir));
  }
  const auto pictures = std::make_shared<const PictureFolder>(*std::move(listed));
  RecordSplit opened;
  opened.count = pictures->pictures.size();
  opened.labels = ClassLabels{pictures->classes, 0};
  opened.read = [pictures](std::uint64_t index) -> Result<PictureRecord> {
    const PictureFolder::Picture& picture = pictures->pictures[index];
    STERNA_ASSIGN(const StoredExample example, read_picture(*pictures, index));
    STERNA_ASSIGN(PictureRecord record, file_record(example).in(picture.path.string()));
    record.label = picture.label;
    record.name = picture.path.filename().string();
    return record;
  };
  return MaybeSplit(std::move(opened));
}

Result<MaybeSplit> open_records(const fs::path& dir, const std::vector<fs::path>& paths,
                                const fs::path& cache) {
  STERNA_ASSIGN(RecordSet set, RecordSet::open(paths, {.cache = cache}));
  const auto records = std::make_shared<const RecordSet>(std::move(set));
  RecordSplit opened;
  opened.count = records->count();
  STERNA_ASSIGN(opened.labels, labels_in(dir));
  opened.read = [records](std::uint64_t index) -> Result<PictureRecord> {
    STERNA_ASSIGN(PictureRecord record, records->read(index));
    const std::int64_t label = record.label.value_or(-1);
    if (label >= 0 && label < static_cast<std::int64_t>(kMostClasses)) return record;
    return Error{Errc::malformed, fmt::format("{}: its label must be 0 to {}",
                                              records->place_of(index), kMostClasses - 1)};
  };
  return MaybeSplit(std::move(opened));
}

/// Of a place with several data sets, each in a folder of its name, as the cache has them.
Result<void> check_no_sets_in(const fs::path& dir, const std::vector<std::string>& folders) {
  std::vector<std::string> sets;
  for (const std::string& folder : folders) {
    if (find_data_set(folder) == nullptr) continue;
    if (missing_files(format_of(dir / folder, {}), dir / folder).empty()) {
      sets.push_back((dir / folder).string());
    }
  }
  if (sets.empty()) return {};
  return Error{Errc::invalid_argument,
               fmt::format("{} holds data sets in folders of their own; name one: {}", dir.string(),
                           fmt::join(sets, ", "))};
}

/// Whether a file's name says that it is of TFRecord's.
bool holds_records(const Result<std::vector<fs::path>>& training) {
  return training.ok() || training.error().code != Errc::not_found;
}

}  // namespace

Result<std::optional<RecordSplit>> open_record_split(const fs::path& dir, Split split,
                                                     const fs::path& cache) {
  std::error_code ignored;
  if (fs::exists(dir, ignored) && !fs::is_directory(dir, ignored)) {
    return Error{Errc::invalid_argument, dir.string() + " is a file; name its folder"};
  }
  const Format& format = format_of(dir, {});
  if (format.load != nullptr && missing_files(format, dir).empty()) return open_stored(dir, split);
  const auto training = record_files(dir, Split::train, {});
  if (!holds_records(training)) {
    STERNA_ASSIGN(const std::vector<std::string> folders, names_in(dir, fs::file_type::directory));
    STERNA_TRY(check_no_sets_in(dir, folders));
    if (!folders.empty()) return open_pictures(dir, split);
  }
  if (!training) return training.error();
  if (split == Split::train) return open_records(dir, *training, cache);
  const auto test = record_files(dir, Split::test, {});
  if (test) return open_records(dir, *test, cache);
  if (test.error().code == Errc::not_found) return MaybeSplit();
  return test.error();
}

}  // namespace sterna::input
