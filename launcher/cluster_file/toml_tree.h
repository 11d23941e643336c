// A TOML document as plain values with line numbers, so that toml++ stays in one file.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "runtime/base/value.h"

namespace sterna::launcher {

/// Where and why a text is not TOML.
struct TomlError {
  int line = 0;
  std::string message;
};

/// Parses a whole document. Never throws.
std::variant<Value::Table, TomlError> parse_toml(std::string_view text);

}  // namespace sterna::launcher
