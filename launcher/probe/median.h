// The median of a few measurements: what one busy moment cannot move.
#pragma once

#include <algorithm>
#include <vector>

namespace sterna::launcher {

/// The middle value (the upper one of an even count); 0 of nothing.
inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace sterna::launcher
