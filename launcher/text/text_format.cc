#include "launcher/text/text_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace sterna::launcher {
namespace {

/// The code point of a lead byte and so many bytes that follow it.
char32_t code_point(std::string_view sequence) {
  constexpr std::array<unsigned, 5> kLeadBits = {0, 0x7F, 0x1F, 0x0F, 0x07};
  char32_t code = static_cast<unsigned char>(sequence[0]) & kLeadBits[sequence.size()];
  for (std::size_t i = 1; i < sequence.size(); ++i) {
    code = (code << 6) | (static_cast<unsigned char>(sequence[i]) & 0x3F);
  }
  return code;
}

/// The length in bytes of the valid UTF-8 sequence at the start of `text`, 0 if there is none:
/// overlong ones, halves of surrogate pairs and what lies beyond U+10FFFF are not valid.
std::size_t sequence_length(std::string_view text) {
  constexpr std::array<char32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0x80                    ? 1
                             : lead >= 0xC2 && lead <= 0xDF ? 2
                             : lead >= 0xE0 && lead <= 0xEF ? 3
                             : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                            : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 0;
  }
  const char32_t code = code_point(text.substr(0, length));
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code < kLeast[length] || surrogate || code > 0x10FFFF ? 0 : length;
}

/// Wide by the blocks of East Asian scripts and emoji. Combining marks count as one column, so a
/// line may come out shorter than the terminal, never longer.
std::size_t width_of(char32_t code) {
  const bool wide = (code >= 0x1100 && code <= 0x115F) || (code >= 0x2E80 && code <= 0xA4CF) ||
                    (code >= 0xAC00 && code <= 0xD7A3) || (code >= 0xF900 && code <= 0xFAFF) ||
                    (code >= 0xFE30 && code <= 0xFE6F) || (code >= 0xFF00 && code <= 0xFF60) ||
                    (code >= 0xFFE0 && code <= 0xFFE6) || (code >= 0x1F000 && code <= 0x3FFFD);
  return wide ? 2 : 1;
}

/// Calls visit(sequence, columns) for every character until it returns false.
template <class Visitor>
void for_each_character(std::string_view text, Visitor visit) {
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(1, sequence_length(text));
    const std::string_view sequence = text.substr(0, length);
    if (!visit(sequence, length == 1 ? 1 : width_of(code_point(sequence)))) return;
    text.remove_prefix(length);
  }
}

}  // namespace

std::string counted(std::uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string thousands(std::int64_t number) {
  const std::string digits = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > first && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"kB", "MB", "GB", "TB", "PB"};
  if (bytes < 1000) return fmt::format("{} B", bytes);
  double number = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  // 999.5 would be rounded to four digits.
  while (number >= 999.5 && unit + 1 < kUnits.size()) {
    number /= 1000;
    ++unit;
  }
  const int decimals = number < 9.995 ? 2 : number < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", number, decimals, kUnits[unit]);
}

std::string seconds_text(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0 || seconds > 1e9) return "?";
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::size_t columns(std::string_view text) {
  std::size_t sum = 0;
  for_each_character(text, [&](std::string_view, std::size_t width) {
    sum += width;
    return true;
  });
  return sum;
}

std::string cut(std::string_view text, std::size_t width, std::string_view mark) {
  if (columns(text) <= width) return std::string(text);
  const std::size_t mark_width = columns(mark);
  const std::size_t room = width > mark_width ? width - mark_width : 0;
  std::string result;
  std::size_t used = 0;
  for_each_character(text, [&](std::string_view sequence, std::size_t character_width) {
    if (used + character_width > room) return false;
    result += sequence;
    used += character_width;
    return true;
  });
  if (mark_width <= width) result += mark;
  return result;
}

namespace {

/// Behind a name, "  --json    Print ...".
std::string wrapped_line(std::string_view line, std::size_t width) {
  constexpr std::size_t kLittle = 6;  // where the description's own place leaves too few columns
  const std::size_t name = line.find_first_not_of(' ');
  const std::size_t gap = line.find("  ", name);
  std::size_t begin = gap == std::string_view::npos ? name : line.find_first_not_of(' ', gap);
  std::string text(line.substr(0, begin));
  std::size_t indent = begin;
  if (begin > width / 2) {
    indent = kLittle;
    text = gap == std::string_view::npos ? "" : std::string(line.substr(0, gap)) + "\n";
    text.append(indent, ' ');
  }
  std::size_t column = indent;
  while (begin < line.size()) {
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    const std::string_view word = line.substr(begin, end - begin);
    const bool first = column == indent;
    if (!first && column + 1 + columns(word) > width) {
      text += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      text += ' ';
      ++column;
    }
    text += word;
    column += columns(word);
    begin = end + 1;
  }
  return text;
}

}  // namespace

std::string wrapped_help(std::string_view text, std::size_t width) {
  std::string lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    // What goes on below a description goes where that has gone.
    const bool deep = !line.empty() && line.find_first_not_of(' ') > width / 2;
    const bool stays = (columns(line) <= width && !deep) || line.starts_with("  sterna ");
    lines += stays ? std::string(line) : wrapped_line(line, width);
    if (end < text.size()) lines += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string printable(std::string_view text) {
  std::string result;
  for_each_character(text, [&](std::string_view sequence, std::size_t) {
    const auto first = static_cast<unsigned char>(sequence.front());
    const bool control = sequence.size() == 1 ? first < 0x20 || first >= 0x7F
                                              : code_point(sequence) < 0xA0;  // C1 controls
    if (sequence == "\t") {
      result += ' ';
    } else if (control) {
      result += '?';
    } else {
      result += sequence;
    }
    return true;
  });
  return result;
}

std::string printable_lines(std::string_view text) {
  constexpr std::string_view kStay = "\n\t";
  std::string result;
  while (true) {
    const std::size_t end = text.find_first_of(kStay);
    result += printable(text.substr(0, end));
    if (end == std::string_view::npos) return result;
    result += text[end];
    text.remove_prefix(end + 1);
  }
}

std::string valid_utf8(std::string_view text) {
  std::string result;
  for_each_character(text, [&](std::string_view sequence, std::size_t) {
    const bool lone = sequence.size() == 1 && static_cast<unsigned char>(sequence.front()) >= 0x80;
    result += lone ? "?" : sequence;
    return true;
  });
  return result;
}

}  // namespace sterna::launcher
