#include "runtime/base/section.h"

#include <algorithm>
#include <charconv>

namespace sterna {
namespace {

/// Whether all of `text` is one number.
template <class T>
bool parse(std::string_view text, T& out) {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), out);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
}

}  // namespace

Complaint assign(const Value& value, const ValueRule& rule, std::string_view name,
                 const Place& into) {
  const auto put = [&](const auto& at) -> Complaint {
    using At = std::decay_t<decltype(at)>;
    if constexpr (std::is_same_v<At, EnumPlace>) {
      std::string chosen;
      if (Complaint complaint = convert(value, rule, chosen)) return complaint;
      std::size_t index = 0;
      while (rule.choices[index] != chosen) ++index;
      at.set(at.member, index);
      return std::nullopt;
    } else if constexpr (std::is_same_v<At, Numbers*>) {
      return convert(value, rule, (*at)[name]);
    } else {
      return convert(value, rule, *at);
    }
  };
  return std::visit(put, into);
}

std::string text_of(const ValueRule& rule, std::string_view name, const Place& at) {
  const auto text = [&](const auto& place) {
    using At = std::decay_t<decltype(place)>;
    if constexpr (std::is_same_v<At, EnumPlace>) {
      return toml_quoted(rule.choices[place.get(place.member)]);
    } else if constexpr (std::is_same_v<At, Numbers*>) {
      return toml_text(place->at(name));
    } else {
      return toml_text(*place);
    }
  };
  return std::visit(text, at);
}

Result<void> SectionReader::read(std::string_view section, const ValueRule& rule,
                                 std::string_view name, const Place& into) {
  Value value;
  if (!skip(name) || !skip(" = ") || !read_value(value, true) || !skip("\n")) {
    return wrong(section, name, "cannot be read");
  }
  if (const Complaint complaint = assign(value, rule, name, into)) {
    return wrong(section, name, *complaint);
  }
  return {};
}

Error SectionReader::wrong(std::string_view section, std::string_view key, std::string_view what) {
  std::string message(section);
  if (!section.empty() && !key.empty()) message += '.';
  message += key;
  return {Errc::malformed, "\"" + message + "\" " + std::string(what)};
}

bool SectionReader::skip(std::string_view expected) {
  if (!rest_.starts_with(expected)) return false;
  rest_.remove_prefix(expected.size());
  return true;
}

bool SectionReader::read_value(Value& value, bool nested) {
  if (nested && skip("[")) return read_array(value);
  if (nested && skip("{")) return read_table(value);
  if (rest_.starts_with('"')) return read_quoted(value.data.emplace<std::string>());
  if (skip("true")) return value.data.emplace<bool>(true);
  if (skip("false")) return !value.data.emplace<bool>(false);
  return read_number(value);
}

bool SectionReader::read_array(Value& value) {
  auto& items = value.data.emplace<Value::Array>();
  if (skip("]")) return true;
  do {
    if (items.size() == kMostItems || !read_value(items.emplace_back(), false)) return false;
  } while (skip(", "));
  return skip("]");
}

bool SectionReader::read_table(Value& value) {
  auto& entries = value.data.emplace<Value::Table>();
  if (skip("}")) return true;
  do {
    if (entries.size() == kMostItems || !skip(" ")) return false;
    Value::Entry& entry = entries.emplace_back();
    if (rest_.starts_with('"')) {
      if (!read_quoted(entry.key)) return false;
    } else {
      entry.key = rest_.substr(0, rest_.find(' '));
      rest_.remove_prefix(entry.key.size());
    }
    if (!skip(" = ") || !read_value(entry.value, false)) return false;
  } while (skip(","));
  return skip(" }");
}

bool SectionReader::read_quoted(std::string& out) {
  skip("\"");
  while (!skip("\"")) {
    if (rest_.empty() || rest_.front() == '\n') return false;
    if (skip("\\u")) {
      unsigned code = 0;
      const auto digits = rest_.substr(0, 4);
      const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
      if (parsed.ptr != digits.data() + 4 || code >= 0x80) return false;
      out += static_cast<char>(code);
      rest_.remove_prefix(4);
      continue;
    }
    if (skip("\\") && rest_.empty()) return false;
    out += rest_.front();
    rest_.remove_prefix(1);
  }
  return true;
}

bool SectionReader::read_number(Value& value) {
  const std::string_view text =
      rest_.substr(0, std::min(rest_.find_first_of(",] }\n"), rest_.size()));
  rest_.remove_prefix(text.size());
  return parse(text, value.data.emplace<std::int64_t>()) ||
         parse(text, value.data.emplace<double>());
}

}  // namespace sterna
