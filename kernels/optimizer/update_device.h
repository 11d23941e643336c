// Decode, average and step as a device's warps do it, in one pass over memory; the bits of
// kernels/optimizer/optimizer.h. Each operation has a rounding of its own.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/isa/warp.h"
#include "kernels/optimizer/update_launch.h"
#include "kernels/sums/sums_device.h"

namespace sterna::kernels {

/// The formulas of gd.cc, momentum.cc, ...: the next w from w, g and the slots a and b, which are
/// changed. `c` has the constants in the order that the file says.
struct AverageRule {
  static constexpr bool kReads = false;   ///< w and the constants
  static constexpr bool kDecays = false;  ///< by itself: its gradient has no decay
  static constexpr int kSlots = 0;
  STERNA_DEVICE static float next(const DeviceStep&, float, float g, float&, float&) { return g; }
};
struct GdRule {
  static constexpr bool kReads = true;
  static constexpr bool kDecays = false;
  static constexpr int kSlots = 0;
  STERNA_DEVICE static float next(const DeviceStep& c, float w, float g, float&, float&) {
    return w - c.value[0] * g;
  }
};
struct MomentumRule {
  static constexpr bool kReads = true;
  static constexpr bool kDecays = false;
  static constexpr int kSlots = 1;
  STERNA_DEVICE static float next(const DeviceStep& c, float w, float g, float& a, float&) {
    a = c.value[1] * a + g;
    return w - c.value[0] * a;
  }
};
struct NesterovRule {
  static constexpr bool kReads = true;
  static constexpr bool kDecays = false;
  static constexpr int kSlots = 1;
  STERNA_DEVICE static float next(const DeviceStep& c, float w, float g, float& a, float&) {
    a = c.value[1] * a + g;
    return w - c.value[0] * (g + c.value[1] * a);
  }
};
struct AdamRule {
  static constexpr bool kReads = true;
  static constexpr bool kDecays = false;
  static constexpr int kSlots = 2;
  STERNA_DEVICE static float next(const DeviceStep& c, float w, float g, float& m, float& v) {
    m += c.value[1] * (g - m);
    v += c.value[2] * (g * g - v);
    return w - c.value[0] * m / (std::sqrt(v) + c.value[3]);
  }
};
struct AdamWRule {
  static constexpr bool kReads = true;
  static constexpr bool kDecays = true;
  static constexpr int kSlots = 2;
  STERNA_DEVICE static float next(const DeviceStep& c, float w, float g, float& m, float& v) {
    const float shrink = c.value[4] * c.weight_decay;
    return AdamRule::next(c, w - shrink * w, g, m, v);
  }
};
struct RmspropRule {
  static constexpr bool kReads = true;
  static constexpr bool kDecays = false;
  static constexpr int kSlots = 2;
  STERNA_DEVICE static float next(const DeviceStep& c, float w, float g, float& s, float& a) {
    s += c.value[2] * (g * g - s);
    a = c.value[1] * a + c.value[0] * g / std::sqrt(s + c.value[3]);
    return w - a;
  }
};
struct AdagradRule {
  static constexpr bool kReads = true;
  static constexpr bool kDecays = false;
  static constexpr int kSlots = 1;
  STERNA_DEVICE static float next(const DeviceStep& c, float w, float g, float& s, float&) {
    s += g * g;
    return w - c.value[0] * g / std::sqrt(s);
  }
};

/// Steps the elements of block `block` of the work, its own counted from 0; one warp does.
template <class Rule, class Warp, class Source>
STERNA_DEVICE void update_block(const Warp& warp, const Source& source, const UpdateWork& work,
                                std::uint32_t block, const DeviceStep& step) {
  struct Operands {
    float w[4];
    float slots[kMostDeviceSlots][4];
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
        STERNA_UNROLL
        for (int s = 0; s < static_cast<int>(kMostDeviceSlots); ++s) {
          operands[lane].slots[s][r] =
              s < Rule::kSlots && i < count ? work.slots[s][begin + i] : 0.0F;
        }
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
        float a = operands[lane].slots[0][r];
        float b = operands[lane].slots[1][r];
        if (Rule::kReads && !Rule::kDecays && step.weight_decay > 0) g += step.weight_decay * w;
        work.next[begin + i] = Rule::next(step, w, g, a, b);
        if (Rule::kSlots > 0) work.slots[0][begin + i] = a;
        if (Rule::kSlots > 1) work.slots[1][begin + i] = b;
      }
    });
  }
}

}  // namespace sterna::kernels
