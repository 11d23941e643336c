#include "input/formats/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <set>
#include <system_error>

#include "input/files/text_lines.h"
#include "runtime/base/file.h"
#include "runtime/base/value.h"

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

struct NumberedName {
  std::size_t id = 0;
  std::string_view name;
  std::size_t line = 0;  ///< from 1
};

/// "12:name".
std::optional<NumberedName> numbered(std::string_view line) {
  NumberedName found;
  const auto [end, failed] = std::from_chars(line.data(), line.data() + line.size(), found.id);
  const auto digits = static_cast<std::size_t>(end - line.data());
  if (failed != std::errc{} || digits == line.size() || line[digits] != ':') return std::nullopt;
  found.name = line.substr(digits + 1);
  return found;
}

/// Of lines of which some are "id:name" and some are not: one that stands where a numbered file
/// would have it, as no name with a ':' does but by chance.
std::optional<NumberedName> numbered_in_place(const std::vector<std::string_view>& lines) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::optional<NumberedName> found = numbered(lines[i]);
    if (!found || (found->id != i && found->id != i + 1)) continue;
    found->line = i + 1;
    return found;
  }
  return std::nullopt;
}

/// The lines as "id:name" where all of them are, else as names from 0. Errors: a line, and what is
/// wrong there.
Result<std::vector<NumberedName>> names_of(const fs::path& path,
                                           const std::vector<std::string_view>& lines) {
  std::vector<NumberedName> names;
  std::size_t first_without = 0;  // from 1; 0: none
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::optional<NumberedName> found = numbered(lines[i]);
    if (!found && first_without == 0) first_without = i + 1;
    if (found) names.push_back({found->id, found->name, i + 1});
  }
  if (first_without == 0) return names;
  if (const auto other = numbered_in_place(lines)) {
    return Error{
        Errc::malformed,
        fmt::format("{}:{}: {} has no id, and line {} reads as id {}; write \"id:name\" in "
                    "every line, also where a name itself has a \":\"",
                    path.string(), first_without, toml_quoted(lines[first_without - 1]),
                    other->line, other->id)};
  }
  names.clear();
  for (const std::string_view line : lines) names.push_back({names.size(), line, names.size() + 1});
  return names;
}

}  // namespace

Result<ClassLabels> read_labels(const fs::path& path) {
  STERNA_ASSIGN(const std::string text, read_file(path));
  STERNA_ASSIGN(std::vector<NumberedName> names, names_of(path, lines_of(text)));
  const auto refused = [&](std::size_t line, std::string_view why) {
    return Error{Errc::malformed, fmt::format("{}:{}: {}", path.string(), line, why)};
  };
  if (names.empty()) return refused(1, "it names no class; write one a line");
  std::stable_sort(names.begin(), names.end(),
                   [](const auto& a, const auto& b) { return a.id < b.id; });
  ClassLabels labels;
  std::set<std::string_view> seen;
  for (const NumberedName& each : names) {
    if (each.name.empty()) return refused(each.line, "an empty name; each class needs one");
    if (!seen.insert(each.name).second) {
      return refused(each.line,
                     fmt::format("\"{}\" is named twice; keep one line of it", each.name));
    }
    const std::size_t expected = names.front().id + labels.names.size();
    if (each.id != expected) {
      return refused(each.line,
                     fmt::format("id {} where {} is next; ids go up by one and none comes twice",
                                 each.id, expected));
    }
    if (each.id >= kMostClasses) {
      return refused(each.line,
                     fmt::format("id {}, and labels end at {}", each.id, kMostClasses - 1));
    }
    labels.names.emplace_back(each.name);
  }
  labels.first = static_cast<std::uint16_t>(names.front().id);
  return labels;
}

bool breaks_a_line(std::string_view name) {
  return name.find('\n') != std::string_view::npos || name.ends_with('\r');
}

Result<void> write_labels(const fs::path& path, const ClassLabels& labels) {
  std::string text;
  for (const std::string& name : labels.names) {
    if (!breaks_a_line(name)) continue;
    return Error{Errc::invalid_argument,
                 fmt::format("{} cannot name the class {}, which holds the end of a line; rename "
                             "the class",
                             path.string(), toml_quoted(name))};
  }
  for (std::size_t i = 0; i < labels.names.size(); ++i) {
    text += fmt::format("{}:{}\n", labels.first + i, labels.names[i]);
  }
  return write_atomically(path, text);
}

}  // namespace sterna::input
