// JSON as we print it. For .cc files: the header of the library is heavy.
#pragma once

#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace sterna::launcher {

using Json = nlohmann::ordered_json;

/// On one line; what is no UTF-8 in it (a path may be anything) is replaced, and a terminal has
/// nothing to obey: DEL and the C1 control characters, which JSON allows, are escaped, too.
inline std::string json_line(const Json& json) {
  std::string line = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  const auto is_c1 = [&](std::size_t at) {
    return line[at] == '\xC2' && static_cast<unsigned char>(line[at + 1]) < 0xA0;
  };
  for (std::size_t at = 0; (at = line.find_first_of("\x7F\xC2", at)) != std::string::npos; ++at) {
    if (line[at] == '\x7F') line.replace(at, 1, "\\u007f");
    if (!is_c1(at)) continue;
    constexpr const char* kDigits = "0123456789abcdef";
    const auto code = static_cast<unsigned char>(line[at + 1]);
    line.replace(at, 2, std::string("\\u00") + kDigits[code >> 4] + kDigits[code & 15]);
  }
  return line;
}

/// Any text as JSON without what is nested deeper than any of ours: to write a value, or to copy
/// it, takes a stack as deep as the value. Discarded where it is none.
inline Json parse_shallow(std::string_view text) {
  constexpr int kDeepest = 64;
  const auto keeps = [](int depth, Json::parse_event_t event, const Json&) {
    const bool begins =
        event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
    return !begins || depth < kDeepest;
  };
  return Json::parse(text, keeps, false);
}

/// `value`, or null where there is none or where JSON cannot write it: NaN, infinity.
inline Json json_number(std::optional<double> value) {
  if (!value || !std::isfinite(*value)) return nullptr;
  return *value;
}

/// What a line of ours, read back, holds: none where it has no number of this name.
inline std::optional<double> json_number_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

inline std::string json_text_of(const Json& object, const char* name, const char* otherwise) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

/// What one text of a file that others may have written is cut to where it is kept.
inline constexpr std::size_t kLongestKeptText = 2000;

inline std::string json_kept_text(const Json& object, const char* name, const char* otherwise) {
  std::string text = json_text_of(object, name, otherwise);
  if (text.size() > kLongestKeptText) text.resize(kLongestKeptText);
  return text;
}

/// Of `object` these numbers, null where it has no such number, and these texts, "" where it has no
/// such text. To copy a value of any shape takes a stack as deep as the value, which is whoever's
/// that wrote it.
inline Json json_kept(const Json& object, std::initializer_list<const char*> texts,
                      std::initializer_list<const char*> numbers) {
  Json kept = Json::object();
  for (const char* name : texts) kept[name] = json_kept_text(object, name, "");
  for (const char* name : numbers) kept[name] = json_number(json_number_of(object, name));
  return kept;
}

}  // namespace sterna::launcher
