#include "input/formats/tfrecord_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "input/files/linked_file.h"
#include "input/formats/labels.h"
#include "input/pictures/decode.h"
#include "input/records/record_files.h"
#include "input/records/record_set.h"

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

Result<std::uint32_t> classes_of(const fs::path& dir, const DataOptions& options) {
  if (options.classes > 0) return options.classes;
  const fs::path path = dir / kLabelsFile;
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    return Error{
        Errc::not_found,
        fmt::format("{} does not say how many classes its pictures have; write their names "
                    "into labels.txt there, a line each, or set data.classes",
                    dir.string())};
  }
  STERNA_ASSIGN(const ClassLabels labels, read_labels(path));
  const auto classes = static_cast<std::uint32_t>(labels.first + labels.names.size());
  if (classes > options.label_offset) return classes - options.label_offset;
  return Error{Errc::invalid_argument,
               fmt::format("{} has {} classes, and data.label_offset = {} leaves none",
                           path.string(), classes, options.label_offset)};
}

class TfRecordSource final : public Source {
 public:
  TfRecordSource(RecordSet records, std::uint32_t classes, const DataOptions& options)
      : records_(std::move(records)),
        label_offset_(options.label_offset),
        facts_{.count = records_.count(),
               .shape = {0, 0, 3},
               .classes = classes,
               .family = options.family,
               .sha256 = records_.sha256()} {}

  const SourceFacts& facts() const override { return facts_; }

  Result<StoredExample> read(std::uint64_t index) const override {
    STERNA_ASSIGN(PictureRecord record, records_.read(index));
    STERNA_ASSIGN(const std::uint16_t label, label_of(record, index));
    StoredExample example;
    example.own.assign(record.bytes.begin(), record.bytes.end());
    example.picture = {record.coding, example.own, record.shape};
    example.label = label;
    example.boxes = upright(std::move(record.boxes), example.picture);
    return example;
  }

  std::string place_of(std::uint64_t index) const override { return records_.place_of(index); }

  void announce(std::span<const std::uint64_t> indices) const override {
    for (const std::uint64_t index : indices) records_.announce(index);
  }

  ExampleRange block_of(std::uint64_t index) const override {
    const RecordSet::File file = records_.file_of(index);
    return {file.first, file.end};
  }

 private:
  /// As the net sees it.
  Result<std::uint16_t> label_of(const PictureRecord& record, std::uint64_t index) const {
    if (!record.label) {
      return Error{Errc::invalid_argument, fmt::format("{} has no label", place_of(index))};
    }
    const std::int64_t first = label_offset_;
    if (*record.label >= first && *record.label < first + facts_.classes) {
      return static_cast<std::uint16_t>(*record.label - first);
    }
    return Error{Errc::invalid_argument,
                 fmt::format("{} has the label {}, and with data.label_offset = {} there are {} "
                             "classes; set data.label_offset and data.classes as the files were "
                             "made",
                             place_of(index), *record.label, label_offset_, facts_.classes)};
  }

  RecordSet records_;
  std::uint32_t label_offset_;
  SourceFacts facts_;
};

Result<std::shared_ptr<const Source>> open(const fs::path& dir, Split split,
                                           const DataOptions& options) {
  STERNA_ASSIGN(const std::uint32_t classes, classes_of(dir, options));
  STERNA_ASSIGN(const std::vector<fs::path> files, record_files(dir, split, options));
  STERNA_ASSIGN(RecordSet records, RecordSet::open(files, {.cache = options.cache}));
  if (records.count() == 0) {
    return Error{Errc::malformed, fmt::format("{} has files without any record", dir.string())};
  }
  return std::shared_ptr<const Source>(
      std::make_shared<const TfRecordSource>(std::move(records), classes, options));
}

Result<SourceFacts> facts_of(const fs::path& dir, Split split, const DataOptions& options) {
  STERNA_ASSIGN(const auto source, open(dir, split, options));
  return source->facts();
}

/// Patterns may name one file by several ways through folders.
fs::path in_one_form(const fs::path& file) {
  std::error_code ignored;
  return fs::absolute(file, ignored).lexically_normal();
}

/// By the user's pattern, or else by the words in their names.
Result<std::vector<fs::path>> files_named(const fs::path& dir, Split split,
                                          const DataOptions& options) {
  const bool train = split == Split::train;
  const std::string& pattern = train ? options.train_files : options.test_files;
  if (!pattern.empty()) return match_record_files(dir, pattern);
  return train ? find_record_files(dir, kTrainingWords) : find_record_files(dir, kTestWords);
}

bool looks_like_it(const fs::path& dir, const DataOptions& options) {
  return record_files(dir, Split::train, options).ok() &&
         record_files(dir, Split::test, options).ok();
}

/// The ending of a packed file, which tells people and others' readers of it.
std::string packed_ending(const fs::path& path) {
  const std::string ending = path.extension().string();
  return ending == ".gz" || ending == ".zlib" || ending == ".zz" ? ending : "";
}

/// Under names that make a whole set of them again.
Result<void> lay(const fs::path& dir, Split split, const ExampleRange& range, const fs::path& into,
                 const DataOptions& options) {
  STERNA_ASSIGN(const std::vector<fs::path> files, record_files(dir, split, options));
  STERNA_ASSIGN(const RecordSet records, RecordSet::open(files, {.cache = options.cache}));
  std::vector<fs::path> chosen;
  for (std::uint64_t at = range.first; at < range.end;) {
    const RecordSet::File file = records.file_of(at);
    chosen.push_back(files[file.number]);
    at = file.end;
  }
  const std::string_view word = split == Split::train ? "train" : "validation";
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    STERNA_TRY(
        link_or_copy(chosen[i], into / fmt::format("{}-{:05}-of-{:05}{}", word, i, chosen.size(),
                                                   packed_ending(chosen[i]))));
  }
  std::error_code ignored;
  if (!fs::exists(dir / kLabelsFile, ignored)) return {};
  return link_or_copy(dir / kLabelsFile, into / kLabelsFile);
}

}  // namespace

Result<std::vector<fs::path>> record_files(const fs::path& dir, Split split,
                                           const DataOptions& options) {
  STERNA_ASSIGN(std::vector<fs::path> files, files_named(dir, split, options));
  const auto others = files_named(dir, split == Split::train ? Split::test : Split::train, options);
  if (!others) return files;  // whoever reads one split may have no other
  std::set<fs::path> of_others;
  for (const fs::path& other : *others) of_others.insert(in_one_form(other));
  const auto both = std::ranges::find_if(
      files, [&](const fs::path& file) { return of_others.contains(in_one_form(file)); });
  if (both == files.end()) return files;
  return Error{Errc::invalid_argument,
               fmt::format("{} would be trained on and tested with; give patterns for the files of "
                           "each split that share none (data.train_files, data.test_files)",
                           both->string())};
}

constexpr Format kTfRecord{.name = "tfrecord",
                           .files = nullptr,
                           .load = nullptr,
                           .facts = facts_of,
                           .write = nullptr,
                           .open = open,
                           .holds = looks_like_it,
                           .signs = "*train* *validation*|*valid*|*val*|*test*",
                           .lay = lay};

}  // namespace sterna::input
