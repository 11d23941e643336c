// The average of the ranks' packets: what a parameter server makes of a step's gradients.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/isa/isa.h"

namespace sterna::kernels {

/// How the elements of a packet are stored.
enum class Packing {
  planes,  ///< trits as bit-planes (kernels/trits/ternary.h)
  fp32,    ///< little-endian fp32, one per element
  bf16,    ///< little-endian bf16, one per element (kernels/sums/bf16.h)
};

/// One rank's gradient of n elements as it came: planes_bytes(n), 4 n or 2 n bytes, at any
/// alignment. The payload is borrowed, and was checked (check_planes, size) when it was received.
struct Packet {
  Packing packing = Packing::planes;
  float scaler = 0;  ///< of planes
  std::span<const std::byte> payload;
};

/// out = (((0 + packet 0) + packet 1) + ...) / number of packets, in fp32 and in that order, so the
/// order of `packets` (by rank) decides the bits. At least one packet.
void average(std::span<const Packet> packets, std::span<float> out, Isa isa);

}  // namespace sterna::kernels
