#include "input/place/data_shard.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "input/digits/digits.h"
#include "input/files/folder_lock.h"
#include "input/files/pending_file.h"
#include "input/files/sha256.h"
#include "input/formats/format.h"
#include "input/formats/labels.h"
#include "input/place/data_set.h"
#include "runtime/base/file.h"

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

constexpr int kFormat = 1;
constexpr std::size_t kShaDigits = 64;
/// A label is five short lines; more is none, and is not read.
constexpr std::size_t kLongestLabel = 1000;

std::string name_of(const ShardId& shard) {
  return fmt::format("shard {} of {}", shard.index, shard.shards);
}

std::string text_of(const ShardLabel& label) {
  const bool more = label.held != range_of(label.shard, label.examples);
  return fmt::format(
      "format {}\nindex {}\nshards {}\nexamples {}\nsha256 {}\n{}", kFormat, label.shard.index,
      label.shard.shards, label.examples, label.sha256,
      more ? fmt::format("first {}\nend {}\n", label.held.first, label.held.end) : "");
}

/// Takes "KEY VALUE\n" from the beginning of `text`; empty: it begins otherwise.
std::string_view take_value(std::string_view& text, std::string_view key) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos || end <= key.size()) return {};
  const std::string_view line = text.substr(0, end);
  if (!line.starts_with(key) || line[key.size()] != ' ') return {};
  text.remove_prefix(end + 1);
  return line.substr(key.size() + 1);
}

template <class Number>
bool take_number(std::string_view& text, std::string_view key, Number& number) {
  const std::string_view value = take_value(text, key);
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return !value.empty() && error == std::errc{} && end == value.data() + value.size();
}

std::optional<ShardLabel> parse_label(std::string_view text) {
  ShardLabel label;
  int format = 0;
  if (!take_number(text, "format", format) || format != kFormat) return std::nullopt;
  if (!take_number(text, "index", label.shard.index)) return std::nullopt;
  if (!take_number(text, "shards", label.shard.shards)) return std::nullopt;
  if (!take_number(text, "examples", label.examples)) return std::nullopt;
  label.sha256 = take_value(text, "sha256");
  const bool possible = label.shard.shards <= kMostShards &&
                        label.shard.index < label.shard.shards &&
                        label.examples >= label.shard.shards && label.examples <= kMostExamples &&
                        label.sha256.size() == kShaDigits;
  if (!possible) return std::nullopt;
  const ExampleRange range = range_of(label.shard, label.examples);
  label.held = range;
  if (text.empty()) return label;
  if (!take_number(text, "first", label.held.first) || !take_number(text, "end", label.held.end)) {
    return std::nullopt;
  }
  const bool around = label.held.first <= range.first && label.held.end >= range.end;
  if (!around || label.held.end > label.examples || !text.empty()) return std::nullopt;
  return label;
}

std::string sha256_of(const Dataset& dataset) {
  Sha256 sum;
  sum.update(std::as_bytes(std::span(dataset.images)));
  // Shards that were written when labels were bytes keep their sum.
  for (const std::uint16_t label : dataset.labels) {
    const std::array<std::uint8_t, 2> bytes{static_cast<std::uint8_t>(label),
                                            static_cast<std::uint8_t>(label >> 8)};
    sum.update(std::as_bytes(std::span(bytes)).first(dataset.classes <= 256 ? 1 : 2));
  }
  return sum.hex();
}

template <class T>
std::span<const T> part(const std::vector<T>& all, const ExampleRange& range, std::size_t each) {
  return std::span(all).subspan(range.first * each, range.count() * each);
}

template <class T>
std::vector<T> copy_of(std::span<const T> span) {
  return {span.begin(), span.end()};
}

/// `wanted` in words.
std::string wish(const std::optional<ShardId>& wanted) {
  return wanted ? name_of(*wanted) : "the whole training set";
}

Result<void> check_label(const fs::path& dir, const std::optional<ShardLabel>& label,
                         const std::optional<ShardId>& wanted) {
  if (!label || label->shard == wanted) return {};
  return Error{Errc::invalid_argument,
               fmt::format("{} holds {}, but {} is wanted; put that there, or name another folder "
                           "(host.data, data.dir or --data)",
                           dir.string(), name_of(label->shard), wish(wanted))};
}

/// Removes what splits that were killed left of the files that now are in the shard's folder `dir`
/// and in those within. What `from` calls so is none.
void remove_leftovers(const fs::path& from, const fs::path& dir) {
  std::error_code failed;
  std::vector<fs::path> left;
  for (fs::recursive_directory_iterator at(dir, failed), end; !failed && at != end;
       at.increment(failed)) {
    const fs::path& path = at->path();
    std::error_code ignored;
    const fs::path whole = path.parent_path() / path.stem();
    if (is_pending_name(path.filename().string(), path.stem().string()) &&
        at->is_regular_file(ignored) && fs::exists(whole, ignored) &&
        !fs::exists(from / path.lexically_relative(dir), ignored)) {
      left.push_back(path);
    }
  }
  for (const fs::path& path : left) fs::remove(path, failed);
}

/// A folder that is not this shard of this data set would be lost.
Result<void> refuse_other_data(const fs::path& dir, const ShardLabel& label) {
  std::error_code ignored;
  if (!fs::exists(dir, ignored) || fs::is_empty(dir, ignored)) return {};
  STERNA_ASSIGN(const std::optional<ShardLabel> there, read_shard_label(dir));
  if (there == label) return {};
  return Error{Errc::already_exists,
               fmt::format("{} is there and is not {} of this data set; choose another folder",
                           dir.string(), name_of(label.shard))};
}

/// SHARD.txt comes first, so that a split that is cut short leaves nothing that looks like a whole
/// data set; the training examples, which are counted when they are read, come last.
Result<void> begin_shard(const fs::path& dir, const ShardLabel& label) {
  return write_atomically(dir / kShardFile, text_of(label));
}

Error none_of(const fs::path& dir, const std::optional<ShardId>& wanted, std::uint64_t examples) {
  return {Errc::malformed, fmt::format("{}: {} has none of its {} training examples", dir.string(),
                                       wish(wanted), examples)};
}

/// What was read of a shard's folder must be what SHARD.txt says.
Result<void> check_count(const fs::path& dir, const ShardLabel& label, std::uint64_t count) {
  if (count == label.held.count()) return {};
  return Error{
      Errc::malformed,
      fmt::format("{} holds {} training examples, but {} of {} has {}; split the data set "
                  "again",
                  dir.string(), count, name_of(label.shard), label.examples, label.held.count())};
}

/// Of a data set whose examples are read when they are asked for: in a whole one every reader sees
/// all of it, and reads its part.
Result<TrainingPart> open_training_part(const fs::path& dir, const std::optional<ShardId>& wanted,
                                        const DataOptions& options) {
  STERNA_ASSIGN(const std::optional<ShardLabel> label, read_shard_label(dir));
  STERNA_TRY(check_label(dir, label, wanted));
  TrainingPart part;
  STERNA_ASSIGN(part.source, open_data(dir, Split::train, options));
  const SourceFacts& facts = part.source->facts();
  part.examples = label ? label->examples : facts.count;
  part.range = wanted ? range_of(*wanted, part.examples) : ExampleRange{0, part.examples};
  if (part.range.count() == 0) return none_of(dir, wanted, part.examples);
  if (wanted) part.sha256 = label ? label->sha256 : facts.sha256;
  if (label) {
    STERNA_TRY(check_count(dir, *label, facts.count));
    part.first = label->held.first;
  }
  return part;
}

/// Refuses to make so many shards of so many examples.
Result<void> check_shards(const fs::path& from, std::uint32_t shards, std::uint64_t examples) {
  if (shards > 0 && shards <= kMostShards && shards <= examples) return {};
  return Error{
      Errc::invalid_argument,
      fmt::format("{} has {} training examples; they make 1 to {} shards, not {}", from.string(),
                  examples, std::min<std::uint64_t>(examples, kMostShards), shards)};
}

/// Whether splits were killed while they wrote the first file into `dir`, and nothing else is
/// there.
bool is_only_begun(const fs::path& dir) {
  std::error_code failed;
  const fs::directory_iterator first(dir, failed);
  return !failed && std::all_of(begin(first), end(first), [&](const fs::directory_entry& one) {
    return is_pending_name(one.path().filename().string(), kShardFile);
  });
}

/// Makes the folder of a shard and takes it, so that what looks like left behind in it is. Errors:
/// refuse_other_data's, and already_exists where another process splits into it.
Result<FolderLock> take_folder(const fs::path& dir, const ShardLabel& label) {
  STERNA_TRY(make_directory(dir));
  STERNA_ASSIGN(FolderLock lock, FolderLock::take(dir));
  if (!is_only_begun(dir)) STERNA_TRY(refuse_other_data(dir, label));
  return lock;
}

/// Calls make(DIR, LABEL) for each shard, whose folder then has its label.
template <class Make>
Result<void> make_shards(const fs::path& from, const fs::path& into,
                         const std::vector<ShardLabel>& labels, const Make& make) {
  for (const ShardLabel& label : labels) {
    const fs::path dir = into / folder_name(label.shard);
    if (is_only_begun(dir)) continue;
    STERNA_TRY(refuse_other_data(dir, label));
  }
  const Result<std::string> drawn = read_file(from / kDrawnMarker, kLongestLabel);
  for (const ShardLabel& label : labels) {
    const fs::path dir = into / folder_name(label.shard);
    STERNA_ASSIGN(const FolderLock lock, take_folder(dir, label));
    STERNA_TRY(begin_shard(dir, label));
    if (drawn) STERNA_TRY(write_atomically(dir / kDrawnMarker, *drawn));
    STERNA_TRY(make(dir, label));
    remove_leftovers(from, dir);
  }
  return {};
}

Result<void> split_loaded(const fs::path& from, std::uint32_t shards, const fs::path& into) {
  STERNA_ASSIGN(const Dataset train, load_data(from, Split::train));
  STERNA_ASSIGN(const Dataset test, load_data(from, Split::test));
  STERNA_TRY(check_shards(from, shards, train.count));
  std::vector<ShardLabel> labels;
  const std::string sha256 = sha256_of(train);
  for (std::uint32_t index = 0; index < shards; ++index) {
    const ShardId shard{index, shards};
    labels.push_back({shard, train.count, sha256, range_of(shard, train.count)});
  }
  const Format& format = format_of(from, {});
  return make_shards(
      from, into, labels, [&](const fs::path& dir, const ShardLabel& label) -> Result<void> {
        STERNA_TRY(format.write(dir, Split::test, test, {0, test.count}));
        return format.write(dir, Split::train, train, range_of(label.shard, train.count));
      });
}

/// Where examples are read when they are asked for: whole blocks of them, as links or copies.
Result<void> split_files(const fs::path& from, std::uint32_t shards, const fs::path& into,
                         const DataOptions& options) {
  STERNA_ASSIGN(const auto train, open_data(from, Split::train, options));
  STERNA_ASSIGN(const auto test, open_data(from, Split::test, options));
  const SourceFacts& facts = train->facts();
  STERNA_TRY(check_shards(from, shards, facts.count));
  const auto blocks_of = [&](const ShardId& shard) {
    const ExampleRange range = range_of(shard, facts.count);
    return ExampleRange{train->block_of(range.first).first, train->block_of(range.end - 1).end};
  };
  std::vector<ShardLabel> labels;
  for (std::uint32_t index = 0; index < shards; ++index) {
    const ShardId shard{index, shards};
    labels.push_back({shard, facts.count, facts.sha256, blocks_of(shard)});
  }
  const Format& format = format_of(from, options);
  return make_shards(
      from, into, labels, [&](const fs::path& dir, const ShardLabel& label) -> Result<void> {
        STERNA_TRY(format.lay(from, Split::test, {0, test->facts().count}, dir, options));
        return format.lay(from, Split::train, blocks_of(label.shard), dir, options);
      });
}

}  // namespace

ExampleRange range_of(const ShardId& shard, std::uint64_t examples) {
  return {examples * shard.index / shard.shards, examples * (shard.index + 1) / shard.shards};
}

std::uint32_t shard_of(std::uint64_t example, std::uint32_t shards, std::uint64_t examples) {
  // The largest k with N·k/S < example + 1, which is the largest with ⌊N·k/S⌋ <= example.
  return static_cast<std::uint32_t>(((example + 1) * shards - 1) / examples);
}

std::string folder_name(const ShardId& shard) {
  return fmt::format("shard-{}-of-{}", shard.index, shard.shards);
}

Result<std::optional<ShardLabel>> read_shard_label(const fs::path& dir) {
  const fs::path path = dir / kShardFile;
  std::error_code error;
  if (dir.empty() || !fs::exists(path, error)) return std::optional<ShardLabel>();
  const Result<std::string> text = read_file(path, kLongestLabel);
  const std::optional<ShardLabel> label = text ? parse_label(*text) : std::nullopt;
  if (!label) {
    return Error{
        Errc::malformed,
        fmt::format("{} does not say which shard this is; `sterna data split` makes shards",
                    path.string())};
  }
  return label;
}

Result<SourceFacts> training_facts(const fs::path& dir, const DataOptions& options) {
  STERNA_ASSIGN(const std::optional<ShardLabel> label, read_shard_label(dir));
  STERNA_ASSIGN(SourceFacts facts, data_facts(dir, Split::train, options));
  if (label) facts.count = label->examples;
  return facts;
}

Result<void> check_shard(const fs::path& dir, const std::optional<ShardId>& wanted) {
  STERNA_ASSIGN(const std::optional<ShardLabel> label, read_shard_label(dir));
  return check_label(dir, label, wanted);
}

Result<TrainingPart> load_training_part(const fs::path& dir, const std::optional<ShardId>& wanted,
                                        const DataOptions& options) {
  if (format_of(dir, options).open != nullptr) return open_training_part(dir, wanted, options);
  STERNA_ASSIGN(const std::optional<ShardLabel> label, read_shard_label(dir));
  STERNA_TRY(check_label(dir, label, wanted));
  TrainingPart loaded;
  STERNA_ASSIGN(Dataset dataset, load_data(dir, Split::train));
  loaded.examples = label ? label->examples : dataset.count;
  loaded.range = wanted ? range_of(*wanted, loaded.examples) : ExampleRange{0, loaded.examples};
  if (label) {
    STERNA_TRY(check_count(dir, *label, dataset.count));
    loaded.sha256 = label->sha256;
    loaded.source = std::make_shared<const MemorySource>(std::move(dataset));
    loaded.first = loaded.range.first;
    return loaded;
  }
  if (loaded.range.count() == 0) {
    return none_of(dir, wanted, loaded.examples);
  }
  if (wanted) {
    loaded.sha256 = sha256_of(dataset);
    dataset.images = copy_of(part(dataset.images, loaded.range, dataset.image_size()));
    dataset.labels = copy_of(part(dataset.labels, loaded.range, 1));
    dataset.count = loaded.range.count();
  }
  loaded.source = std::make_shared<const MemorySource>(std::move(dataset));
  loaded.first = loaded.range.first;
  return loaded;
}

Result<void> split_data(const fs::path& from, std::uint32_t shards, const fs::path& into,
                        const fs::path& cache) {
  std::error_code ignored;
  if (!fs::is_directory(from, ignored)) {
    return Error{Errc::not_found, from.string() + ": there is no such folder"};
  }
  STERNA_TRY(check_shard(from, std::nullopt));
  STERNA_TRY(check_one_format(from));
  // How many classes there are is not asked: all that shards need is in the files.
  const DataOptions options{.classes = kMostClasses, .cache = cache};
  return format_of(from, options).open == nullptr ? split_loaded(from, shards, into)
                                                  : split_files(from, shards, into, options);
}

}  // namespace sterna::input
