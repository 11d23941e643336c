// Decode, average and step as a device's warps do it, in one pass over memory; the bits of
// kernels/optimizer/optimizer.h. Each operation has a rounding of its own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/isa/warp.h"
#include "kernels/optimizer/update_launch.h"
#include "kernels/sums/sums_device.h"

namespace sterna::kernels {

/// The formulas of gd.cc and momentum.cc.
struct AverageRule {
  static constexpr bool kReads = false;
  static constexpr bool kSlot = false;
  STERNA_DEVICE static float next(const DeviceStep&, float, float g, float&) { return g; }
};
struct GdRule {
  static constexpr bool kReads = true;
  static constexpr bool kSlot = false;
  STERNA_DEVICE static float next(const DeviceStep& c, float w, float g, float&) {
    return w - c.value[0] * g;
  }
};
struct MomentumRule {
  static constexpr bool kReads = true;
  static constexpr bool kSlot = true;
  STERNA_DEVICE static float next(const DeviceStep& c, float w, float g, float& a) {
    a = c.value[1] * a + g;
    return w - c.value[0] * a;
  }
};

/// Steps the elements of block `block` of the work, its own counted from 0; one warp does.
template <class Rule, class Warp, class Source>
STERNA_DEVICE void update_block(const Warp& warp, const Source& source, const UpdateWork& work,
                                std::uint32_t block, const DeviceStep& step) {
  struct Operands {
    float w[4];
    float a[4];
  };
  const std::uint32_t begin = block * static_cast<std::uint32_t>(kPlaneBlock);
  const std::uint32_t left = work.count - begin;
  const std::uint32_t count = left < kPlaneBlock ? left : static_cast<std::uint32_t>(kPlaneBlock);
  const std::uint64_t of_tensor = work.first / kPlaneBlock + block;
  for (std::uint32_t four = 0; four < kRows / 4; ++four) {
    typename Warp::template Each<Operands> operands;
    typename Warp::template Each<FourValues> gradient;
    warp.each([&](std::uint32_t lane) {
      STERNA_UNROLL
      for (std::uint32_t r = 0; r < 4; ++r) {
        const std::uint32_t i = (4 * four + r) * kWarpLanes + lane;
        operands[lane].w[r] = Rule::kReads && i < count ? work.current[begin + i] : 0.0F;
        operands[lane].a[r] = Rule::kSlot && i < count ? work.slot[begin + i] : 0.0F;
      }
    });
    source.average(warp, of_tensor, four, count, gradient);
    warp.each([&](std::uint32_t lane) {
      STERNA_UNROLL
      for (std::uint32_t r = 0; r < 4; ++r) {
        const std::uint32_t i = (4 * four + r) * kWarpLanes + lane;
        if (i >= count) continue;
        float g = gradient[lane].at[r];
        const float w = operands[lane].w[r];
        float a = operands[lane].a[r];
        if (Rule::kReads && step.weight_decay > 0) g += step.weight_decay * w;
        work.next[begin + i] = Rule::next(step, w, g, a);
        if (Rule::kSlot) work.slot[begin + i] = a;
      }
    });
  }
}

}  // namespace sterna::kernels
