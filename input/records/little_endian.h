// Numbers as TFRecord files and their indexes store them: little-endian.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sterna::input {

/// The number that `bytes` begins with; it must hold as many.
template <std::unsigned_integral T>
T get_little_endian(std::span<const std::uint8_t> bytes) {
  T value = 0;
  for (std::size_t i = sizeof(T); i-- > 0;) value = static_cast<T>(value << 8 | bytes[i]);
  return value;
}

/// Puts `value` where `bytes` begins, which must have room for it.
template <std::unsigned_integral T>
void put_little_endian(T value, std::span<std::uint8_t> bytes) {
  for (std::size_t i = 0; i < sizeof(T); ++i) bytes[i] = static_cast<std::uint8_t>(value >> 8 * i);
}

}  // namespace sterna::input
