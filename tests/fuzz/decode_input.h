// The fuzzer's entry, apart from libFuzzer: an input is one received message, cut as
//
//   [type selector][frames - 1, mod 8][per frame: misalignment mod 8, words (u16, little-endian)]
//   [the frames' bytes; the last frame takes what is left]
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/message/message.h"

namespace sterna::fuzz {

/// Decodes the input as every receiver of ours does, and unpacks it as a message of one type, which
/// it must be then. True if it was a message.
bool decode_input(const std::uint8_t* data, std::size_t size);

/// The input that stands for these frames (the bytes of each) with this misalignment.
std::string input_of(const std::vector<std::string>& frames, std::uint8_t misalignment);

/// Well-formed messages of every type, as inputs; some in several frames, some misaligned.
std::vector<std::string> seeds();

}  // namespace sterna::fuzz
