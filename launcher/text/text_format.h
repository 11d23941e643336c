// Numbers, sizes and times as people read them, and texts cut to a terminal's columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sterna::launcher {

/// 1234567 → "1,234,567"
std::string thousands(std::int64_t number);
inline std::string count_text(std::uint64_t count) {
  return thousands(static_cast<std::int64_t>(count));
}
/// "1 restart", "2 restarts"
std::string counted(std::uint64_t count, std::string_view what);
inline std::string counted(std::int64_t count, std::string_view what) {
  return counted(static_cast<std::uint64_t>(count), what);
}
/// "950 B", "12.3 MB": decimal units, three digits.
std::string bytes_text(std::uint64_t bytes);
/// "21 s", "1:05", "2:00:07"
std::string seconds_text(double seconds);

/// Columns that UTF-8 `text` takes on a terminal (wide East Asian characters take two).
std::size_t columns(std::string_view text);
/// The first `width` columns of `text`; where something is cut off, the last one is `mark`.
std::string cut(std::string_view text, std::size_t width, std::string_view mark);
/// Help of several lines with none longer than `width`, where blanks let it end there: what goes on
/// begins below the description. Lines with a command of `sterna`, to be copied, stay as they are.
std::string wrapped_help(std::string_view text, std::size_t width);
/// `text` without what could move the cursor: control characters and escape sequences become '?',
/// tabs a blank, bytes that are not UTF-8 '?'.
std::string printable(std::string_view text);
/// The same of a text of several lines, whose ends and tabs stay.
std::string printable_lines(std::string_view text);
/// `text` with '?' in place of each byte that is not UTF-8.
std::string valid_utf8(std::string_view text);

}  // namespace sterna::launcher
