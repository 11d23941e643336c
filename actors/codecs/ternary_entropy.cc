// ternary_entropy: the same planes, coded near their entropy (kernels/entropy/ENTROPY.md).
#include "actors/codecs/codec.h"
#include "kernels/entropy/entropy.h"

namespace sterna::actors {
namespace {

std::size_t room(Packed what) { return kernels::entropy_room(what.count, what.ranks); }

std::size_t seal(ByteView planes, Packed what, MutableBytes out, kernels::Isa isa) {
  return kernels::entropy_encode(planes, what.count, what.ranks, out, isa);
}

Result<Bytes> open(const Bytes& payload, Packed what, BufferPool& pool, kernels::Isa isa) {
  const std::shared_ptr<Buffer> planes = pool.take(kernels::sum_bytes(what.count, what.ranks));
  STERNA_TRY(kernels::entropy_decode(payload.view(), what.count, what.ranks, planes->bytes(), isa));
  return share(planes);
}

}  // namespace

GradientCodec ternary_entropy_codec() {
  return {.name = "ternary_entropy",
          .wire = Codec::TERNARY_ENTROPY,
          .packing = kernels::Packing::planes,
          .lossy = true,
          .room = room,
          .seal = seal,
          .open = open};
}

}  // namespace sterna::actors
