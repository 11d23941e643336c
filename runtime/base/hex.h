// Bytes as people compare them.
#pragma once

#include <string>

#include "runtime/base/bytes.h"

namespace sterna {

/// The bytes in lower-case hexadecimal. (For secrets libsodium has one that takes as long for all.)
inline std::string to_hex(ByteView bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<std::size_t>(byte >> 4)];
    text += kDigits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return text;
}

}  // namespace sterna
