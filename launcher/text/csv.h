// A text as a field of a CSV file.
#pragma once

#include <string>
#include <string_view>

namespace sterna::launcher {

/// In quotes, as RFC 4180 has it: whatever the text holds, it is one field.
inline std::string csv_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace sterna::launcher
