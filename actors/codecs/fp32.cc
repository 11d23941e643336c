// none: little-endian fp32, as the net made it.
#include <cstring>

#include <fmt/format.h>

#include "actors/codecs/codec.h"

namespace sterna::actors {
namespace {

std::size_t room(Packed what) { return what.count * sizeof(float); }

std::size_t pack(std::span<const float> values, const PackContext&, MutableBytes out,
                 kernels::Isa) {
  std::memcpy(out.data(), values.data(), values.size_bytes());
  return values.size_bytes();
}

/// All exponent bits set: NaN or infinity. The payload may lie at any alignment.
bool all_finite(ByteView payload) {
  constexpr std::uint32_t kExponent = 0x7F800000;
  std::uint32_t bad = 0;
  for (std::size_t i = 0; i + sizeof(float) <= payload.size(); i += sizeof(float)) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, payload.data() + i, sizeof(bits));
    bad |= static_cast<std::uint32_t>((bits & kExponent) == kExponent);
  }
  return bad == 0;
}

Result<Bytes> open(const Bytes& payload, Packed what, BufferPool&, kernels::Isa) {
  if (payload.size() != room(what)) {
    return Error{Errc::malformed, fmt::format("{} elements in {} bytes; expected {}", what.count,
                                              payload.size(), room(what))};
  }
  if (!all_finite(payload.view())) return Error{Errc::non_finite, "numbers that are not finite"};
  return payload;
}

}  // namespace

GradientCodec fp32_codec() {
  return {.name = "none", .wire = Codec::FP32, .room = room, .pack = pack, .open = open};
}

}  // namespace sterna::actors
