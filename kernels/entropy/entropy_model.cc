#include "kernels/entropy/entropy_model.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <span>

namespace sterna::kernels {
namespace {

constexpr std::uint64_t kOne = 1U << 16;  // probabilities are in 2^-16ths
constexpr std::uint64_t kUnitWeight = std::uint64_t{1} << 40;
constexpr unsigned kMostExponent = kMostTritModel >> 4;

std::uint64_t probability(TritModel model) {
  return (std::uint64_t{16} + (model & 15U)) << (kMostExponent - (model >> 4));
}

}  // namespace

TritModel trit_model(std::size_t set, std::size_t count) {
  assert(count > 0 && 2 * set <= count);
  const std::uint64_t p = (set * kOne + count / 2) / count;
  if (p < 16) return kMostExponent << 4;
  auto shift = static_cast<unsigned>(std::bit_width(p)) - 5;
  std::uint64_t mantissa = (p + (std::uint64_t{1} << shift >> 1)) >> shift;
  if (mantissa == 32) {
    mantissa = 16;
    ++shift;
  }
  if (shift > kMostExponent) return 15;
  return static_cast<TritModel>((kMostExponent - shift) << 4 | (mantissa - 16));
}

Symbols symbols_of(TritModel model) {
  return probability(model) >= kOne / 8 ? Symbols::bytes : Symbols::nibbles;
}

RansFrequencies frequencies_of(TritModel model) {
  const unsigned width = symbols_of(model) == Symbols::bytes ? 8 : 4;
  const std::uint64_t p = probability(model);
  std::array<std::uint64_t, 256> weights{};
  for (unsigned s = 0; s < 1U << width; ++s) {
    const auto set = static_cast<unsigned>(std::popcount(s));
    std::uint64_t weight = kUnitWeight;
    for (unsigned i = 0; i < width; ++i) weight = weight * (i < set ? p : kOne - p) >> 16;
    weights[s] = std::max<std::uint64_t>(1, weight);
  }
  return rans_frequencies(std::span(weights).first(std::size_t{1} << width));
}

}  // namespace sterna::kernels
