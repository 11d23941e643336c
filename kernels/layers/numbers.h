// Numbers in memory as launches of layers give them: fp32s, or bf16s that stand for them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sterna::kernels {

/// Where they begin; whether they are written is what the launch says. What is computed of them is
/// fp32. A launch takes numbers of an element as pointers to that.
struct Numbers {
  constexpr Numbers() = default;
  // NOLINTBEGIN(google-explicit-constructor): implicit conversions by design
  constexpr Numbers(std::nullptr_t) {}
  constexpr Numbers(const float* fp32s) : at(const_cast<float*>(fp32s)) {}
  constexpr Numbers(const std::uint16_t* bits)
      : at(const_cast<std::uint16_t*>(bits)), bf16s(true) {}
  // NOLINTEND(google-explicit-constructor)
  constexpr Numbers(void* place, bool of_bf16s) : at(place), bf16s(of_bf16s) {}

  /// Those from element `first` on.
  Numbers from(std::size_t first) const {
    if (bf16s) return static_cast<const std::uint16_t*>(at) + first;
    return static_cast<const float*>(at) + first;
  }
  std::size_t bytes(std::size_t count) const {
    return count * (bf16s ? sizeof(std::uint16_t) : sizeof(float));
  }
  /// Whether a device may read them kQuad at once; also where there are none.
  bool lie_in_quads() const;

  void* at = nullptr;
  bool bf16s = false;
};

/// Neighbours that a thread of a device reads or writes by one instruction: more is under way at
/// once, above all of bf16s. They begin at multiples of their size in memory.
inline constexpr std::uint32_t kQuad = 4;

inline bool Numbers::lie_in_quads() const {
  return reinterpret_cast<std::uintptr_t>(at) % bytes(kQuad) == 0;
}

}  // namespace sterna::kernels
