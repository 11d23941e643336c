#include "launcher/bench/codec/parts.h"

#include <fmt/format.h>

namespace sterna::launcher {

Result<Figures> measure_parts(const std::vector<BenchPart>& parts, std::string_view only,
                              const BenchProgress& progress) {
  Figures figures;
  std::string names;
  bool found = false;
  for (const BenchPart& part : parts) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", part.name);
    if (!part.name.starts_with(only)) continue;
    found = true;
    progress(part.name);
    STERNA_ASSIGN(const Figures measured, part.measure());
    figures.insert(measured.begin(), measured.end());
  }
  if (found) return figures;
  return Error{Errc::invalid_argument,
               fmt::format("no part of this benchmark begins with '{}': {}", only, names)};
}

}  // namespace sterna::launcher
