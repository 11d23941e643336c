// Names that print alike and differ in their bytes: "é" is one code point, or an e and an accent.
// macOS has long written the second (NFD) where most others write the first (NFC).
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sterna::input {

/// "; \"Cafe\xcc\x81\" and \"Caf\xc3\xa9\" seem ..." where one of `names` has the outline of `name`
/// (its letters of ASCII, and in between any others) and only one of the two has accents of their
/// own; else "".
std::string other_form(std::string_view name, std::span<const std::string> names);

}  // namespace sterna::input
