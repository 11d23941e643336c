// Whether what a device made has the CPU's bits.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>

#include "runtime/base/result.h"

namespace sterna::kernels {

inline Result<void> same_bytes(std::span<const std::byte> found,
                               std::span<const std::byte> expected, const std::string& of) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (found[i] == expected[i]) continue;
    return Error{Errc::internal, fmt::format("{}: byte {} of {} is {:02x}, on the CPU {:02x}", of,
                                             i, expected.size(), std::to_integer<int>(found[i]),
                                             std::to_integer<int>(expected[i]))};
  }
  return {};
}

/// NaNs are all alike: which one it is no rule says.
inline Result<void> same_floats(std::span<const float> found, std::span<const float> expected,
                                const std::string& of) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto a = std::bit_cast<std::uint32_t>(found[i]);
    const auto b = std::bit_cast<std::uint32_t>(expected[i]);
    if (a == b || (std::isnan(found[i]) && std::isnan(expected[i]))) continue;
    return Error{Errc::internal, fmt::format("{}: element {} of {} is {:08x}, on the CPU {:08x}",
                                             of, i, expected.size(), a, b)};
  }
  return {};
}

template <class T>
Result<void> same_number(const T& found, const T& expected, const std::string& of) {
  if (found == expected || (found != found && expected != expected)) return {};
  return Error{Errc::internal, fmt::format("{} is {}, on the CPU {}", of, found, expected)};
}

}  // namespace sterna::kernels
