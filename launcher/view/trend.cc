#include "launcher/view/trend.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string_view>

namespace sterna::launcher {

void Trend::add(double value) {
  if (!std::isfinite(value)) return;
  sum_ += value;
  if (++count_ < each_) return;
  const double mean = sum_ / static_cast<double>(count_);
  if (std::isfinite(mean)) means_.push_back(mean);
  sum_ = 0;
  count_ = 0;
  if (means_.size() < kMost) return;
  for (std::size_t i = 0; i < kMost / 2; ++i) means_[i] = means_[2 * i] / 2 + means_[2 * i + 1] / 2;
  means_.resize(kMost / 2);
  each_ *= 2;
}

std::string sparkline(std::span<const double> values, std::size_t columns) {
  constexpr std::array<std::string_view, 8> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::size_t bars = std::min(columns, values.size());
  if (values.size() < 2 || bars == 0) return "";
  std::vector<double> means;
  for (std::size_t bar = 0; bar < bars; ++bar) {
    const auto part = values.subspan(bar * values.size() / bars);
    const std::size_t count = (bar + 1) * values.size() / bars - bar * values.size() / bars;
    const double mean =
        std::accumulate(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(count), 0.0) /
        static_cast<double>(count);
    if (std::isfinite(mean)) means.push_back(mean);
  }
  if (means.empty()) return "";
  const auto [least, most] = std::ranges::minmax(means);
  std::string line;
  for (const double mean : means) {
    // Of halves: a difference may be larger than any number.
    const double height = most > least ? (mean / 2 - least / 2) / (most / 2 - least / 2) : 0;
    line += kBlocks[static_cast<std::size_t>(std::lround(height * (kBlocks.size() - 1)))];
  }
  return line;
}

}  // namespace sterna::launcher
