// The average of the ranks' packets: what a parameter server makes of a step's gradients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/isa/isa.h"
#include "kernels/trits/ternary.h"

namespace sterna::kernels {

/// How the elements of a packet are stored.
enum class Packing {
  planes,  ///< trits as bit-planes (kernels/trits/ternary.h)
  fp32,    ///< little-endian fp32, one per element
  bf16,    ///< little-endian bf16, one per element (kernels/sums/bf16.h)
};

/// Bytes of so many elements.
constexpr std::size_t packed_bytes(Packing packing, std::size_t count) {
  switch (packing) {
    case Packing::planes:
      return planes_bytes(count);
    case Packing::bf16:
      return count * sizeof(std::uint16_t);
    case Packing::fp32:
      break;
  }
  return count * sizeof(float);
}

/// One rank's gradient of n elements as it came: packed_bytes(packing, n), at any alignment. The
/// payload is borrowed, and was checked (check_planes, size) when it was received.
struct Packet {
  Packing packing = Packing::planes;
  float scaler = 0;  ///< of planes
  std::span<const std::byte> payload;
};

/// out = (((0 + packet 0) + packet 1) + ...) / number of packets, in fp32 and in that order, so the
/// order of `packets` (by rank) decides the bits. At least one packet.
void average(std::span<const Packet> packets, std::span<float> out, Isa isa);

}  // namespace sterna::kernels
