#include "launcher/cluster_file/toml_tree.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <utility>

namespace sterna::launcher {
namespace {

TomlValue convert(const toml::node& node);

TomlValue::Table convert_table(const toml::table& table) {
  TomlValue::Table entries;
  for (auto&& [key, node] : table) {
    TomlEntry entry;
    entry.key = std::string(key.str());
    entry.line = static_cast<int>(key.source().begin.line);
    entry.value = convert(node);
    // A table [a.b] gives `a` no line of its own but its first child's.
    if (entry.line == 0) entry.line = entry.value.line;
    entries.push_back(std::move(entry));
  }
  // toml++ keeps tables sorted by name.
  std::stable_sort(entries.begin(), entries.end(),
                   [](const TomlEntry& a, const TomlEntry& b) { return a.line < b.line; });
  return entries;
}

TomlValue convert(const toml::node& node) {
  TomlValue value;
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
    TomlValue::Array items;
    for (const toml::node& item : *array) items.push_back(convert(item));
    value.data = std::move(items);
  } else if (const auto* table = node.as_table()) {
    TomlValue::Table entries = convert_table(*table);
    // A dotted key's or an inline table's first entry stands on the line where the table begins.
    value.header = !table->is_inline() && (entries.empty() || entries.front().line != value.line);
    value.data = std::move(entries);
  } else {
    value.data = TomlValue::Other{node.is_date() ? "a date" : "a time"};
  }
  return value;
}

}  // namespace

std::variant<TomlValue::Table, TomlError> parse_toml(std::string_view text) {
  try {
    return convert_table(toml::parse(text));
  } catch (const toml::parse_error& error) {
    std::string message(error.description());
    std::replace(message.begin(), message.end(), '\n', ' ');
    return TomlError{static_cast<int>(error.source().begin.line), std::move(message)};
  }
}

std::string in_words(const TomlValue& value) {
  struct Words {
    std::string operator()(std::int64_t v) const { return fmt::format("the integer {}", v); }
    std::string operator()(double v) const { return fmt::format("the number {}", v); }
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(const std::string& v) const {
      return fmt::format("the text {}", toml_quoted(v));
    }
    std::string operator()(const TomlValue::Array&) const { return "a list"; }
    std::string operator()(const TomlValue::Table&) const { return "a table"; }
    std::string operator()(const TomlValue::Other& v) const { return v.kind; }
  };
  return std::visit(Words{}, value.data);
}

std::string toml_quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      quoted += fmt::format("\\u{:04X}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string toml_float(double number) {
  std::string text = fmt::format("{}", number);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace sterna::launcher
