// The mistakes of a cluster file, and where they stand.
#include "launcher/cluster_file/draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sterna::launcher {

void Problems::add(const Where& where, const std::string& message) {
  lines_.push_back({where, place(where) + ": " + message});
}

std::string Problems::place(const Where& where) const {
  if (!where.override_text.empty()) {
    std::string text = "--set " + where.override_text;
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return c < 0x20; }, ' ');
    return text;
  }
  return where.line > 0 ? fmt::format("{}:{}", path_, where.line) : path_;
}

Error Problems::error() const {
  std::vector<Line> sorted = lines_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Line& a, const Line& b) {
    const auto order = [](const Line& line) {
      return std::pair{!line.where.override_text.empty(), line.where.line};
    };
    return order(a) < order(b);
  });
  std::string text;
  for (const Line& line : sorted) {
    text += text.empty() ? "" : "\n";
    text += line.text;
  }
  return {Errc::invalid_argument, text};
}

Where Draft::where(std::string_view path) const {
  while (true) {
    const auto found = given.find(path);
    if (found != given.end()) return found->second;
    const std::size_t dot = path.rfind('.');
    if (dot == std::string_view::npos) return {};
    path = path.substr(0, dot);
  }
}

}  // namespace sterna::launcher
