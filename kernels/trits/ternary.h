// TernGrad's stochastic ternarization (Wen et al. 2017, eq. 1 to 3) into packed bit-planes.
//
// Element g of a tensor becomes the trit sign(g) * b with b = 1 with probability min(1, |g| / s),
// so that s * trit is on average g clipped to [-s, s]. Each 512 elements take 64 bytes of `nonzero`
// bits and 64 bytes of `negative` bits. Layout, random mapping and test vectors:
// kernels/trits/TRITS.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/isa/isa.h"
#include "runtime/base/result.h"

namespace sterna::kernels {

/// Elements of a block of planes, and its bytes: 64 `nonzero`, then 64 `negative`.
inline constexpr std::size_t kPlaneBlock = 512;
inline constexpr std::size_t kPlaneBlockBytes = 128;

/// The bytes that the planes of `count` elements take: whole blocks.
constexpr std::size_t planes_bytes(std::size_t count) {
  return (count / kPlaneBlock + (count % kPlaneBlock != 0)) * kPlaneBlockBytes;
}

/// What the draws of a tensor are a function of, besides the index of the element.
struct TernaryDraw {
  std::uint64_t seed = 0;    ///< of the run
  std::uint32_t step = 0;    ///< global step
  std::uint32_t rank = 0;    ///< < 65,536
  std::uint32_t tensor = 0;  ///< its place in the table of parameters, < 65,536
};

/// Fills `planes` (exactly planes_bytes(gradient.size()) bytes) with the trits of `gradient`.
///
/// `scaler` is finite; below 2^-95 all trits are 0. `first_index` is the index of gradient[0]
/// within its tensor, a multiple of 512, and the tensor has fewer than 2^36 elements; a tensor cut
/// into chunks at such indices gives the bytes that it gives whole. The gradient must be finite
/// (`scaler` has checked it).
void ternarize(std::span<const float> gradient, float scaler, const TernaryDraw& draw,
               std::uint64_t first_index, std::span<std::byte> planes, Isa isa);

/// Trits that are not 0, in whole blocks of planes.
std::size_t nonzero_trits(std::span<const std::byte> planes, Isa isa);

/// Overwrites `out` with scaler * trit; `planes` has exactly planes_bytes(out.size()) bytes, which
/// need no alignment.
void decode(std::span<const std::byte> planes, float scaler, std::span<float> out, Isa isa);

/// Whether a peer's bytes are planes of `count` elements: the exact size, `negative` a subset of
/// `nonzero`, and no bit set behind the last element. Errc::malformed otherwise.
Result<void> check_planes(std::span<const std::byte> planes, std::size_t count);

}  // namespace sterna::kernels
