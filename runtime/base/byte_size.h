// Sizes in bytes as people write them in the cluster file: "64GB", "512MB", "1.5GiB".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sterna {

/// A positive decimal number and a unit (B, kB, MB, GB, TB; KiB, MiB, GiB, TiB), a blank between
/// them or not; nothing for anything else, for less than a byte or for more than 2⁶² bytes.
std::optional<std::uint64_t> parse_byte_size(std::string_view text);

/// The shortest exact text: "64GB", "1536MiB". parse_byte_size() gives the same number again, up to
/// 2⁵³ bytes (and beyond, where a double holds the number of units).
std::string byte_size_text(std::uint64_t bytes);

}  // namespace sterna
