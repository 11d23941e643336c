#include "launcher/cluster_file/toml_tree.h"

#include <toml++/toml.h>

#include <algorithm>
#include <utility>

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

}  // namespace

std::variant<Value::Table, TomlError> parse_toml(std::string_view text) {
  try {
    return convert_table(toml::parse(text));
  } catch (const toml::parse_error& error) {
    std::string message(error.description());
    std::replace(message.begin(), message.end(), '\n', ' ');
    return TomlError{static_cast<int>(error.source().begin.line), std::move(message)};
  }
}

}  // namespace sterna::launcher
