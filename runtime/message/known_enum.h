// Whether the schema knows an enum's value; apart, because the schema's own header is heavy.
#pragma once

#include <capnp/schema.h>

#include <cstdint>

namespace sterna {

/// True for values the schema knows: unknown enum values are errors.
template <class E>
bool known_enum(E value) {
  static const auto kCount = capnp::Schema::from<E>().getEnumerants().size();
  return static_cast<std::uint16_t>(value) < kCount;
}

}  // namespace sterna
