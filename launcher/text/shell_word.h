// A word as a POSIX shell takes it back: in a command that people copy, or that is run.
#pragma once

#include <string>
#include <string_view>

namespace sterna::launcher {

/// In single quotes, whatever is in it.
inline std::string quoted_for_shell(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

/// In quotes only where it needs them.
inline std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=:@%+,-";
  const bool plain = !text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos;
  return plain ? std::string(text) : quoted_for_shell(text);
}

}  // namespace sterna::launcher
