// "Did you mean …?": the nearest of some words by edit distance.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sterna::launcher {

/// Insertions, deletions, replacements and swaps of neighbours that turn a into b (optimal string
/// alignment distance).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Whether `word` could be a slip of the finger for `candidate`: their edit distance is at most a
/// third of the longer one's letters, or 1.
bool is_near(std::string_view word, std::string_view candidate);

/// The candidate nearest to `word`, the first of several; nothing when none is near.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

/// `; did you mean "x"?`, or "" when nothing is near. Candidates that are `word` with further words
/// ("resnet", "resnet_20") go before those that are near: all of them.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

/// The same of a few candidates: when nothing is near, `; there are x, y`, or `; there is only x`.
std::string did_you_mean_of(std::string_view word, std::span<const std::string> candidates);

}  // namespace sterna::launcher
