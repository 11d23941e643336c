// sign: one bit an element, and the mean magnitude of each 65,536 (kernels/numbers/signs.h).
#include "kernels/numbers/signs.h"

#include "actors/codecs/codec.h"
#include "actors/codecs/open_numbers.h"

namespace sterna::actors {
namespace {

std::size_t room(Packed what) { return kernels::signs_bytes(what.count); }

std::size_t pack(std::span<const float> values, const PackContext&, MutableBytes out,
                 kernels::Isa) {
  const std::size_t bytes = kernels::signs_bytes(values.size());
  kernels::encode_signs(values, out.first(bytes));
  return bytes;
}

}  // namespace

GradientCodec sign_codec() {
  return {.name = "sign",
          .wire = Codec::SIGN,
          .lossy = true,
          .biased = true,
          .room = room,
          .pack = pack,
          .open = open_numbers<kernels::decode_signs>};
}

}  // namespace sterna::actors
