// The numbers behind a picture of curves, for other programs. Pure.
#pragma once

#include <string>

#include "launcher/plots/plot.h"

namespace sterna::launcher {

/// A line a point, marks after their curve's: label, x, mean, lowest, highest, runs, deviation
/// (standard, of these runs; empty where there is one), examples (that it was measured on, or
/// empty).
std::string curves_csv(const Plot& plot);

}  // namespace sterna::launcher
