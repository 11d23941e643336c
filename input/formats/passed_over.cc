#include "input/formats/passed_over.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "input/files/listing.h"
#include "input/formats/labels.h"
#include "input/formats/picture_folder.h"

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

/// So many endings are told.
constexpr std::size_t kMostEndings = 8;

/// Of a folder with class folders.
Result<void> add(const fs::path& dir, PassedOver& passed) {
  STERNA_ASSIGN(const auto loose, visible_names_in(dir, fs::file_type::regular));
  passed.loose += loose.size() - static_cast<std::size_t>(std::ranges::count(loose, kLabelsFile));
  STERNA_ASSIGN(const auto folders, visible_names_in(dir, fs::file_type::directory));
  for (const std::string& folder : folders) {
    STERNA_ASSIGN(const auto within, visible_names_in(dir / folder, fs::file_type::directory));
    passed.subfolders += within.size();
    STERNA_ASSIGN(const auto files, visible_names_in(dir / folder, fs::file_type::regular));
    for (const std::string& file : files) {
      if (is_picture(file)) continue;
      ++passed.files;
      passed.endings.insert(in_small_letters(fs::path(file).extension().string()));
    }
  }
  return {};
}

std::string counted(std::uint64_t count, std::string_view what, std::string_view more = "") {
  return fmt::format("{} {}{}{}", count, what, count == 1 ? "" : "s", more);
}

}  // namespace

Result<PassedOver> passed_over(const fs::path& dir) {
  PassedOver passed;
  const std::optional<fs::path> train = split_folder(dir, Split::train);
  STERNA_TRY(add(train.value_or(dir), passed));
  const std::optional<fs::path> test = split_folder(dir, Split::test);
  if (test) STERNA_TRY(add(*test, passed));
  return passed;
}

std::string to_text(const PassedOver& passed) {
  std::vector<std::string> endings;
  for (const std::string& ending : passed.endings) {
    if (endings.size() == kMostEndings) break;
    endings.push_back(ending.empty() ? "without an ending" : ending);
  }
  if (passed.endings.size() > kMostEndings) endings.emplace_back("...");
  std::vector<std::string> parts;
  if (passed.files > 0) {
    parts.push_back(counted(passed.files, "file",
                            fmt::format(" of other formats ({})", fmt::join(endings, ", "))));
  }
  if (passed.subfolders > 0) parts.push_back(counted(passed.subfolders, "subfolder"));
  if (passed.loose > 0) parts.push_back(counted(passed.loose, "loose file"));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace sterna::input
