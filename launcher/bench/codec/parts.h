// The parts of a benchmark that is measured in several, all or some of them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/bench/figures.h"

namespace sterna::launcher {

struct BenchPart {
  std::string_view name;
  std::function<Result<Figures>()> measure;
};

/// The figures of all parts whose name begins with `only`. Errors: invalid_argument, with their
/// names, where none does; a part's.
Result<Figures> measure_parts(const std::vector<BenchPart>& parts, std::string_view only,
                              const BenchProgress& progress);

}  // namespace sterna::launcher
