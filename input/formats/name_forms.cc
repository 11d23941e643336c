#include "input/formats/name_forms.h"

#include <fmt/format.h>

#include <algorithm>

namespace sterna::input {

namespace {

bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

/// What stands for a run of letters beyond ASCII, and the letters that accents are put on.
constexpr char kOther = '*';

struct Outline {
  std::string text;
  bool accents = false;  ///< it has accents, vowel signs or jamo that join the letter before
};

/// Whether the code point at the beginning of `rest`, of UTF-8, joins the letter before it: U+0300
/// to U+036F (combining accents), U+1100 to U+11FF (jamo), U+3099 and U+309A (kana's marks).
bool joins(std::string_view rest) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(rest[i]); };
  if (rest.size() >= 2 && at(0) == 0xCC) return true;
  if (rest.size() >= 2 && at(0) == 0xCD) return at(1) < 0xB0;
  if (rest.size() < 3) return false;
  if (at(0) == 0xE1) return at(1) >= 0x84 && at(1) < 0x88;
  return at(0) == 0xE3 && at(1) == 0x82 && (at(2) == 0x99 || at(2) == 0x9A);
}

Outline outline_of(std::string_view name) {
  Outline outline;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (is_ascii(name[i])) {
      outline.text += name[i];
      continue;
    }
    if (joins(name.substr(i))) {
      outline.accents = true;
      if (!outline.text.empty()) outline.text.back() = kOther;
    } else {
      outline.text += kOther;
    }
    while (i + 1 < name.size() && (static_cast<unsigned char>(name[i + 1]) & 0xC0) == 0x80) ++i;
  }
  const auto last = std::unique(outline.text.begin(), outline.text.end(),
                                [](char a, char b) { return a == kOther && b == kOther; });
  outline.text.erase(last, outline.text.end());
  return outline;
}

std::string escaped(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (is_ascii(c)) {
      text += c;
    } else {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return text;
}

}  // namespace

std::string other_form(std::string_view name, std::span<const std::string> names) {
  if (std::ranges::all_of(name, is_ascii)) return "";
  const Outline outline = outline_of(name);
  for (const std::string& other : names) {
    const Outline its = outline_of(other);
    if (its.text != outline.text || its.accents == outline.accents) continue;
    return fmt::format(
        "; \"{}\" and \"{}\" seem to differ only in the form of their Unicode "
        "letters (NFC, NFD): give both one form",
        escaped(name), escaped(other));
  }
  return "";
}

}  // namespace sterna::input
