#include "input/records/example_size.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace sterna::input {

namespace {

using Wire = std::span<const std::uint8_t>;

// Protocol buffers, "Encoding": a field is a varint of number << 3 | type, then its value.
enum class Type : std::uint8_t { varint = 0, eight_bytes = 1, delimited = 2, four_bytes = 5 };

/// The parts of an example, each with what a delimited field of number 1, 2 or 3 in it is.
enum class Part { example, features, entry, feature, bytes_list, int64_list, integers, leaf };

Part part_in(Part outer, std::uint64_t field) {
  switch (outer) {
    case Part::example:
      return field == 1 ? Part::features : Part::leaf;
    case Part::features:
      return field == 1 ? Part::entry : Part::leaf;
    case Part::entry:
      return field == 2 ? Part::feature : Part::leaf;
    case Part::feature:
      return field == 1   ? Part::bytes_list
             : field == 3 ? Part::int64_list
                          : Part::leaf;  // floats are no larger in memory
    case Part::int64_list:
      return field == 1 ? Part::integers : Part::leaf;
    default:
      return Part::leaf;
  }
}

std::optional<std::uint64_t> take_varint(Wire& wire) {
  constexpr int kMostBits = 64;
  std::uint64_t value = 0;
  for (int shift = 0; shift < kMostBits && !wire.empty(); shift += 7) {
    const std::uint8_t byte = wire.front();
    wire = wire.subspan(1);
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

bool skip(Wire& wire, std::uint64_t bytes) {
  if (bytes > wire.size()) return false;
  wire = wire.subspan(bytes);
  return true;
}

/// Takes what `wire` holds off `left`; false where there is more, or it is not well-formed. Parts
/// lie in each other at most five deep.
bool count(Wire wire, Part part, std::size_t& left) {
  const auto take = [&left](std::size_t values) {
    if (values > left) return false;
    left -= values;
    return true;
  };
  if (part == Part::leaf) return true;
  if (part == Part::integers) {
    return take(static_cast<std::size_t>(
        std::count_if(wire.begin(), wire.end(), [](std::uint8_t byte) { return byte < 0x80; })));
  }
  while (!wire.empty()) {
    const auto tag = take_varint(wire);
    // protobuf takes the lower 32 bits of a tag: a number above is another one to it. 0 is none.
    if (!tag || *tag > std::numeric_limits<std::uint32_t>::max() || *tag >> 3 == 0) return false;
    if (!take(1)) return false;
    std::optional<std::uint64_t> size;
    switch (static_cast<Type>(*tag & 7)) {
      case Type::varint:
        size = take_varint(wire) ? std::optional<std::uint64_t>(0) : std::nullopt;
        break;
      case Type::eight_bytes:
        size = 8;
        break;
      case Type::four_bytes:
        size = 4;
        break;
      case Type::delimited:
        size = take_varint(wire);
        if (!size || *size > wire.size()) return false;
        if (!count(wire.first(*size), part_in(part, *tag >> 3), left)) return false;
        break;
      default:
        return false;  // groups, which no tf.Example has
    }
    if (!size || !skip(wire, *size)) return false;
  }
  return true;
}

}  // namespace

bool example_fits(Wire data, std::size_t most_values) {
  return data.size() <= std::numeric_limits<std::int32_t>::max() &&
         count(data, Part::example, most_values);
}

}  // namespace sterna::input
