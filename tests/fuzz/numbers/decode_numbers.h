// Another fuzzer's entry, apart from libFuzzer: an input is a peer's gradient in one of the codecs
// whose payload is opened to fp32, as
//
//   [which of them][elements (u24, little-endian), mod 300,000][the payload]
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sterna::fuzz {

/// Decodes the input, and dies if it gives a number that is not finite. True if it was numbers.
bool decode_numbers(const std::uint8_t* data, std::size_t size);

/// What each codec packs, as inputs.
std::vector<std::string> number_seeds();

}  // namespace sterna::fuzz
