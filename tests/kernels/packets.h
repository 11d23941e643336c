// The packets of some ranks, with bytes that lie at odd addresses, as those of received frames do.
#pragma once

#include <cstring>
#include <vector>

#include "gradients.h"
#include "kernels/sums/aggregate.h"
#include "kernels/sums/bf16.h"
#include "kernels/trits/ternary.h"

namespace sterna::kernels {

/// Packets of `count` elements: rank r is sent as planes, fp32 or bf16 as `packings` says.
class RankPackets {
 public:
  RankPackets(std::size_t count, const std::vector<Packing>& packings) {
    for (std::size_t rank = 0; rank < packings.size(); ++rank) {
      const auto g = gaussian(count, 0.1F, 100 + rank);
      const float s = 0.2F + 0.03F * static_cast<float>(rank);
      const bool planes = packings[rank] == Packing::planes;
      const bool half = packings[rank] == Packing::bf16;
      std::vector<std::byte> payload(planes ? planes_bytes(count)
                                            : count * (half ? 2 : sizeof(float)));
      values_.emplace_back(g);
      if (planes) {
        ternarize(g, s, {.seed = 5, .step = 1, .rank = static_cast<std::uint32_t>(rank)}, 0,
                  payload, Isa::scalar);
        decode(payload, s, values_.back(), Isa::scalar);
      } else if (half) {
        encode_bf16(g, payload, Isa::scalar);
        decode_bf16(payload, values_.back(), Isa::scalar);
      } else if (count != 0) {
        std::memcpy(payload.data(), g.data(), payload.size());
      }
      payload.insert(payload.begin(), rank + 1, std::byte{0xEE});
      bytes_.push_back(std::move(payload));
      packets_.push_back({packings[rank], s, std::span(bytes_.back()).subspan(rank + 1)});
    }
  }

  const std::vector<Packet>& packets() const { return packets_; }
  /// What each rank's packet stands for.
  const std::vector<std::vector<float>>& values() const { return values_; }

 private:
  std::vector<std::vector<float>> values_;
  std::vector<std::vector<std::byte>> bytes_;
  std::vector<Packet> packets_;
};

inline std::vector<std::vector<Packing>> packings() {
  using enum Packing;
  return {{planes},
          {fp32},
          {planes, planes},
          {bf16},
          {fp32, planes, fp32},
          {planes, bf16, fp32},
          {planes, fp32, planes, planes, planes, planes, planes}};
}

}  // namespace sterna::kernels
