// The second fuzzer's entry, apart from libFuzzer: an input is a peer's entropy-coded planes, as
//
//   [ranks - 1, mod 256][elements (u24, little-endian), mod 300,000][the coded bytes]
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sterna::fuzz {

/// Decodes the input with every instruction set, and dies if they differ or if it gives what is no
/// planes. True if it was planes.
bool decode_planes(const std::uint8_t* data, std::size_t size);

/// Planes of every kind of segment, as inputs.
std::vector<std::string> plane_seeds();

}  // namespace sterna::fuzz
