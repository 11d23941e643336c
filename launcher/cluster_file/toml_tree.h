// A TOML document as plain values with line numbers, so that toml++ stays in one file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/base/result.h"

namespace sterna::launcher {

struct TomlEntry;

/// A value and the line it starts at.
struct TomlValue {
  /// A kind of value that no key of ours takes: a date or a time.
  struct Other {
    std::string kind;
  };
  using Array = std::vector<TomlValue>;
  using Table = std::vector<TomlEntry>;  ///< in the order of the file

  int line = 0;
  bool header = false;  ///< of a table: written as [name] or [[name]], not as a.b = … or {…}
  std::variant<std::int64_t, double, bool, std::string, Array, Table, Other> data;

  template <class T>
  const T* get() const {
    return std::get_if<T>(&data);
  }
};

struct TomlEntry {
  std::string key;
  int line = 0;  ///< of the key
  TomlValue value;
};

/// Where and why a text is not TOML.
struct TomlError {
  int line = 0;
  std::string message;
};

/// Parses a whole document. Never throws.
std::variant<TomlValue::Table, TomlError> parse_toml(std::string_view text);

/// `value` for a message: `an integer (7)`, `text ("many")`, `a table`.
std::string in_words(const TomlValue& value);

/// `text` as a TOML basic string, quotes included.
std::string toml_quoted(std::string_view text);
/// A finite number as a TOML float that reads back to the same bits.
std::string toml_float(double number);

}  // namespace sterna::launcher
