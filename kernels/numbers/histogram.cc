#include "kernels/numbers/histogram.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace sterna::kernels {
namespace {

constexpr unsigned kShift = 20;  // what is left are sign, exponent and 3 bits
constexpr std::uint32_t kSign = 0x800;
/// Sums of their own, so that one addition need not wait for the one before.
constexpr std::size_t kLanes = 8;

struct Moments {
  std::array<double, kLanes> sum{};
  std::array<double, kLanes> squares{};
  std::array<float, kLanes> least;
  std::array<float, kLanes> most;

  Moments() {
    least.fill(std::numeric_limits<float>::infinity());
    most.fill(-std::numeric_limits<float>::infinity());
  }
  void add(std::size_t lane, float value) {
    sum[lane] += value;
    squares[lane] += double{value} * double{value};
    least[lane] = std::min(least[lane], value);
    most[lane] = std::max(most[lane], value);
  }
};

double total(const std::array<double, kLanes>& lanes) {
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

}  // namespace

void Histogram::add(std::span<const float> values) {
  constexpr std::size_t kBlock = 65536;  // stays in the second cache between the two loops
  for (std::size_t first = 0; first < values.size(); first += kBlock) {
    add_block(values.subspan(first, std::min(kBlock, values.size() - first)));
  }
}

void Histogram::add_block(std::span<const float> values) {
  // Two tables: neighbours are often alike, and one count would wait for the other.
  std::array<std::array<std::uint32_t, kPatterns>, 2> counts{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    ++counts[i % 2][std::bit_cast<std::uint32_t>(values[i]) >> kShift];
  }
  std::uint64_t non_finite = 0;
  for (std::size_t pattern = 0; pattern < kPatterns; ++pattern) {
    const std::uint64_t count = counts[0][pattern] + counts[1][pattern];
    counts_[pattern] += count;
    if ((pattern & ~kSign) >= kHistogramMagnitudes) non_finite += count;
  }
  count_ += values.size() - non_finite;
  non_finite_ += non_finite;

  Moments moments;
  const std::size_t whole = non_finite > 0 ? 0 : values.size() / kLanes * kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) moments.add(lane, values[i + lane]);
  }
  for (const float value : values.subspan(whole)) {
    if (std::isfinite(value)) moments.add(0, value);
  }
  sum_ += total(moments.sum);
  sum_of_squares_ += total(moments.squares);
  least_ = std::min(least_, double{*std::ranges::min_element(moments.least)});
  most_ = std::max(most_, double{*std::ranges::max_element(moments.most)});
}

std::vector<Histogram::Counted> Histogram::buckets() const {
  std::vector<Counted> counted;
  for (auto n = static_cast<std::int32_t>(kHistogramMagnitudes) - 1; n > 0; --n) {
    if (const std::uint64_t count = counts_[kSign + n]; count > 0) counted.push_back({-n, count});
  }
  if (const std::uint64_t zeros = counts_[0] + counts_[kSign]; zeros > 0) {
    counted.push_back({0, zeros});
  }
  for (std::int32_t n = 1; n < static_cast<std::int32_t>(kHistogramMagnitudes); ++n) {
    if (const std::uint64_t count = counts_[n]; count > 0) counted.push_back({n, count});
  }
  return counted;
}

Magnitudes magnitudes_of(std::int32_t bucket) {
  const auto at = [](std::uint32_t pattern) -> double {
    // The first that is none: where all finite numbers end.
    if (pattern >= kHistogramMagnitudes) return std::ldexp(1.0, 128);
    return std::bit_cast<float>(pattern << kShift);
  };
  const auto n = static_cast<std::uint32_t>(bucket < 0 ? -bucket : bucket);
  return {at(n), at(n + 1)};
}

}  // namespace sterna::kernels
