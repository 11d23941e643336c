#include "input/formats/format.h"

#include <algorithm>
#include <array>
#include <system_error>

#include "input/formats/idx.h"

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

/// Every format, a line each.
constexpr std::array kFormats{
    &kIdx,
};

}  // namespace

std::vector<std::string> missing_files(const Format& format, const fs::path& dir) {
  std::vector<std::string> missing;
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

const Format& format_of(const fs::path& dir) {
  const auto lacks = [&](const Format* format) { return missing_files(*format, dir).size(); };
  return **std::ranges::min_element(kFormats, {}, lacks);
}

}  // namespace sterna::input
