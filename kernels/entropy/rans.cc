#include "kernels/entropy/rans.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <numeric>

namespace sterna::kernels {
namespace {

// round-down or round-up of 2^(32 + shift) / f, whichever is nearer, so that the product's error
// stays below 1 / f for f < 4096 and x < f * 2^20.
struct Reciprocal {
  std::uint32_t factor;
  std::uint32_t shift;
  std::uint32_t carry;  // 1 where rounded down
};

Reciprocal reciprocal_of(std::uint32_t f) {
  if (f == 1) return {0xFFFFFFFFU, 0, 1};
  const auto shift = static_cast<std::uint32_t>(std::bit_width(f - 1)) - 1;
  const std::uint64_t power = std::uint64_t{1} << (32 + shift);
  const std::uint64_t down = power / f;
  const std::uint64_t rest = power % f;
  const bool up = rest != 0 && 2 * rest >= f;
  const bool carry = rest != 0 && !up;
  return {static_cast<std::uint32_t>(up ? down + 1 : down), shift, carry ? 1U : 0U};
}

}  // namespace

RansFrequencies rans_frequencies(std::span<const std::uint64_t> weights) {
  assert(weights.size() <= 256);
  const std::uint64_t sum = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
  const auto light = [&](std::uint64_t weight) { return weight * kRansSlots < sum; };
  RansFrequencies frequencies{};
  std::uint64_t heavy_sum = 0;
  std::uint32_t taken = 0;
  for (std::size_t s = 0; s < weights.size(); ++s) {
    if (weights[s] == 0) continue;
    if (light(weights[s])) {
      frequencies[s] = 1;
      ++taken;
    } else {
      heavy_sum += weights[s];
    }
  }
  const std::uint64_t left = kRansSlots - taken;
  std::uint64_t weight_so_far = 0;
  std::uint64_t slots_so_far = 0;
  for (std::size_t s = 0; s < weights.size(); ++s) {
    if (weights[s] == 0 || light(weights[s])) continue;
    weight_so_far += weights[s];
    const std::uint64_t until = weight_so_far * left / heavy_sum;
    frequencies[s] = static_cast<std::uint16_t>(std::max<std::uint64_t>(1, until - slots_so_far));
    slots_so_far = until;
    taken += frequencies[s];
  }
  for (; taken > kRansSlots; --taken) --*std::max_element(frequencies.begin(), frequencies.end());
  return frequencies;
}

RansEncodeTable::RansEncodeTable(const RansFrequencies& frequencies) : entry{}, reciprocal{} {
  std::uint32_t begin = 0;
  for (std::size_t s = 0; s < frequencies.size(); ++s) {
    const std::uint32_t f = frequencies[s];
    if (f == 0) continue;
    const Reciprocal r = reciprocal_of(f);
    entry[s] = begin | f << kFrequencyAt | r.shift << kShiftAt | r.carry << kCarryAt;
    reciprocal[s] = r.factor;
    begin += f;
  }
}

RansDecodeTable::RansDecodeTable(const RansFrequencies& frequencies) {
  std::uint32_t* out = entry;
  for (std::uint32_t s = 0; s < frequencies.size(); ++s) {
    const std::uint32_t f = frequencies[s];
    const std::uint32_t first = f << kFrequencyAt | s << kSymbolAt;
    for (std::uint32_t i = 0; i < f; ++i) *out++ = first | i;
  }
  assert(out == entry + kRansSlots);
}

void RansWords::move_to_tail() {
  if (in_tail_) return;
  const auto left = static_cast<std::size_t>(end - next);
  if (left != 0) std::memcpy(tail_.data(), next, left);
  next = tail_.data();
  end = next + left;
  in_tail_ = true;
}

std::byte* rans_encode(const RansEncodeTable& table, const std::byte* symbols, std::size_t count,
                       RansStates& states, std::byte* words) {
  for (std::size_t i = count; i-- > 0;) {
    std::uint32_t& x = states.lane[i % kRansLanes];
    const std::uint32_t entry = table.entry[std::to_integer<std::size_t>(symbols[i])];
    const std::uint32_t f = entry >> RansEncodeTable::kFrequencyAt & (kRansSlots - 1);
    const std::uint32_t begin = entry & (kRansSlots - 1);
    if (x >> (32 - kRansSlotBits) >= f) {
      *--words = static_cast<std::byte>(x >> 8);
      *--words = static_cast<std::byte>(x);
      x >>= 16;
    }
    x = (x / f << kRansSlotBits) + x % f + begin;
  }
  return words;
}

bool rans_decode(const RansDecodeTable& table, RansWords& words, RansStates& states,
                 std::byte* symbols, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t& x = states.lane[i % kRansLanes];
    const std::uint32_t entry = table.entry[x & (kRansSlots - 1)];
    symbols[i] = static_cast<std::byte>(entry >> RansDecodeTable::kSymbolAt);
    x = (entry >> RansDecodeTable::kFrequencyAt & (kRansSlots - 1)) * (x >> kRansSlotBits) +
        (entry & (kRansSlots - 1));
    if (x >= kRansLowestState) continue;
    if (words.end - words.next < 2) return false;
    x = x << 16 | std::to_integer<std::uint32_t>(words.next[1]) << 8 |
        std::to_integer<std::uint32_t>(words.next[0]);
    words.next += 2;
  }
  return true;
}

}  // namespace sterna::kernels
