// ternary: trits, or their sums, as bit-planes (kernels/trits/TRITS.md).
#include "kernels/trits/ternary.h"
#include "actors/codecs/codec.h"
#include "kernels/sums/sums.h"

namespace sterna::actors {
namespace {

std::size_t room(Packed what) { return kernels::sum_bytes(what.count, what.ranks); }

Result<Bytes> open(const Bytes& payload, Packed what, BufferPool&, kernels::Isa isa) {
  STERNA_TRY(what.ranks == 1 ? kernels::check_planes(payload.view(), what.count)
                             : kernels::check_sums(payload.view(), what.count, what.ranks, isa));
  return payload;
}

}  // namespace

GradientCodec ternary_codec() {
  return {.name = "ternary",
          .wire = Codec::TERNARY,
          .packing = kernels::Packing::planes,
          .lossy = true,
          .room = room,
          .open = open};
}

}  // namespace sterna::actors
