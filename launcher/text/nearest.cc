#include "launcher/text/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace sterna::launcher {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Rows i-2, i-1 and i of the usual table; row i holds distances from a[0..i) to prefixes of b.
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

bool is_near(std::string_view word, std::string_view candidate) {
  const std::size_t allowed =
      std::max<std::size_t>(1, (std::max(word.size(), candidate.size())) / 3);
  return edit_distance(word, candidate) <= allowed;
}

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates) {
  std::optional<std::string> best;
  std::size_t best_distance = 0;
  for (const std::string& candidate : candidates) {
    if (!is_near(word, candidate)) continue;
    const std::size_t distance = edit_distance(word, candidate);
    if (!best || distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  std::vector<std::string> longer;
  for (const std::string& candidate : candidates) {
    if (candidate.starts_with(fmt::format("{}_", word))) longer.push_back(candidate);
  }
  if (!longer.empty()) return fmt::format("; did you mean \"{}\"?", fmt::join(longer, "\" or \""));
  const std::optional<std::string> found = nearest(word, candidates);
  return found ? "; did you mean \"" + *found + "\"?" : "";
}

std::string did_you_mean_of(std::string_view word, std::span<const std::string> candidates) {
  std::string advice = did_you_mean(word, candidates);
  if (!advice.empty() || candidates.empty()) return advice;
  return fmt::format("; there {} {}", candidates.size() == 1 ? "is only" : "are",
                     fmt::join(candidates, ", "));
}

}  // namespace sterna::launcher
