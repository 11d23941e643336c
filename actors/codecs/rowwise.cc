// rowwise: levels between the least and the largest of each 1,024 elements, rounded stochastically;
// gradient.bits of each (kernels/numbers/rows.h). A peer's bytes say their own bits.
#include "kernels/numbers/rows.h"

#include "actors/codecs/codec.h"
#include "actors/codecs/open_numbers.h"

namespace sterna::actors {
namespace {

std::size_t room(Packed what) { return kernels::rows_bytes(what.count, what.choices.bits); }

std::size_t pack(std::span<const float> values, const PackContext& how, MutableBytes out,
                 kernels::Isa isa) {
  const std::size_t bytes = kernels::rows_bytes(values.size(), how.choices.bits);
  kernels::encode_rows(values, how.choices.bits, how.draw, how.first, out.first(bytes), isa);
  return bytes;
}

}  // namespace

GradientCodec rowwise_codec() {
  return {.name = "rowwise",
          .wire = Codec::ROWWISE,
          .lossy = true,
          .room = room,
          .pack = pack,
          .open = open_numbers<kernels::decode_rows>};
}

}  // namespace sterna::actors
