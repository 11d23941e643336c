#include "kernels/ternary.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <string>

#include "kernels/philox.h"
#include "kernels/stream.h"
#include "kernels/ternary_blocks.h"

namespace sterna::kernels {
namespace {

constexpr std::size_t plane_bytes = plane_block_bytes / 2;
constexpr float smallest_scaler = 0x1p-95F;  // 2^32 / s is infinite not far below it
constexpr float two_to_32 = 0x1p32F;

// |g| / s in 2^-32ths, saturated: the probability of a nonzero trit.
std::uint32_t threshold(float g, float k) {
  const float t = std::fabs(g) * k;
  return t >= two_to_32 ? 0xFFFFFFFFU : static_cast<std::uint32_t>(t);
}

void set_bit(std::byte* plane, std::size_t i) { plane[i / 8] |= std::byte{1} << (i % 8); }
bool bit(const std::byte* plane, std::size_t i) {
  return (plane[i / 8] >> (i % 8) & std::byte{1}) != std::byte{0};
}

std::uint64_t load64(const std::byte* p) {
  std::uint64_t v = 0;
  std::memcpy(&v, p, sizeof v);
  return v;
}

}  // namespace

void ternarize_blocks(const float* gradient, std::size_t blocks, float k, BlockDraw draw,
                      std::byte* planes) {
  std::fill_n(planes, blocks * plane_block_bytes, std::byte{0});
  for (std::size_t block = 0; block < blocks; ++block) {
    const float* g = gradient + block * plane_block;
    std::byte* nonzero = planes + block * plane_block_bytes;
    std::byte* negative = nonzero + plane_bytes;
    const auto base = draw.counter0 + static_cast<std::uint32_t>(block) * draws_per_block;
    for (std::uint32_t i = 0; i < draws_per_block; ++i) {
      const auto words = philox(
          {base + i, draw.step, draw.rank_tensor, static_cast<std::uint32_t>(Stream::ternary)},
          draw.key);
      for (std::size_t j = 0; j < 16; ++j) {
        const std::size_t element = j * draws_per_block + i;
        const std::uint32_t word = std::rotl(words[j / 4], static_cast<int>(8 * (j % 4)));
        if (word >= threshold(g[element], k)) continue;
        set_bit(nonzero, element);
        if (std::signbit(g[element])) set_bit(negative, element);
      }
    }
  }
}

void decode_blocks(const std::byte* planes, float scaler, float* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte* nonzero = planes + i / plane_block * plane_block_bytes;
    const std::byte* negative = nonzero + plane_bytes;
    const std::size_t element = i % plane_block;
    out[i] = !bit(nonzero, element) ? 0.0F : bit(negative, element) ? -scaler : scaler;
  }
}

void ternarize(std::span<const float> gradient, float scaler, const TernaryDraw& draw,
               std::uint64_t first_index, std::span<std::byte> planes, Isa isa) {
  assert(planes.size() == planes_bytes(gradient.size()));
  assert(first_index % plane_block == 0);
  assert(draw.rank < 0x10000U && draw.tensor < 0x10000U);
  if (!(scaler >= smallest_scaler)) {
    std::fill(planes.begin(), planes.end(), std::byte{0});
    return;
  }
  const float k = two_to_32 / scaler;
  BlockDraw block_draw{static_cast<std::uint32_t>(first_index / plane_block * draws_per_block),
                       draw.step, draw.rank << 16 | draw.tensor, draw.seed};
  const auto run = isa == Isa::avx512 ? ternarize_blocks_avx512 : ternarize_blocks;
  const std::size_t whole = gradient.size() / plane_block;
  run(gradient.data(), whole, k, block_draw, planes.data());
  const auto tail = gradient.subspan(whole * plane_block);
  if (tail.empty()) return;
  std::array<float, plane_block> padded{};  // a zero never becomes a nonzero trit
  std::copy(tail.begin(), tail.end(), padded.begin());
  block_draw.counter0 += static_cast<std::uint32_t>(whole) * draws_per_block;
  run(padded.data(), 1, k, block_draw, planes.data() + whole * plane_block_bytes);
}

void decode(std::span<const std::byte> planes, float scaler, std::span<float> out, Isa isa) {
  assert(planes.size() == planes_bytes(out.size()));
  const auto run = isa == Isa::avx512 ? decode_blocks_avx512 : decode_blocks;
  run(planes.data(), scaler, out.data(), out.size());
}

Result<void> check_planes(std::span<const std::byte> planes, std::size_t count) {
  if (planes.size() != planes_bytes(count)) {
    return Error{Errc::malformed, "planes of " + std::to_string(count) + " elements take " +
                                      std::to_string(planes_bytes(count)) + " bytes, not " +
                                      std::to_string(planes.size())};
  }
  std::uint64_t stray = 0;
  for (std::size_t begin = 0; begin < planes.size(); begin += plane_block_bytes) {
    const std::byte* nonzero = planes.data() + begin;
    for (std::size_t i = 0; i < plane_bytes; i += 8) {
      stray |= load64(nonzero + plane_bytes + i) & ~load64(nonzero + i);
    }
  }
  if (stray != 0) return Error{Errc::malformed, "a trit is negative but not nonzero"};
  if (count % plane_block != 0) {
    const std::byte* nonzero = planes.data() + planes.size() - plane_block_bytes;
    for (std::size_t i = count % plane_block; i < plane_block; ++i) {
      if (bit(nonzero, i)) return Error{Errc::malformed, "a trit is set behind the last element"};
    }
  }
  return {};
}

}  // namespace sterna::kernels
