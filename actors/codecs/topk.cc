// topk: of each 65,536 elements the gradient.density that is largest, as fp32 with their places
// (kernels/numbers/largest.h). A peer's bytes say how many.
#include "kernels/numbers/largest.h"

#include "actors/codecs/codec.h"
#include "actors/codecs/open_numbers.h"

namespace sterna::actors {
namespace {

std::size_t room(Packed what) { return kernels::largest_bytes(what.count, what.choices.density); }

std::size_t pack(std::span<const float> values, const PackContext& context, MutableBytes out,
                 kernels::Isa) {
  const double part = context.choices.density;
  const std::size_t bytes = kernels::largest_bytes(values.size(), part);
  kernels::encode_largest(values, part, out.first(bytes));
  return bytes;
}

}  // namespace

GradientCodec topk_codec() {
  return {.name = "topk",
          .wire = Codec::TOPK,
          .lossy = true,
          .biased = true,
          .room = room,
          .pack = pack,
          .open = open_numbers<kernels::decode_largest>};
}

}  // namespace sterna::actors
