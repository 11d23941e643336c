// The median of a few measurements: what one busy moment cannot move.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace sterna {

/// The middle value, of an even count the mean of the two; 0 of nothing.
inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace sterna
