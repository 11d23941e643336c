#include "input/formats/cifar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "input/files/byte_source.h"
#include "runtime/base/file.h"

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kSide = 32;
constexpr std::size_t kPlane = kSide * kSide;
constexpr std::size_t kChannels = 3;
constexpr std::size_t kPixels = kChannels * kPlane;
/// Ten times CIFAR's: a file that has more is none of these.
constexpr std::uint64_t kMostRecords = 500'000;

/// What the two data sets differ in.
struct Variant {
  const char* name;
  std::size_t classes;
  std::size_t label_bytes;  ///< of which the last is the class
  std::array<const char*, 5> train;
  std::size_t train_files;
  /// Of a packed file, twice what the published ones have: a small one could hold a thousand times
  /// its size.
  std::uint64_t most_packed;
  const char* test;
  const char* from;

  std::size_t record() const { return label_bytes + kPixels; }
};

constexpr Variant kTen{"cifar10",
                       10,
                       1,
                       {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                        "data_batch_4.bin", "data_batch_5.bin"},
                       5,
                       20'000,
                       "test_batch.bin",
                       "cifar-10-binary.tar.gz"};
constexpr Variant kHundred{"cifar100", 100,     2,          {"train.bin"},
                           1,          100'000, "test.bin", "cifar-100-binary.tar.gz"};

Error malformed(const fs::path& path, std::string_view what) {
  return {Errc::malformed, fmt::format("{}: {}", path.string(), what)};
}

std::vector<std::string> files_of(const Variant& variant, Split split) {
  if (split == Split::test) return {variant.test};
  return {variant.train.begin(), variant.train.begin() + variant.train_files};
}

Result<fs::path> find_file(const Variant& variant, const fs::path& dir, const std::string& name) {
  std::error_code ignored;
  for (const char* suffix : {"", ".gz"}) {
    fs::path path = dir / (name + suffix);
    if (fs::exists(path, ignored)) return path;
  }
  return Error{Errc::not_found, fmt::format("{} has neither {} nor {}.gz; unpack {} there",
                                            dir.string(), name, name, variant.from)};
}

/// How many records a file of `bytes` bytes has.
Result<std::uint64_t> records_in(const Variant& variant, const fs::path& path,
                                 std::uint64_t bytes) {
  if (bytes % variant.record() == 0 && bytes / variant.record() <= kMostRecords)
    return bytes / variant.record();
  return malformed(path, fmt::format("{} bytes are no records of {} ({} has them); fetch or copy "
                                     "it again",
                                     bytes, variant.record(), variant.name));
}

/// Reads record after record into the same memory and hands each on with its number. Bounded.
template <class Each>
Result<void> each_record(const Variant& variant, const fs::path& path, const Each& each) {
  STERNA_ASSIGN(ByteSource source, ByteSource::open(path));
  const std::uint64_t most = source.compressed() ? variant.most_packed : kMostRecords;
  std::vector<std::uint8_t> record(variant.record());
  for (std::uint64_t count = 0;; ++count) {
    STERNA_ASSIGN(const std::size_t got, source.read(record));
    if (got == 0) return {};
    if (got < record.size()) {
      return records_in(variant, path, count * record.size() + got).error();
    }
    if (count == most) {
      return malformed(
          path, fmt::format("more than {} records, as no file of {} has; fetch or "
                            "copy it again{}",
                            most, variant.name, source.compressed() ? ", or unpack it" : ""));
    }
    STERNA_TRY(each(std::as_const(record), count));
  }
}

/// By the size of a plain file; a packed one is read, and nothing of it kept.
Result<std::uint64_t> count_records(const Variant& variant, const fs::path& path) {
  STERNA_ASSIGN(const ByteSource source, ByteSource::open(path));
  if (!source.compressed()) return records_in(variant, path, source.limit());
  std::uint64_t count = 0;
  STERNA_TRY(each_record(variant, path,
                         [&](const std::vector<std::uint8_t>&, std::uint64_t) -> Result<void> {
                           ++count;
                           return {};
                         }));
  return count;
}

/// The planes of a record as pixels with their channels beside each other.
void interleave(std::span<const std::uint8_t> planes, std::span<std::uint8_t> pixels) {
  for (std::size_t i = 0; i < kPlane; ++i) {
    for (std::size_t c = 0; c < kChannels; ++c) {
      pixels[i * kChannels + c] = planes[c * kPlane + i];
    }
  }
}

/// Appends the records of one file.
Result<void> append(const Variant& variant, const fs::path& path, Dataset& dataset) {
  return each_record(
      variant, path,
      [&](const std::vector<std::uint8_t>& record, std::uint64_t number) -> Result<void> {
        const std::uint8_t label = record[variant.label_bytes - 1];
        if (label >= variant.classes) {
          return malformed(path,
                           fmt::format("label {} is {}, but there are only {} classes; the file "
                                       "is damaged or of another data set",
                                       number, label, variant.classes));
        }
        dataset.labels.push_back(label);
        const std::size_t had = dataset.images.size();
        dataset.images.resize(had + kPixels);
        interleave(std::span(record).subspan(variant.label_bytes),
                   std::span(dataset.images).subspan(had));
        return {};
      });
}

Error empty(const fs::path& dir, Split split) {
  return {Errc::malformed, fmt::format("{} has no {} examples", dir.string(),
                                       split == Split::train ? "training" : "test")};
}

Result<Dataset> load(const Variant& variant, const fs::path& dir, Split split) {
  Dataset dataset{.rows = kSide,
                  .columns = kSide,
                  .channels = kChannels,
                  .classes = variant.classes,
                  .images = {},
                  .labels = {}};
  std::vector<fs::path> paths;
  std::uint64_t records = 0;
  for (const std::string& name : files_of(variant, split)) {
    STERNA_ASSIGN(fs::path path, find_file(variant, dir, name));
    STERNA_ASSIGN(const std::uint64_t count, count_records(variant, path));
    paths.push_back(std::move(path));
    records += count;
  }
  // Not by growing, which takes up to three times as much.
  dataset.images.reserve(records * kPixels);
  dataset.labels.reserve(records);
  for (const fs::path& path : paths) STERNA_TRY(append(variant, path, dataset));
  dataset.count = dataset.labels.size();
  if (dataset.count == 0) return empty(dir, split);
  return dataset;
}

Result<SourceFacts> facts_of(const Variant& variant, const fs::path& dir, Split split) {
  SourceFacts facts{.count = 0,
                    .shape = {kSide, kSide, kChannels},
                    .classes = static_cast<std::uint32_t>(variant.classes),
                    .family = {}};
  for (const std::string& name : files_of(variant, split)) {
    STERNA_ASSIGN(const fs::path path, find_file(variant, dir, name));
    STERNA_ASSIGN(const std::uint64_t records, count_records(variant, path));
    facts.count += records;
  }
  if (facts.count == 0) return empty(dir, split);
  return facts;
}

Result<void> write(const Variant& variant, const fs::path& dir, Split split, const Dataset& whole,
                   const ExampleRange& range) {
  const std::vector<std::string> names = files_of(variant, split);
  std::vector<std::uint8_t> bytes;
  for (std::size_t file = 0; file < names.size(); ++file) {
    bytes.clear();
    const std::uint64_t end = range.first + range.count() * (file + 1) / names.size();
    for (std::uint64_t i = range.first + range.count() * file / names.size(); i < end; ++i) {
      bytes.insert(bytes.end(), variant.label_bytes - 1, 0);
      bytes.push_back(static_cast<std::uint8_t>(whole.labels[i]));
      const std::span<const std::uint8_t> pixels = whole.image(i);
      for (std::size_t c = 0; c < kChannels; ++c) {
        for (std::size_t at = 0; at < kPlane; ++at) bytes.push_back(pixels[at * kChannels + c]);
      }
    }
    const std::array parts{std::as_bytes(std::span(bytes))};
    STERNA_TRY(write_atomically(dir / names[file], parts));
  }
  return {};
}

template <const Variant& kVariant>
constexpr Format kFormatOf{
    kVariant.name, [](Split split) { return files_of(kVariant, split); },
    [](const fs::path& dir, Split split) { return load(kVariant, dir, split); },
    [](const fs::path& dir, Split split, const DataOptions&) {
      return facts_of(kVariant, dir, split);
    },
    [](const fs::path& dir, Split split, const Dataset& whole, const ExampleRange& range) {
      return write(kVariant, dir, split, whole, range);
    }};

}  // namespace

constexpr Format kCifar10 = kFormatOf<kTen>;
constexpr Format kCifar100 = kFormatOf<kHundred>;

}  // namespace sterna::input
