// Sums of trits and averages of packets as a device makes them; the bits of kernels/sums/sums.h and
// kernels/sums/aggregate.h.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "kernels/isa/warp.h"
#include "kernels/sums/bf16.h"
#include "kernels/sums/sum_launch.h"
#include "kernels/sums/sums.h"
#include "kernels/trits/ternary_device.h"

namespace sterna::kernels {

inline constexpr std::size_t kPlanePart = kPlaneBlockBytes / 2;  ///< a plane of a block

/// The nearest bf16 of element `i` of the chunk, of which what it was rounded by stays if so told.
STERNA_DEVICE std::uint16_t round_element(const ChunkWork& chunk, std::uint32_t i,
                                          bool keeps_error) {
  const float value = chunk.values[i];
  const std::uint16_t rounded = to_bf16(value);
  if (keeps_error) chunk.values[i] = value - from_bf16(rounded);
  return rounded;
}

/// Adds a trit to 32 sums in two's complement, plane by plane; carries out of the last are dropped.
template <std::size_t kPlanes>
STERNA_DEVICE void add_trit_word(std::uint32_t nonzero, std::uint32_t negative,
                                 std::uint32_t (&sums)[kPlanes]) {
  std::uint32_t carry = sums[0] & nonzero;
  sums[0] ^= nonzero;
  STERNA_UNROLL
  for (std::size_t plane = 1; plane < kPlanes; ++plane) {
    const std::uint32_t half = sums[plane] ^ negative;
    const std::uint32_t out = (sums[plane] & negative) | (carry & half);
    sums[plane] = half ^ carry;
    carry = out;
  }
}

/// The sums of words `word` to `word + kWords - 1` (of 16) of block `block`, from the packets of
/// `ranks` ranks: its first `planes` planes, at most kPlanes. kWords is 4 or 1.
template <std::size_t kPlanes, std::uint32_t kWords>
STERNA_DEVICE void sum_words(const DevicePacket* packets, std::uint32_t ranks, std::uint64_t block,
                             std::uint32_t word, std::uint32_t planes, std::byte* sums) {
  std::uint32_t made[kWords][kPlanes] = {};
  const std::uint64_t at = block * kPlaneBlockBytes + word * sizeof(std::uint32_t);
  STERNA_UNROLL_BY(kWords)
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::byte* const nonzero = packets[rank].payload + at;
    if constexpr (kWords == 4) {
      const FourWords set = load_words(nonzero);
      const FourWords sign = load_words(nonzero + kPlanePart);
      STERNA_UNROLL
      for (std::uint32_t i = 0; i < kWords; ++i) add_trit_word(set.at[i], sign.at[i], made[i]);
    } else {
      add_trit_word(*reinterpret_cast<const std::uint32_t*>(nonzero),
                    *reinterpret_cast<const std::uint32_t*>(nonzero + kPlanePart), made[0]);
    }
  }
  std::byte* place = sums + word * sizeof(std::uint32_t);
  STERNA_UNROLL
  for (std::size_t plane = 0; plane < kPlanes; ++plane, place += kPlanePart) {
    if (plane >= planes) continue;
    if constexpr (kWords == 4) {
      store_words(place, {{made[0][plane], made[1][plane], made[2][plane], made[3][plane]}});
    } else {
      *reinterpret_cast<std::uint32_t*>(place) = made[0][plane];
    }
  }
}

/// Ranks whose sums' planes a device keeps four words wide in registers.
inline constexpr std::size_t kFewPlanes = 5;
inline constexpr std::size_t kAllPlanes = sum_planes(kMostSummedRanks);

/// The numbers of a lane's four elements, one in each of four rows.
struct FourValues {
  float at[4] = {};
};

/// Adds what rank `packet` says of the lanes' elements in rows 4 * four to 4 * four + 3 of block
/// `block`, which has `count` elements.
template <class Warp>
STERNA_DEVICE void add_packet(const Warp& warp, const DevicePacket& packet, std::uint64_t block,
                              std::uint32_t four, std::uint32_t count,
                              typename Warp::template Each<FourValues>& sums) {
  if (packet.packing == Packing::planes) {
    const float scaler = *packet.scaler;
    const std::byte* const from =
        packet.payload + block * kPlaneBlockBytes + four * sizeof(FourWords);
    const FourWords nonzero = load_words(from);
    const FourWords negative = load_words(from + kPlanePart);
    warp.each([&](std::uint32_t lane) {
      STERNA_UNROLL
      for (std::uint32_t r = 0; r < 4; ++r) {
        // What is added otherwise is 0, and a sum is never -0: the same as adding nothing.
        if ((nonzero.at[r] >> lane & 1U) == 0) continue;
        sums[lane].at[r] += (negative.at[r] >> lane & 1U) != 0 ? -scaler : scaler;
      }
    });
    return;
  }
  const std::uint64_t first = block * kPlaneBlock;
  warp.each([&](std::uint32_t lane) {
    STERNA_UNROLL
    for (std::uint32_t r = 0; r < 4; ++r) {
      const std::uint32_t i = (4 * four + r) * kWarpLanes + lane;
      if (i >= count) continue;
      sums[lane].at[r] +=
          packet.packing == Packing::fp32
              ? reinterpret_cast<const float*>(packet.payload)[first + i]
              : from_bf16(reinterpret_cast<const std::uint16_t*>(packet.payload)[first + i]);
    }
  });
}

/// The gradient that the ranks' packets of a tensor make: their sum over `over`, which is the
/// number of ranks where it is their average.
struct PacketSource {
  const DevicePacket* packets;
  std::uint32_t ranks;
  std::uint32_t over;

  template <class Warp>
  STERNA_DEVICE void average(const Warp& warp, std::uint64_t block, std::uint32_t four,
                             std::uint32_t count,
                             typename Warp::template Each<FourValues>& out) const {
    warp.each([&](std::uint32_t lane) { out[lane] = FourValues{}; });
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      add_packet(warp, packets[rank], block, four, count, out);
    }
    const auto divisor = static_cast<float>(over);
    const bool exact = (over & (over - 1)) == 0;  // then the product is the quotient
    const float factor = 1.0F / divisor;
    warp.each([&](std::uint32_t lane) {
      STERNA_UNROLL
      for (float& value : out[lane].at) value = exact ? value * factor : value / divisor;
    });
  }
};

/// The gradient that exact sums make: sum * (scaler / ranks).
struct SumSource {
  const std::byte* sums;  ///< of the tensor
  const float* scaler;
  std::uint32_t ranks;

  template <class Warp>
  STERNA_DEVICE void average(const Warp& warp, std::uint64_t block, std::uint32_t four,
                             std::uint32_t, typename Warp::template Each<FourValues>& out) const {
    const auto planes = static_cast<std::uint32_t>(sum_planes(ranks));
    const float factor = *scaler / static_cast<float>(ranks);
    struct FourSums {
      std::int32_t at[4];
    };
    typename Warp::template Each<FourSums> found;
    warp.each([&](std::uint32_t lane) { found[lane] = FourSums{}; });
    const std::byte* from = sums + block * planes * kPlanePart + four * sizeof(FourWords);
    for (std::uint32_t plane = 0; plane < planes; ++plane, from += kPlanePart) {
      const FourWords words = load_words(from);
      const std::int32_t weight =
          plane + 1 == planes ? -(std::int32_t{1} << plane) : std::int32_t{1} << plane;
      warp.each([&](std::uint32_t lane) {
        STERNA_UNROLL
        for (std::uint32_t r = 0; r < 4; ++r) {
          found[lane].at[r] += (words.at[r] >> lane & 1U) != 0 ? weight : 0;
        }
      });
    }
    warp.each([&](std::uint32_t lane) {
      STERNA_UNROLL
      for (std::uint32_t r = 0; r < 4; ++r) {
        out[lane].at[r] = static_cast<float>(found[lane].at[r]) * factor;
      }
    });
  }
};

}  // namespace sterna::kernels
