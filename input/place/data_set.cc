#include "input/place/data_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <system_error>

#include "input/digits/digits.h"
#include "input/files/byte_source.h"
#include "input/files/sha256.h"
#include "input/formats/cifar.h"
#include "input/formats/format.h"
#include "input/formats/idx.h"
#include "input/formats/picture_source.h"
#include "input/formats/synthetic.h"
#include "input/formats/tfrecord_folder.h"

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

bool is_drawn(const fs::path& dir) {
  std::error_code ignored;
  return fs::exists(dir / kDrawnMarker, ignored);
}

bool is_not_drawn(const fs::path& dir) { return !is_drawn(dir); }

// The first that is in a folder is what the folder holds.
constexpr DataSet kDataSets[] = {
    {"mnist", "mnist", "`sterna data fetch mnist`", &kIdx, {28, 28, 1}, 10, is_not_drawn},
    {"digits", "mnist", "", &kIdx, {28, 28, 1}, 10, is_drawn},
    {"cifar10", "cifar", "`sterna data fetch cifar10`", &kCifar10, {32, 32, 3}, 10},
    {"cifar100", "cifar", "`sterna data fetch cifar100`", &kCifar100, {32, 32, 3}, 100},
    {"tfrecord", "inception", "`sterna data build`", &kTfRecord, {0, 0, 3}, 0},
    {"pictures", "inception", "your folders of pictures", &kPictureFolder, {0, 0, 3}, 0},
    {"synthetic", "mnist", "", &kSynthetic, {32, 32, 3}, 0},
};

/// Of MNIST's t10k-labels-idx1-ubyte, unpacked.
constexpr std::string_view kMnistLabels =
    "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2";
constexpr std::size_t kMnistLabelsBytes = 10'008;

/// Whether the test labels, which are in each shard too, are another set's; false if unreadable.
bool has_other_labels(const fs::path& dir) {
  const fs::path plain = dir / mnist_names(Split::test).labels;
  std::error_code ignored;
  Result<ByteSource> source =
      ByteSource::open(fs::exists(plain, ignored) ? plain : fs::path(plain.string() + ".gz"));
  if (!source) return false;
  std::vector<std::uint8_t> bytes(kMnistLabelsBytes + 1);
  const Result<std::size_t> got = source->read(bytes);
  if (!got) return false;
  Sha256 sum;
  sum.update(std::as_bytes(std::span(bytes).first(*got)));
  return sum.hex() != kMnistLabels;
}

/// What only TFRecord files have a use for.
Result<void> check_options(const fs::path& dir, const DataOptions& options) {
  const Format& format = format_of(dir, options);
  if (options.label_offset == 0 || &format == &kTfRecord) return {};
  return Error{Errc::invalid_argument,
               fmt::format("data.label_offset = {} is for TFRecord files, and {} holds a data set "
                           "stored as {}, whose labels begin at 0; remove the key",
                           options.label_offset, dir.string(), format.name)};
}

}  // namespace

std::vector<std::string_view> data_set_names() {
  std::vector<std::string_view> names;
  names.reserve(std::size(kDataSets));
  for (const DataSet& set : kDataSets) names.push_back(set.name);
  return names;
}

const DataSet* find_data_set(std::string_view name) {
  const auto* found = std::ranges::find(kDataSets, name, &DataSet::name);
  return found == std::end(kDataSets) ? nullptr : found;
}

const DataSet& usual_data_set() { return kDataSets[0]; }

std::vector<std::string_view> names_in_form_of(const DataSet& set) {
  std::vector<std::string_view> names;
  for (const DataSet& other : kDataSets) {
    if (other.format == set.format) names.push_back(other.name);
  }
  return names;
}

bool takes_patterns(const DataSet& set) { return set.format == &kTfRecord; }

bool lies_nowhere(const DataSet& set) { return set.format == &kSynthetic; }

const DataSet& data_set_in(const fs::path& dir, const DataOptions& options) {
  const Format* format = &format_of(dir, options);
  const auto* found = std::ranges::find_if(kDataSets, [&](const DataSet& set) {
    return set.format == format && (set.is_in == nullptr || set.is_in(dir));
  });
  return found == std::end(kDataSets) ? usual_data_set() : *found;
}

std::string told_name(const fs::path& dir, std::string_view name) {
  const bool usual = name == usual_data_set().name;
  return std::string(usual && has_other_labels(dir) ? kIdx.name : name);
}

Result<Dataset> load_data(const fs::path& dir, Split split) {
  const Format& format = format_of(dir, {});
  if (format.load == nullptr) {
    return Error{
        Errc::invalid_argument,
        fmt::format("{} holds {} files, which are not held in memory", dir.string(), format.name)};
  }
  STERNA_ASSIGN(Dataset dataset, format.load(dir, split));
  dataset.family = data_set_in(dir).family;
  return dataset;
}

Result<std::shared_ptr<const Source>> open_data(const fs::path& dir, Split split,
                                                const DataOptions& options) {
  STERNA_TRY(check_options(dir, options));
  const Format& format = format_of(dir, options);
  if (format.open != nullptr) {
    DataOptions with_family = options;
    with_family.family = data_set_in(dir, options).family;
    return format.open(dir, split, with_family);
  }
  STERNA_ASSIGN(Dataset dataset, load_data(dir, split));
  return std::shared_ptr<const Source>(std::make_shared<const MemorySource>(std::move(dataset)));
}

Result<SourceFacts> data_facts(const fs::path& dir, Split split, const DataOptions& options) {
  STERNA_TRY(check_options(dir, options));
  STERNA_ASSIGN(SourceFacts facts, format_of(dir, options).facts(dir, split, options));
  facts.family = data_set_in(dir, options).family;
  return facts;
}

}  // namespace sterna::input
