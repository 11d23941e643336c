#include "runtime/base/duration_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

namespace sterna {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t nanoseconds;
};

constexpr std::array<Unit, 6> kUnits = {{{"h", 3'600'000'000'000},
                                         {"m", 60'000'000'000},
                                         {"s", 1'000'000'000},
                                         {"ms", 1'000'000},
                                         {"us", 1'000},
                                         {"ns", 1}}};
constexpr double kLongest = 366.0 * 24 * 3600 * 1e9;

/// As many as `text` says, however many.
std::optional<double> nanoseconds(std::string_view text) {
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  double number = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (parsed.ec == std::errc::result_out_of_range) number = std::numeric_limits<double>::infinity();
  const std::string_view unit(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr));
  for (const Unit& known : kUnits) {
    if (unit == known.name) return number * static_cast<double>(known.nanoseconds);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Duration> parse_duration(std::string_view text) {
  const std::optional<double> length = nanoseconds(text);
  if (!length || *length > kLongest) return std::nullopt;
  return Duration(std::llround(*length));
}

bool is_too_long(std::string_view text) { return nanoseconds(text).value_or(0) > kLongest; }

std::string duration_text(Duration duration) {
  const std::int64_t count = duration.count();
  if (count == 0) return "0s";
  for (const Unit& unit : kUnits) {
    if (count % unit.nanoseconds == 0) {
      return std::to_string(count / unit.nanoseconds).append(unit.name);
    }
  }
  return std::to_string(count) + "ns";
}

}  // namespace sterna
