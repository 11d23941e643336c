// Plain structs to and from JSON by a line that lists their members. For .cc files, as json_line.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "launcher/text/json_line.h"
#include "runtime/base/result.h"

/// NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE for JSON that keeps its keys' order: the members' own.
/// Written in the type's namespace. Reading throws where one is missing.
#define STERNA_JSON(Type, ...)                                                            \
  [[maybe_unused]] static void to_json(::sterna::launcher::Json& nlohmann_json_j,         \
                                       const Type& nlohmann_json_t) {                     \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_TO, __VA_ARGS__))              \
  }                                                                                       \
  [[maybe_unused]] static void from_json(const ::sterna::launcher::Json& nlohmann_json_j, \
                                         Type& nlohmann_json_t) {                         \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_FROM, __VA_ARGS__))            \
  }

/// A value that is not there, or no number, is null.
template <>
struct nlohmann::adl_serializer<std::optional<double>> {
  template <class J>
  static void to_json(J& json, const std::optional<double>& value) {
    json = value ? J(*value) : J(nullptr);
  }
  template <class J>
  static void from_json(const J& json, std::optional<double>& value) {
    value = json.is_null() ? std::nullopt : std::optional(json.template get<double>());
  }
};

namespace sterna::launcher {

/// Malformed where `text` is none; `what` is how the error calls it.
template <class T>
Result<T> parse_json(std::string_view text, const std::string& what) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return Error{Errc::malformed, what + " is not JSON"};
  try {
    return json.get<T>();
  } catch (const std::exception& error) {
    return Error{Errc::malformed, what + ": " + error.what()};
  }
}

}  // namespace sterna::launcher
