#include "kernels/sums/tile.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/sums/bf16.h"

namespace sterna::kernels {
namespace {

/// What a packet's elements [begin, begin + count) stand for.
void decode_tile(const Packet& packet, std::size_t begin, std::span<float> out) {
  switch (packet.packing) {
    case Packing::planes:
      return decode(packet.payload.subspan(planes_bytes(begin), planes_bytes(out.size())),
                    packet.scaler, out, Isa::scalar);
    case Packing::fp32:
      std::memcpy(out.data(), packet.payload.data() + begin * sizeof(float), out.size_bytes());
      return;
    case Packing::bf16:
      return decode_bf16(packet.payload.subspan(2 * begin, 2 * out.size()), out, Isa::scalar);
  }
}

void average(const Packet* packets, std::size_t ranks, std::size_t begin, std::size_t count,
             float* out) {
  std::array<float, kMostTileElements> values;
  std::fill_n(out, count, 0.0F);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    decode_tile(packets[rank], begin, {values.data(), count});
    for (std::size_t i = 0; i < count; ++i) out[i] += values[i];
  }
  for (std::size_t i = 0; i < count; ++i) out[i] /= static_cast<float>(ranks);
}

void add_decay(float decay, const float* w, std::size_t count, float* g) {
  for (std::size_t i = 0; i < count; ++i) g[i] += decay * w[i];
}

}  // namespace

TileKernels scalar_tiles() { return {kPlaneBlock, average, add_decay}; }

TileKernels tiles(Isa isa) { return twin(isa, scalar_tiles, avx2_tiles, avx512_tiles)(); }

}  // namespace sterna::kernels
