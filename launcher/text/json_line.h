// JSON as we print it. For .cc files: the header of the library is heavy.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace sterna::launcher {

using Json = nlohmann::ordered_json;

/// On one line; what is no UTF-8 in it (a path may be anything) is replaced.
inline std::string json_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
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

}  // namespace sterna::launcher
