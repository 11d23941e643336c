// How much a tf.Example would hold, seen before any of it is held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sterna::input {

/// Whether `data` are built as a tf.Example (example.proto) with at most `most_values` features,
/// texts and numbers together. A few bytes of a record can become 200 of memory, so whoever parses
/// what others wrote asks this first. Allocates nothing.
bool example_fits(std::span<const std::uint8_t> data, std::size_t most_values);

}  // namespace sterna::input
