// Durations as people write them in the cluster file: "500ms", "5s", "1.5m".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/clock.h"

namespace sterna {

/// A non-negative decimal number and a unit (ns, us, ms, s, m, h); nothing for anything else or
/// for more than a year.
std::optional<Duration> parse_duration(std::string_view text);
/// Whether parse_duration() refuses `text` only because it is more than a year.
bool is_too_long(std::string_view text);

/// The shortest exact text: "500ms", "5s", "2m". parse_duration() gives the same duration again.
std::string duration_text(Duration duration);

}  // namespace sterna
