// bf16: the upper half of an fp32. Half the bytes, the same range, 8 bits of precision.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/isa/isa.h"
#include "runtime/base/result.h"

namespace sterna::kernels {

/// The nearest bf16, ties to even; numbers of more than about 3.39e38 become infinite, NaNs stay
/// NaNs and denormals are kept.
constexpr std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return static_cast<std::uint16_t>(bits >> 16 | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16);
}

/// The fp32 of the same value: every bf16 is one.
constexpr float from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

/// Fills `out` (exactly 2 bytes per value, at any alignment) with the values' nearest bf16s,
/// little-endian.
void encode_bf16(std::span<const float> values, std::span<std::byte> out, Isa isa);

/// out = a + b, each sum rounded once; as many of each, and `out` may be one of them.
void add_bf16(std::span<const std::uint16_t> a, std::span<const std::uint16_t> b,
              std::span<std::uint16_t> out, Isa isa);

/// Fills `out` from bf16s: exactly 2 bytes per element, little-endian, at any alignment.
void decode_bf16(std::span<const std::byte> payload, std::span<float> out, Isa isa);

/// Whether a peer's bytes are `count` finite numbers: Errc::malformed for another size,
/// Errc::non_finite with the element's index otherwise.
Result<void> check_bf16(std::span<const std::byte> payload, std::size_t count);

}  // namespace sterna::kernels
