// CRC32C (Castagnoli), the checksum of TFRecord files: RFC 3720 §12.1, with test vectors in B.4.
#pragma once

#include <cstdint>
#include <span>

namespace sterna::input {

/// The CRC32C of what `before` is the CRC32C of, followed by `bytes`. With the CPU's own
/// instruction (SSE4.2) where it has one.
std::uint32_t crc32c(std::span<const std::uint8_t> bytes, std::uint32_t before = 0);

/// The same by tables alone, eight bytes at a time: what crc32c is held to.
std::uint32_t crc32c_by_table(std::span<const std::uint8_t> bytes, std::uint32_t before = 0);

/// As TFRecord files store it: rotated right by 15 bits, plus a constant, so that the CRC of bytes
/// that hold CRCs is still one.
std::uint32_t masked_crc32c(std::span<const std::uint8_t> bytes);

}  // namespace sterna::input
