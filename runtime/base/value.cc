#include "runtime/base/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "runtime/base/byte_size.h"
#include "runtime/base/duration_text.h"

namespace sterna {
namespace {

constexpr std::string_view kPerSecond = "/s";

bool within(const Limits& limits, double number) {
  const bool above = limits.low_open ? number > limits.low : number >= limits.low;
  const bool below = limits.high_open ? number < limits.high : number <= limits.high;
  return above && below;
}

Complaint wants(std::string_view wanted, const Value& value) {
  return fmt::format("wants {}, not {}", wanted, in_words(value));
}

/// Whether all of `text` is a number of this type's kind that the type cannot hold. On a command
/// line such a one is no TOML and so becomes a text.
template <class Number>
bool out_of_range(const std::string* text) {
  Number number = 0;
  if (text == nullptr) return false;
  const auto parsed = std::from_chars(text->data(), text->data() + text->size(), number);
  return parsed.ec == std::errc::result_out_of_range && parsed.ptr == text->data() + text->size();
}

Complaint check_identifier(const std::string& text) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  const bool good = !text.empty() && text.size() <= 40 && letter(text.front()) &&
                    std::all_of(text.begin(), text.end(), [&](char c) {
                      return letter(c) || c == '_' || c == '-' || c == '.';
                    });
  if (good) return std::nullopt;
  return fmt::format(
      "must be 1 to 40 letters, digits, _, - or . and start with a letter or digit, "
      "not {}",
      toml_quoted(text));
}

std::optional<PortRange> parse_ports(std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  PortRange ports;
  const auto number = [](std::string_view digits, std::uint16_t& out) {
    const char* end = digits.data() + digits.size();
    const auto parsed = std::from_chars(digits.data(), end, out);
    return parsed.ec == std::errc() && parsed.ptr == end;
  };
  if (!number(text.substr(0, dash), ports.low) || !number(text.substr(dash + 1), ports.high)) {
    return std::nullopt;
  }
  if (ports.low == 0 || ports.low > ports.high) return std::nullopt;
  return ports;
}

bool is_variable_name(std::string_view text) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !text.empty() && letter(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

/// Appends `value` as JSON. Quoted text and numbers are spelled alike in both languages.
Complaint append_json(const Value& value, std::string& json) {
  if (const auto* table = value.get<Value::Table>()) {
    std::map<std::string_view, const Value*> sorted;
    for (const Value::Entry& entry : *table) sorted[entry.key] = &entry.value;
    json += '{';
    for (const auto& [key, item] : sorted) {
      if (json.back() != '{') json += ',';
      json += toml_quoted(key) + ':';
      if (Complaint complaint = append_json(*item, json)) return complaint;
    }
    json += '}';
  } else if (const auto* array = value.get<Value::Array>()) {
    json += '[';
    for (const Value& item : *array) {
      if (json.back() != '[') json += ',';
      if (Complaint complaint = append_json(item, json)) return complaint;
    }
    json += ']';
  } else if (const auto* text = value.get<std::string>()) {
    json += toml_quoted(*text);
  } else if (const auto* integer = value.get<std::int64_t>()) {
    json += toml_text(*integer);
  } else if (const auto* number = value.get<double>()) {
    if (!std::isfinite(*number)) return fmt::format("must have finite numbers, not {}", *number);
    json += toml_text(*number);
  } else if (const auto* boolean = value.get<bool>()) {
    json += toml_text(*boolean);
  } else {
    return fmt::format("cannot have {}; write it as text in quotes", in_words(value));
  }
  return std::nullopt;
}

/// A list in TOML, of items that each have a toml_text().
template <class Item>
std::string list_text(const std::vector<Item>& items) {
  std::string text = "[";
  for (const Item& item : items) {
    if (text.size() > 1) text += ", ";
    text += toml_text(item);
  }
  return text + "]";
}

/// Of unsigned numbers the table of keys says at least a limit of 0 or more.
template <class Unsigned>
Complaint convert_unsigned(const Value& value, const ValueRule& rule, Unsigned& out) {
  std::int64_t number = 0;
  if (Complaint complaint = convert(value, rule, number)) return complaint;
  if (!std::in_range<Unsigned>(number)) return fmt::format("cannot be {}", number);
  out = static_cast<Unsigned>(number);
  return std::nullopt;
}

/// A list of what `kind` names, e.g. `example`.
template <class Number>
Complaint convert_list(const Value& value, const ValueRule& rule, std::string_view kind,
                       std::string_view example, std::vector<Number>& out) {
  const auto* array = value.get<Value::Array>();
  if (!array) return wants(fmt::format("a list of {} such as {}", kind, example), value);
  std::vector<Number> numbers;
  for (const Value& item : *array) {
    const bool real = std::is_same_v<Number, double> && item.get<double>() != nullptr;
    if (!real && !item.get<std::int64_t>()) {
      return fmt::format("wants a list of {}; {} is none", kind, in_words(item));
    }
    Number number = 0;
    if (Complaint complaint = convert(item, rule, number))
      return fmt::format("wants {}; each {}", kind, *complaint);
    numbers.push_back(number);
  }
  out = std::move(numbers);
  return std::nullopt;
}

template <class Integer>
Complaint convert_integers(const Value& value, const ValueRule& rule, std::vector<Integer>& out) {
  return convert_list(value, rule, "integers", "[0, 1]", out);
}

}  // namespace

std::string in_words(const Value& value) {
  struct Words {
    std::string operator()(std::int64_t v) const { return fmt::format("the integer {}", v); }
    std::string operator()(double v) const { return fmt::format("the number {}", v); }
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(const std::string& v) const {
      return fmt::format("the text {}", toml_quoted(v));
    }
    std::string operator()(const Value::Array&) const { return "a list"; }
    std::string operator()(const Value::Table&) const { return "a table"; }
    std::string operator()(const Value::Other& v) const { return v.kind; }
  };
  return std::visit(Words{}, value.data);
}

std::string describe(const Limits& limits) {
  const bool low = std::isfinite(limits.low);
  const bool high = std::isfinite(limits.high);
  if (low && limits.low == limits.high) return fmt::format("{}", limits.low);
  std::string text;
  if (low) text = fmt::format("{} {}", limits.low_open ? "above" : "at least", limits.low);
  if (low && high) text += " and ";
  if (high) text += fmt::format("{} {}", limits.high_open ? "below" : "at most", limits.high);
  return text;
}

std::string describe(const std::vector<std::string_view>& choices) {
  std::string text;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (i > 0) text += i + 1 == choices.size() ? " or " : ", ";
    text += fmt::format("\"{}\"", choices[i]);
  }
  return text;
}

Complaint convert(const Value& value, const ValueRule& rule, std::int64_t& out) {
  const auto* integer = value.get<std::int64_t>();
  const auto* text = value.get<std::string>();
  if (out_of_range<std::int64_t>(text) || out_of_range<double>(text)) {
    return fmt::format("is out of range: integers go from {} to {}, not to {}",
                       std::numeric_limits<std::int64_t>::min(),
                       std::numeric_limits<std::int64_t>::max(), *text);
  }
  if (!integer) return wants("an integer", value);
  if (!within(rule.limits, static_cast<double>(*integer))) {
    return fmt::format("must be {}, not {}", describe(rule.limits), *integer);
  }
  out = *integer;
  return std::nullopt;
}

Complaint convert(const Value& value, const ValueRule& rule, std::uint64_t& out) {
  return convert_unsigned(value, rule, out);
}

Complaint convert(const Value& value, const ValueRule& rule, std::uint32_t& out) {
  return convert_unsigned(value, rule, out);
}

Complaint convert(const Value& value, const ValueRule& rule, double& out) {
  double number = 0;
  if (const auto* real = value.get<double>()) {
    number = *real;
  } else if (const auto* integer = value.get<std::int64_t>()) {
    number = static_cast<double>(*integer);
  } else if (const auto* text = value.get<std::string>(); out_of_range<double>(text)) {
    return fmt::format("is out of range: numbers go up to 3.4e38, and down to 1.4e-45, not to {}",
                       *text);
  } else {
    return wants("a number", value);
  }
  if (!std::isfinite(number)) return fmt::format("must be a finite number, not {}", number);
  if (!within(rule.limits, number)) {
    return fmt::format("must be {}, not {}", describe(rule.limits), number);
  }
  // Most are rounded to fp32 where they are used, which would make infinity or 0 of these.
  constexpr double kLargest = std::numeric_limits<float>::max();
  constexpr double kSmallest = std::numeric_limits<float>::denorm_min();
  if (std::abs(number) > kLargest) {
    return fmt::format("must fit into fp32, which goes up to 3.4e38, not {}", number);
  }
  if (rule.limits.low == 0 && rule.limits.low_open && number < kSmallest) {
    return fmt::format("must be above 0 in fp32, which goes down to 1.4e-45, not {}", number);
  }
  out = number;
  return std::nullopt;
}

Complaint convert(const Value& value, const ValueRule&, bool& out) {
  const auto* boolean = value.get<bool>();
  if (!boolean) return wants("true or false", value);
  out = *boolean;
  return std::nullopt;
}

Complaint convert(const Value& value, const ValueRule&, TrueOrText& out) {
  if (const auto* boolean = value.get<bool>()) {
    out = {.given = *boolean};
    return std::nullopt;
  }
  const auto* text = value.get<std::string>();
  if (!text) return wants("true, false or text in quotes", value);
  if (text->empty()) return "must not be an empty text";
  out = {.given = true, .text = *text};
  return std::nullopt;
}

Complaint convert(const Value& value, const ValueRule& rule, std::string& out) {
  const auto* text = value.get<std::string>();
  if (!text) {
    return wants(rule.choices.empty() ? "text in quotes" : describe(rule.choices), value);
  }
  if (!rule.choices.empty() &&
      std::find(rule.choices.begin(), rule.choices.end(), *text) == rule.choices.end()) {
    return fmt::format("must be {}, not {}", describe(rule.choices), toml_quoted(*text));
  }
  if (rule.identifier) {
    if (Complaint complaint = check_identifier(*text)) return complaint;
  }
  out = *text;
  return std::nullopt;
}

Complaint convert(const Value& value, const ValueRule& rule, Duration& out) {
  const auto* text = value.get<std::string>();
  const std::optional<Duration> duration = text ? parse_duration(*text) : std::nullopt;
  if (text && is_too_long(*text)) {
    return fmt::format("must be at most a year (8784h), not {}", toml_quoted(*text));
  }
  if (!duration) return wants("a duration such as \"500ms\", \"5s\" or \"2m\"", value);
  if (!within(rule.limits, std::chrono::duration<double>(*duration).count())) {
    return fmt::format("must be {} seconds, not {}", describe(rule.limits), toml_quoted(*text));
  }
  out = *duration;
  return std::nullopt;
}

Complaint convert(const Value& value, const ValueRule& rule, std::vector<std::string>& out) {
  const auto* array = value.get<Value::Array>();
  if (!array) return wants("a list of names such as [\"a\", \"b\"]", value);
  std::vector<std::string> texts;
  for (const Value& item : *array) {
    const auto* text = item.get<std::string>();
    if (!text) return fmt::format("wants a list of names; {} is none", in_words(item));
    if (rule.identifier) {
      if (Complaint complaint = check_identifier(*text)) return "wants names; each " + *complaint;
    }
    texts.push_back(*text);
  }
  out = std::move(texts);
  return std::nullopt;
}

Complaint convert(const Value& value, const ValueRule& rule, std::vector<std::int64_t>& out) {
  return convert_integers(value, rule, out);
}

Complaint convert(const Value& value, const ValueRule& rule, std::vector<std::uint32_t>& out) {
  return convert_integers(value, rule, out);
}

Complaint convert(const Value& value, const ValueRule& rule, std::vector<double>& out) {
  return convert_list(value, rule, "numbers", "[0.5, 1]", out);
}

Complaint convert(const Value& value, const ValueRule& rule,
                  std::map<std::string, std::string>& out) {
  const auto* table = value.get<Value::Table>();
  if (!table) return wants("a table such as { NAME = \"value\" }", value);
  std::map<std::string, std::string> texts;
  for (const Value::Entry& entry : *table) {
    if (rule.identifier && !is_variable_name(entry.key)) {
      return fmt::format(
          "has {}, which cannot be a variable's name: letters, digits and _, and no "
          "digit first",
          toml_quoted(entry.key));
    }
    const auto* text = entry.value.get<std::string>();
    if (!text) {
      return fmt::format("wants text for {}, not {}", entry.key, in_words(entry.value));
    }
    if (text->find('\0') != std::string::npos) {
      return fmt::format("has a zero byte in {}, where its value would end", entry.key);
    }
    texts[entry.key] = *text;
  }
  out = std::move(texts);
  return std::nullopt;
}

Complaint convert(const Value& value, const ValueRule&, JsonObject& out) {
  if (!value.get<Value::Table>()) return wants("a table such as { limit = 10 }", value);
  std::string json;
  if (Complaint complaint = append_json(value, json)) return complaint;
  out.text = std::move(json);
  return std::nullopt;
}

Complaint convert(const Value& value, const ValueRule&, ByteCount& out) {
  const auto* text = value.get<std::string>();
  if (text && text->empty()) {
    out.count = 0;
    return std::nullopt;
  }
  const std::optional<std::uint64_t> bytes = text ? parse_byte_size(*text) : std::nullopt;
  if (!bytes) return wants("a size such as \"64GB\" or \"512MB\"", value);
  out.count = *bytes;
  return std::nullopt;
}

Complaint convert(const Value& value, const ValueRule&, ByteRate& out) {
  const auto* text = value.get<std::string>();
  if (text && text->empty()) {
    out.count = 0;
    return std::nullopt;
  }
  std::optional<std::uint64_t> bytes;
  if (text && text->ends_with(kPerSecond)) {
    bytes = parse_byte_size(std::string_view(*text).substr(0, text->size() - kPerSecond.size()));
  }
  if (!bytes) return wants("a rate such as \"10MB/s\"", value);
  out.count = *bytes;
  return std::nullopt;
}

Complaint convert(const Value& value, const ValueRule&, std::optional<PortRange>& out) {
  const auto* text = value.get<std::string>();
  if (text && *text == "any") {
    out.reset();
    return std::nullopt;
  }
  const std::optional<PortRange> ports = text ? parse_ports(*text) : std::nullopt;
  if (!ports) return wants("\"any\" or a range such as \"40000-40100\"", value);
  out = ports;
  return std::nullopt;
}

std::string toml_text(std::int64_t value) { return std::to_string(value); }
std::string toml_text(std::uint64_t value) { return std::to_string(value); }
std::string toml_text(std::uint32_t value) { return std::to_string(value); }
std::string toml_text(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}
std::string toml_text(bool value) { return value ? "true" : "false"; }
std::string toml_text(const TrueOrText& value) {
  return value.text.empty() ? toml_text(value.given) : toml_quoted(value.text);
}
std::string toml_text(const std::string& value) { return toml_quoted(value); }
std::string toml_text(Duration value) { return toml_quoted(duration_text(value)); }
std::string toml_text(const std::vector<std::string>& value) { return list_text(value); }
std::string toml_text(const std::vector<std::int64_t>& value) { return list_text(value); }
std::string toml_text(const std::vector<std::uint32_t>& value) { return list_text(value); }
std::string toml_text(const std::vector<double>& value) { return list_text(value); }
std::string toml_text(const ByteCount& value) {
  return toml_quoted(value.count == 0 ? "" : byte_size_text(value.count));
}
std::string toml_text(const ByteRate& value) {
  return toml_quoted(value.count == 0 ? "" : byte_size_text(value.count).append(kPerSecond));
}
std::string toml_text(const std::map<std::string, std::string>& value) {
  std::string text = "{";
  for (const auto& [name, item] : value) {
    const std::string key = is_variable_name(name) ? name : toml_quoted(name);
    text += fmt::format("{} {} = {}", text.size() > 1 ? "," : "", key, toml_quoted(item));
  }
  return text + (value.empty() ? "}" : " }");
}
std::string toml_text(const JsonObject& value) {
  std::string text;
  bool quoted = false;
  for (std::size_t i = 0; i < value.text.size(); ++i) {
    const char c = value.text[i];
    if (quoted && c == '\\') {
      text += value.text.substr(i++, 2);
      continue;
    }
    if (c == '"') quoted = !quoted;
    if (!quoted && c == ':') {
      text += " = ";
    } else if (!quoted && c == ',') {
      text += ", ";
    } else {
      text += c;
    }
  }
  return text;
}
std::string toml_text(const std::optional<PortRange>& value) {
  return value ? fmt::format("\"{}-{}\"", value->low, value->high) : "\"any\"";
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

}  // namespace sterna
