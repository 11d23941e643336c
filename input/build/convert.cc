#include "input/build/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "input/build/build_note.h"
#include "input/build/encode_record.h"
#include "input/build/file_names.h"
#include "input/build/record_split.h"
#include "input/formats/labels.h"
#include "runtime/base/file.h"

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

/// Both splits of what is converted.
struct Whole {
  RecordSplit train;
  std::optional<RecordSplit> validation;
  std::uint64_t total() const { return train.count + (validation ? validation->count : 0); }
};

Result<Whole> open_whole(const fs::path& from, const fs::path& cache) {
  Whole whole;
  STERNA_ASSIGN(std::optional<RecordSplit> train, open_record_split(from, Split::train, cache));
  if (!train) return Error{Errc::not_found, from.string() + " has nothing to train on"};
  whole.train = *std::move(train);
  STERNA_ASSIGN(whole.validation, open_record_split(from, Split::test, cache));
  return whole;
}

/// What `labels` call this class; empty: nothing. `malformed` where they do not have it.
Result<std::string> class_name(const std::optional<ClassLabels>& labels, std::int64_t label) {
  if (!labels) return std::string();
  const std::int64_t index = label - labels->first;
  if (index >= 0 && index < static_cast<std::int64_t>(labels->names.size())) {
    return labels->names[static_cast<std::size_t>(index)];
  }
  return Error{Errc::malformed,
               fmt::format("an example has label {}, which the data set's labels ({} to {}) do not "
                           "name; correct them",
                           label, labels->first, labels->first + labels->names.size() - 1)};
}

/// Pictures that cannot be read: who mends them wants to know of all at once. Any thread may add.
class BadPictures {
 public:
  /// `split` and `index` say which stands first.
  void add(const std::string& split, std::uint64_t index, std::string why) {
    const std::lock_guard lock(mutex_);
    ++count_;
    lines_.emplace(std::pair(split, index), std::move(why));
    if (lines_.size() > kNamedBad) lines_.erase(std::prev(lines_.end()));
  }
  bool none() const {
    const std::lock_guard lock(mutex_);
    return count_ == 0;
  }
  /// A line each; malformed.
  Error error(std::uint64_t total) const {
    const std::lock_guard lock(mutex_);
    std::string text = fmt::format(
        "{} of {} pictures cannot be read, so nothing is written; mend or remove them:", count_,
        total);
    for (const auto& [place, why] : lines_) text += "\n  " + why;
    if (count_ > lines_.size()) text += fmt::format("\n  and {} more", count_ - lines_.size());
    return {Errc::malformed, std::move(text)};
  }

 private:
  static constexpr std::size_t kNamedBad = 10;  // more than a screen wants
  mutable std::mutex mutex_;
  std::uint64_t count_ = 0;
  std::map<std::pair<std::string, std::uint64_t>, std::string> lines_;
};

ShardedSplit one_file(const std::string& prefix, const RecordSplit& split, BadPictures& bad) {
  using Data = std::optional<std::vector<std::uint8_t>>;
  return {prefix, 1, split.count, [&split, &bad, prefix](std::uint64_t index) -> Result<Data> {
            Result<PictureRecord> read = split.read(index);
            if (!read && read.error().code == Errc::malformed) {
              bad.add(prefix, index, read.error().message);
              return Data();
            }
            STERNA_ASSIGN(PictureRecord record, std::move(read));
            if (record.class_text.empty()) {
              STERNA_ASSIGN(record.class_text, class_name(split.labels, record.label.value_or(0)));
            }
            return Data(pack_picture_record(record));
          }};
}

/// What a file of this coding ends in: as `name` does, where that is an ending of the coding's.
std::string_view ending_of(Coding coding, std::string_view name) {
  constexpr std::array<std::string_view, 4> kJpeg{".jpg", ".jpeg", ".JPEG", ".JPG"};
  constexpr std::array<std::string_view, 2> kPng{".png", ".PNG"};
  const std::span<const std::string_view> endings =
      coding == Coding::jpeg ? std::span<const std::string_view>(kJpeg) : kPng;
  const auto found = std::ranges::find_if(
      endings, [name](std::string_view ending) { return name.ends_with(ending); });
  return found != endings.end() ? *found : endings.front();
}

constexpr const char* kTrain = "train";
constexpr const char* kValidation = "validation";

/// In the folder that is written to: what is not whole yet, so that a call that is interrupted
/// leaves no data set, and the next knows what is its own to remove.
constexpr const char* kUnfinished = "convert.unfinished";

/// Takes `into`, which is empty, but for what a call that was killed has left.
Result<FolderLock> begin_conversion(const fs::path& into) {
  const auto is_left = [](std::string_view name) { return name == kUnfinished; };
  STERNA_ASSIGN(FolderLock lock, begin_in_empty_folder(into, is_left));
  STERNA_TRY(make_directory(into / kUnfinished));
  return lock;
}

/// Brings `names`, in this order, to where they belong. What is trained on comes last: without it
/// nothing is a data set.
Result<void> finish_conversion(const fs::path& into, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    STERNA_TRY(rename_into_place(into / kUnfinished / name, into / name));
  }
  std::error_code ignored;
  fs::remove(into / kUnfinished, ignored);
  return {};
}

/// A picture folder that grows.
class FolderWriter {
 public:
  FolderWriter(fs::path into, const ConvertOptions& options, std::uint64_t total)
      : into_(std::move(into)), options_(options), total_(total) {}

  /// Before all splits, so that labels keep their numbers where some have no example.
  void name_classes(const ClassLabels& labels) {
    for (std::size_t i = 0; i < labels.names.size(); ++i) {
      name_folder(static_cast<std::int64_t>(labels.first + i), labels.names[i]);
    }
  }

  Result<void> write(const std::string& split_name, const RecordSplit& split) {
    if (split.count > 0) splits_.push_back(split_name);
    for (std::uint64_t index = 0; index < split.count; ++index) {
      STERNA_TRY(write_one(split_name, split, index));
      ++done_;
      if (options_.progress) options_.progress(done_, total_);
    }
    return {};
  }

  /// After all splits. The classes that were named or met, in the order of their labels.
  Result<void> finish() const {
    if (!bad_.none()) return bad_.error(total_);
    ClassLabels labels;
    for (const auto& [label, name] : folders_) labels.names.push_back(name);
    STERNA_TRY(write_labels(into_ / kUnfinished / kLabelsFile, labels));
    std::vector<std::string> names{std::string(kLabelsFile)};
    names.insert(names.end(), splits_.rbegin(), splits_.rend());
    return finish_conversion(into_, names);
  }

 private:
  /// After a bad one the others are only looked at.
  Result<void> write_one(const std::string& split_name, const RecordSplit& split,
                         std::uint64_t index) {
    const Result<PictureRecord> record = split.read(index);
    if (!record && record.error().code == Errc::malformed) {
      bad_.add(split_name, index, record.error().message);
      return {};
    }
    STERNA_TRY(record);
    STERNA_ASSIGN(const std::string folder, class_folder(*record, split.labels));
    if (!bad_.none()) return {};
    return write_picture(into_ / kUnfinished / split_name / folder, *record, index);
  }

  Result<std::string> class_folder(const PictureRecord& record,
                                   const std::optional<ClassLabels>& labels) {
    const std::int64_t label = record.label.value_or(0);
    const auto found = folders_.find(label);
    if (found != folders_.end()) return found->second;
    STERNA_ASSIGN(const std::string name, class_name(labels, label));
    return name_folder(label, name.empty() ? record.class_text : name);
  }

  std::string name_folder(std::int64_t label, std::string_view name) {
    const std::string safe = safe_file_name(name);
    const std::string number = std::to_string(label);
    return folders_[label] = free_name(class_names_, safe.empty() ? number : safe, "", number);
  }

  Result<void> write_picture(const fs::path& folder, const PictureRecord& record,
                             std::uint64_t index) {
    if (record.coding == Coding::pixels) {
      const StoredExample example{.picture = record.picture()};
      STERNA_ASSIGN(PictureRecord png, file_record(example));
      png.name = record.name;
      return write_picture(folder, png, index);
    }
    std::string stem = safe_file_name(record.name);
    const std::string_view ending = ending_of(record.coding, stem);
    if (stem.ends_with(ending)) stem.resize(stem.size() - ending.size());
    const std::string number = fmt::format("{:08}", index);
    std::set<std::string>& taken = taken_[folder.string()];
    if (taken.empty()) STERNA_TRY(make_directory(folder));
    const std::string name = free_name(taken, stem.empty() ? number : stem, ending, number);
    return write_atomically(folder / name, record.bytes);
  }

  const fs::path into_;
  const ConvertOptions& options_;
  const std::uint64_t total_;
  std::uint64_t done_ = 0;
  BadPictures bad_;
  std::vector<std::string> splits_;              ///< written so far
  std::map<std::int64_t, std::string> folders_;  ///< of each label
  std::set<std::string> class_names_;
  std::map<std::string, std::set<std::string>> taken_;  ///< in each folder
};

Result<void> write_folder(const Whole& whole, const fs::path& into, const ConvertOptions& options) {
  FolderWriter writer(into, options, whole.total());
  if (whole.train.labels) writer.name_classes(*whole.train.labels);
  STERNA_TRY(writer.write(kTrain, whole.train));
  if (whole.validation) STERNA_TRY(writer.write(kValidation, *whole.validation));
  return writer.finish();
}

Result<void> write_records(const Whole& whole, const fs::path& into,
                           const ConvertOptions& options) {
  BadPictures bad;
  std::vector<ShardedSplit> splits{one_file(kTrain, whole.train, bad)};
  if (whole.validation) splits.push_back(one_file(kValidation, *whole.validation, bad));
  const auto threads = static_cast<unsigned>(splits.size());
  STERNA_TRY(write_shards(into / kUnfinished, splits, threads, options.progress));
  if (!bad.none()) return bad.error(whole.total());
  std::vector<std::string> names;
  if (whole.train.labels) {
    names.emplace_back(kLabelsFile);
    STERNA_TRY(write_labels(into / kUnfinished / kLabelsFile, *whole.train.labels));
  }
  for (auto split = splits.rbegin(); split != splits.rend(); ++split) {
    names.push_back(shard_name(*split, 0));
  }
  return finish_conversion(into, names);
}

/// `written`; where that is an error, nothing of what was written is left.
Result<void> ended(const fs::path& into, Result<void> written) {
  std::error_code ignored;
  if (!written) fs::remove_all(into / kUnfinished, ignored);
  return written;
}

Converted counts_of(const Whole& whole) {
  return {whole.train.count, whole.validation ? whole.validation->count : 0};
}

}  // namespace

Result<Converted> convert_to_records(const fs::path& from, const fs::path& into,
                                     const ConvertOptions& options) {
  STERNA_ASSIGN(const Whole whole, open_whole(from, options.cache));
  STERNA_ASSIGN(const FolderLock lock, begin_conversion(into));
  STERNA_TRY(ended(into, write_records(whole, into, options)));
  return counts_of(whole);
}

Result<Converted> convert_to_folder(const fs::path& from, const fs::path& into,
                                    const ConvertOptions& options) {
  STERNA_ASSIGN(const Whole whole, open_whole(from, options.cache));
  STERNA_ASSIGN(const FolderLock lock, begin_conversion(into));
  STERNA_TRY(ended(into, write_folder(whole, into, options)));
  return counts_of(whole);
}

}  // namespace sterna::input
