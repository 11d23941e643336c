#include "runtime/base/byte_size.h"

#include <array>
#include <charconv>
#include <cmath>

namespace sterna {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t bytes;
};

constexpr std::array<Unit, 10> kUnits = {{{"TiB", 1ULL << 40},
                                          {"TB", 1'000'000'000'000},
                                          {"GiB", 1ULL << 30},
                                          {"GB", 1'000'000'000},
                                          {"MiB", 1ULL << 20},
                                          {"MB", 1'000'000},
                                          {"KiB", 1ULL << 10},
                                          {"kB", 1'000},
                                          {"KB", 1'000},
                                          {"B", 1}}};
constexpr double kMost = 4611686018427387904.0;  // 2⁶²

}  // namespace

std::optional<std::uint64_t> parse_byte_size(std::string_view text) {
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  double number = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (parsed.ec != std::errc()) return std::nullopt;
  std::string_view unit(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr));
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  for (const Unit& known : kUnits) {
    if (unit != known.name) continue;
    const double bytes = std::round(number * static_cast<double>(known.bytes));
    if (bytes < 1 || bytes > kMost) return std::nullopt;
    return static_cast<std::uint64_t>(bytes);
  }
  return std::nullopt;
}

std::string byte_size_text(std::uint64_t bytes) {
  std::string shortest;
  for (const Unit& unit : kUnits) {
    if (bytes % unit.bytes != 0) continue;
    std::string text = std::to_string(bytes / unit.bytes).append(unit.name);
    if (shortest.empty() || text.size() < shortest.size()) shortest = std::move(text);
  }
  return shortest;
}

}  // namespace sterna
