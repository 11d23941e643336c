#include "input/build/build_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

#include "input/build/annotations.h"
#include "input/build/build_note.h"
#include "input/build/chosen_pictures.h"
#include "input/build/encode_record.h"
#include "input/formats/labels.h"
#include "input/pictures/decode.h"
#include "runtime/base/file.h"

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

/// Of BUILD.txt, and of what the same options make: another number, other files.
constexpr int kFormat = 3;  // 1: without the pictures' labels; 2: without their ends and times
constexpr std::size_t kNamedLeftOut = 3;

/// The first few pictures by name that are left out, whichever thread meets them first.
class LeftOut {
 public:
  void add(std::string line) {
    const std::lock_guard lock(mutex_);
    lines_.insert(std::move(line));
    if (lines_.size() > kNamedLeftOut) lines_.erase(std::prev(lines_.end()));
  }
  /// After all threads have ended.
  std::vector<std::string> lines() const { return {lines_.begin(), lines_.end()}; }

 private:
  std::mutex mutex_;
  std::set<std::string> lines_;
};

/// What was met while records were made, by any thread.
struct Met {
  LeftOut left_out;
  std::atomic<std::uint64_t> recoded = 0;
};

/// All that the files' bytes depend on; the pictures' own by their files' ends and times.
Result<std::string> note_of(const ChosenPictures& chosen, const Annotations& annotations,
                            const BuildOptions& options) {
  STERNA_ASSIGN(const std::string train, sha256_here(chosen.train));
  STERNA_ASSIGN(const std::string validation, sha256_here(chosen.validation));
  STERNA_ASSIGN(const std::string boxes, annotations.note_of(chosen.train, chosen.validation));
  return fmt::format(
      "format {}\nseed {}\ntrain shards {}\nvalidation shards {}\npictures {}\nfirst label {}\n"
      "train pictures {} sha256 {}\nvalidation pictures {} sha256 {}\n{}{}",
      kFormat, options.seed, options.train_shards, options.validation_shards,
      !options.raw        ? "JPEG"
      : options.side == 0 ? "RAW"
                          : fmt::format("RAW {0} x {0}", options.side),
      options.first_label, chosen.train.pictures.size(), train, chosen.validation.pictures.size(),
      validation, annotations.note_of_names(), boxes);
}

Result<void> check_options(const BuildOptions& options) {
  const auto refused = [](std::string why) {
    return Error{Errc::invalid_argument, std::move(why)};
  };
  if (!(options.validation >= 0 && options.validation < 1)) {
    return refused("the validation share must be at least 0% and below 100%");
  }
  if (options.side > kLongestRawSide) {
    return refused(fmt::format("pictures are resized to at most {0} x {0}", kLongestRawSide));
  }
  if (options.side != 0 && !options.raw) {
    return refused("only RAW pictures are resized: add --raw, or leave --resize out");
  }
  return {};
}

Result<void> check_shards(const ShardedSplit& split) {
  if (split.shards >= 1 && split.shards <= kMostRecordShards && split.shards <= split.count) {
    return {};
  }
  return Error{Errc::invalid_argument,
               fmt::format("{} {} pictures cannot fill {} files; ask for 1 to {} (--{}-shards)",
                           split.count, split.prefix, split.shards,
                           std::min<std::uint64_t>(split.count, kMostRecordShards), split.prefix)};
}

/// Whoever asks for a share wants something held back.
Result<void> check_validation(const ChosenPictures& chosen, const BuildOptions& options) {
  if (options.validation == 0 || !chosen.validation.pictures.empty()) return {};
  std::vector<std::uint64_t> of_class(chosen.train.classes.size());
  for (const PictureFolder::Picture& picture : chosen.train.pictures) ++of_class[picture.label];
  const std::uint64_t most = std::ranges::max(of_class);
  // A half is rounded up, and one picture of a class is left to train on.
  const double least = std::ceil(50.0 / static_cast<double>(most));
  return Error{
      Errc::invalid_argument,
      fmt::format("a validation share of {:g}% of each class holds no picture back, as no class "
                  "has more than {}; {}",
                  100 * options.validation, most,
                  most < 2 ? "add pictures, or give a folder with train/ and val/ in it"
                           : fmt::format("give at least {:g}%", least))};
}

/// The split of `folder`, which must outlive it, and so must the others.
ShardedSplit split_of(std::string prefix, std::uint32_t shards, const PictureFolder& folder,
                      const Annotations& annotations, const BuildOptions& options, Met& met) {
  using Data = std::optional<std::vector<std::uint8_t>>;
  const auto record = [&folder, &annotations, &options,
                       &met](std::uint64_t position) -> Result<Data> {
    const PictureFolder::Picture& picture = folder.pictures[position];
    const Result<StoredExample> example = read_picture(folder, position);
    if (!example && example.error().code != Errc::malformed) return example.error();
    if (!example) {
      met.left_out.add(example.error().message);
      return Data();
    }
    Result<PictureRecord> made =
        options.raw ? raw_record(*example, options.side) : jpeg_record(*example);
    if (!made) {
      met.left_out.add(made.error().in(picture.path.string()).message);
      return Data();
    }
    bool kept = false;
    if (!options.raw) {
      STERNA_ASSIGN(kept, stays_jpeg(example->picture));
      if (!kept) ++met.recoded;
    }
    made->label = std::int64_t{picture.label} + options.first_label;
    made->class_text = annotations.class_names()[picture.label];
    made->synset = annotations.synset_of(picture.label);
    STERNA_ASSIGN(made->boxes, annotations.boxes_of(picture));
    // What was decoded is upright, and its EXIF is gone.
    if (!kept) made->boxes = upright(std::move(made->boxes), example->picture);
    made->name = picture.path.filename().string();
    return Data(pack_picture_record(*made));
  };
  return {std::move(prefix), shards, folder.pictures.size(), record};
}

}  // namespace

Result<BuildReport> build_records(const fs::path& dir, const fs::path& into,
                                  const BuildOptions& options) {
  STERNA_TRY(check_options(options));
  STERNA_ASSIGN(const ChosenPictures chosen,
                choose_pictures(dir, options.validation, options.seed));
  STERNA_ASSIGN(const Annotations annotations,
                Annotations::open(options.names, options.boxes, chosen.train.classes));
  const ClassLabels labels{annotations.class_names(),
                           static_cast<std::uint16_t>(options.first_label)};
  if (labels.names.size() + options.first_label > kMostClasses) {
    return Error{Errc::invalid_argument,
                 fmt::format("{} has {} classes, whose labels from {} on do not fit below {}",
                             dir.string(), labels.names.size(), options.first_label, kMostClasses)};
  }
  STERNA_TRY(check_validation(chosen, options));
  Met met;
  std::vector<ShardedSplit> splits{
      split_of("train", options.train_shards, chosen.train, annotations, options, met)};
  if (!chosen.validation.pictures.empty()) {
    splits.push_back(split_of("validation", options.validation_shards, chosen.validation,
                              annotations, options, met));
  }
  for (const ShardedSplit& split : splits) STERNA_TRY(check_shards(split));

  STERNA_ASSIGN(const std::string note, note_of(chosen, annotations, options));
  STERNA_ASSIGN(const FolderLock lock, begin_build(into, note));
  STERNA_ASSIGN(const std::vector<ShardsWritten> written,
                write_shards(into, splits, options.threads, options.progress));
  STERNA_TRY(write_labels(into / kLabelsFile, labels));
  BuildReport report{.classes = labels.names.size(),
                     .train = written.front(),
                     .validation = std::nullopt,
                     .recoded = met.recoded,
                     .left_out = met.left_out.lines()};
  if (written.size() > 1) report.validation = written.back();
  return report;
}

}  // namespace sterna::input
