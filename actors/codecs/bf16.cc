// bf16: the upper half of each fp32 (kernels/sums/bf16.h).
#include "kernels/sums/bf16.h"
#include "actors/codecs/codec.h"

namespace sterna::actors {
namespace {

std::size_t room(Packed what) { return what.count * sizeof(std::uint16_t); }

std::size_t pack(std::span<const float> values, const PackContext&, MutableBytes out,
                 kernels::Isa isa) {
  const std::size_t bytes = room({.count = values.size()});
  kernels::encode_bf16(values, out.first(bytes), isa);
  return bytes;
}

Result<Bytes> open(const Bytes& payload, Packed what, BufferPool&, kernels::Isa) {
  STERNA_TRY(kernels::check_bf16(payload.view(), what.count));
  return payload;
}

}  // namespace

GradientCodec bf16_codec() {
  return {.name = "bf16",
          .wire = Codec::BF16,
          .packing = kernels::Packing::bf16,
          .lossy = true,
          .room = room,
          .pack = pack,
          .open = open};
}

}  // namespace sterna::actors
