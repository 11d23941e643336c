#include "input/formats/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <system_error>

#include "input/formats/cifar.h"
#include "input/formats/idx.h"
#include "input/formats/picture_source.h"
#include "input/formats/synthetic.h"
#include "input/formats/tfrecord_folder.h"

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

/// Every format, a line each.
constexpr std::array kFormats{
    &kIdx, &kCifar10, &kCifar100, &kTfRecord, &kPictureFolder, &kSynthetic,
};

/// What the options say; null: nothing.
const Format* format_asked_for(const DataOptions& options) {
  if (options.synthetic) return &kSynthetic;
  if (!options.train_files.empty() || !options.test_files.empty()) return &kTfRecord;
  return nullptr;
}

}  // namespace

std::vector<std::string> missing_files(const Format& format, const fs::path& dir,
                                       const DataOptions& options) {
  std::vector<std::string> missing;
  if (format.files == nullptr) {
    if (!format.holds(dir, options)) missing.push_back(fmt::format("what {} has", format.name));
    return missing;
  }
  std::error_code ignored;
  for (const Split split : {Split::train, Split::test}) {
    for (const std::string& name : format.files(split)) {
      const bool there =
          fs::exists(dir / name, ignored) || fs::exists(dir / (name + ".gz"), ignored);
      if (!there) missing.push_back(name);
    }
  }
  return missing;
}

const Format& format_of(const fs::path& dir, const DataOptions& options) {
  if (const Format* asked = format_asked_for(options)) return *asked;
  const auto lacks = [&](const Format* format) {
    const std::size_t missing = missing_files(*format, dir).size();
    const std::size_t all = format->files == nullptr ? 1
                                                     : format->files(Split::train).size() +
                                                           format->files(Split::test).size();
    return missing < all ? missing : std::numeric_limits<std::size_t>::max();
  };
  return **std::ranges::min_element(kFormats, {}, lacks);
}

Result<void> check_one_format(const fs::path& dir, const DataOptions& options) {
  if (format_asked_for(options) != nullptr) return {};
  std::vector<std::string_view> whole;
  for (const Format* format : kFormats) {
    if (missing_files(*format, dir).empty()) whole.push_back(format->name);
  }
  if (whole.size() < 2) return {};
  return Error{Errc::invalid_argument,
               fmt::format("{} holds two data sets, one stored as {} and one as {}; move one into "
                           "a folder of its own",
                           dir.string(), whole[0], whole[1])};
}

}  // namespace sterna::input
