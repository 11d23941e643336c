// Puts one TOML value into one key's field, or says in words why it does not fit.
#pragma once

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "launcher/cluster_file/keys.h"
#include "launcher/cluster_file/toml_tree.h"

namespace sterna::launcher {

/// What a key's value may be, without its field.
struct ValueRule {
  std::vector<std::string_view> choices;
  Limits limits;
  bool identifier = false;
};

/// Each converts `value` into `out`, or returns what is wanted instead ("must be at least 1, not
/// -4"); `out` is then unchanged.
std::optional<std::string> convert(const TomlValue& value, const ValueRule& rule,
                                   std::int64_t& out);
std::optional<std::string> convert(const TomlValue& value, const ValueRule& rule, double& out);
std::optional<std::string> convert(const TomlValue& value, const ValueRule& rule, bool& out);
std::optional<std::string> convert(const TomlValue& value, const ValueRule& rule, std::string& out);
std::optional<std::string> convert(const TomlValue& value, const ValueRule& rule, Duration& out);
std::optional<std::string> convert(const TomlValue& value, const ValueRule& rule,
                                   std::vector<std::string>& out);
std::optional<std::string> convert(const TomlValue& value, const ValueRule& rule,
                                   std::optional<PortRange>& out);
std::optional<std::string> convert(const TomlValue& value, const ValueRule& rule, ByteCount& out);
std::optional<std::string> convert(const TomlValue& value, const ValueRule& rule,
                                   std::vector<std::int64_t>& out);
std::optional<std::string> convert(const TomlValue& value, const ValueRule& rule,
                                   std::map<std::string, std::string>& out);
std::optional<std::string> convert(const TomlValue& value, const ValueRule& rule, JsonObject& out);

/// The inverse: each value as TOML text that converts back to it.
std::string toml_text(std::int64_t value);
std::string toml_text(double value);
std::string toml_text(bool value);
std::string toml_text(const std::string& value);
std::string toml_text(Duration value);
std::string toml_text(const std::vector<std::string>& value);
std::string toml_text(const std::optional<PortRange>& value);
std::string toml_text(const ByteCount& value);
std::string toml_text(const std::vector<std::int64_t>& value);
std::string toml_text(const std::map<std::string, std::string>& value);
std::string toml_text(const JsonObject& value);

/// What a field of this type is called in the help.
std::string_view type_name(std::int64_t);
std::string_view type_name(double);
std::string_view type_name(bool);
std::string_view type_name(const std::string&);
std::string_view type_name(Duration);
std::string_view type_name(const std::vector<std::string>&);
std::string_view type_name(const std::optional<PortRange>&);
std::string_view type_name(const ByteCount&);
std::string_view type_name(const std::vector<std::int64_t>&);
std::string_view type_name(const std::map<std::string, std::string>&);
std::string_view type_name(const JsonObject&);

template <class S>
std::optional<std::string> assign(const TomlValue& value, const Key<S>& key, S& section) {
  const ValueRule rule{key.choices, key.limits, key.identifier};
  return std::visit([&](auto field) { return convert(value, rule, section.*field); }, key.field);
}

template <class S>
std::string toml_text(const Key<S>& key, const S& section) {
  return std::visit([&](auto field) { return toml_text(section.*field); }, key.field);
}

}  // namespace sterna::launcher
