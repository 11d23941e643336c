#include "launcher/cluster_file/toml_tree.h"

#include <toml++/toml.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sterna::launcher {
namespace {

Value convert(const toml::node& node);

Value::Table convert_table(const toml::table& table) {
  Value::Table entries;
  for (auto&& [key, node] : table) {
    Value::Entry entry;
    entry.key = std::string(key.str());
    entry.line = static_cast<int>(key.source().begin.line);
    entry.value = convert(node);
    // A table [a.b] gives `a` no line of its own but its first child's.
    if (entry.line == 0) entry.line = entry.value.line;
    entries.push_back(std::move(entry));
  }
  // toml++ keeps tables sorted by name.
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Value::Entry& a, const Value::Entry& b) { return a.line < b.line; });
  return entries;
}

Value convert(const toml::node& node) {
  Value value;
  value.line = static_cast<int>(node.source().begin.line);
  if (const auto* integer = node.as_integer()) {
    value.data = integer->get();
  } else if (const auto* number = node.as_floating_point()) {
    value.data = number->get();
  } else if (const auto* boolean = node.as_boolean()) {
    value.data = boolean->get();
  } else if (const auto* text = node.as_string()) {
    value.data = text->get();
  } else if (const auto* array = node.as_array()) {
    Value::Array items;
    for (const toml::node& item : *array) items.push_back(convert(item));
    value.data = std::move(items);
  } else if (const auto* table = node.as_table()) {
    Value::Table entries = convert_table(*table);
    // A dotted key's or an inline table's first entry stands on the line where the table begins.
    value.header = !table->is_inline() && (entries.empty() || entries.front().line != value.line);
    value.data = std::move(entries);
  } else {
    value.data = Value::Other{node.is_date() ? "a date" : "a time"};
  }
  return value;
}

/// A key or value within so many others is nobody's. toml++ bounds brackets within brackets, but
/// not the parts of a dotted key, each of which is a table within the one before: taking those
/// apart again costs a stack frame each.
constexpr std::size_t kDeepest = 128;

/// Walks over a text before it is parsed, as far as it is TOML.
class DepthScan {
 public:
  explicit DepthScan(std::string_view text) : rest_(text) {}

  /// The line in which something lies deeper than kDeepest.
  std::optional<int> too_deep() {
    while (!rest_.empty()) {
      step();
      if (depth_ > kDeepest) return line_;
    }
    return std::nullopt;
  }

 private:
  void step() {
    const char c = rest_.front();
    if (c == '"' || c == '\'') return skip_text(c);
    rest_.remove_prefix(1);
    switch (c) {
      case '#':
        return rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
      case '.':
        ++depth_;
        return;
      case '[':
      case '{':
        outer_.push_back(depth_++);
        return;
      case ']':
      case '}':
        if (outer_.empty()) return;
        depth_ = outer_.back();
        outer_.pop_back();
        return;
      case '\n':
        ++line_;
        [[fallthrough]];
      case ',':
        depth_ = outer_.empty() ? 0 : outer_.back() + 1;
        return;
      default:
        return;
    }
  }

  /// Up to the end of a text in these quotes, one or three of them.
  void skip_text(char quote) {
    const std::string three(3, quote);
    const bool lines = rest_.starts_with(three);
    const std::string_view end = std::string_view(three).substr(0, lines ? 3 : 1);
    rest_.remove_prefix(end.size());
    while (!rest_.empty() && !rest_.starts_with(end)) {
      if (rest_.front() == '\n') {
        if (!lines) return;  // no TOML
        ++line_;
      }
      const bool escape = quote == '"' && rest_.front() == '\\' && !rest_.starts_with("\\\n");
      rest_.remove_prefix(std::min<std::size_t>(escape ? 2 : 1, rest_.size()));
    }
    rest_.remove_prefix(std::min(end.size(), rest_.size()));
    // Two more before the last three are of the text.
    for (int i = 0; lines && i < 2 && rest_.starts_with(quote); ++i) rest_.remove_prefix(1);
  }

  std::string_view rest_;
  std::vector<std::size_t> outer_;  ///< the depth around each open bracket
  std::size_t depth_ = 0;
  int line_ = 1;
};

}  // namespace

std::variant<Value::Table, TomlError> parse_toml(std::string_view text) {
  if (const std::optional<int> line = DepthScan(text).too_deep()) {
    return TomlError{*line, "this lies within more than " + std::to_string(kDeepest) +
                                " tables or lists; no key does"};
  }
  try {
    return convert_table(toml::parse(text));
  } catch (const toml::parse_error& error) {
    std::string message(error.description());
    std::replace(message.begin(), message.end(), '\n', ' ');
    // toml++ has found a number's syntax right, and no double for it.
    const bool number = message.starts_with("Error while parsing floating-point");
    if (number && message.ends_with("could not be interpreted as a value"))
      message += ": it is out of range";
    return TomlError{static_cast<int>(error.source().begin.line), std::move(message)};
  }
}

}  // namespace sterna::launcher
