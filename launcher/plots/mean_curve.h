// Runs of one kind as one curve. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "launcher/plots/plot.h"

namespace sterna::launcher {

/// One point of one run.
struct RunPoint {
  std::int64_t step = 0;
  double x = 0;
  double y = 0;
  std::int64_t examples = 0;  ///< that it was measured on; 0: of no matter
};
/// In the order of their steps, one a step.
using RunPoints = std::vector<RunPoint>;

/// Points that were measured on another number of examples than most (of as many: than on the
/// fewest), as the last evaluation, which is of all, are marks; of the others the curve is made. It
/// goes as far as any of the runs, each of which has a point: at each step the mean of those that
/// have come so far, and where there are several runs the lowest and highest of these. Beyond its
/// first point and its last a run counts for nothing. Steps are those that all of these have; where
/// they have fewer than half of their steps in common, all that any has, and a run without a point
/// there lies between its two next to it, in proportion. x is the mean of those that go to the last
/// step, as others, faster or slower, would let it jump where they end; before these begin, that of
/// all.
PlotCurve mean_curve(const std::vector<RunPoints>& runs);

/// "2 runs", or "2 runs, 1 of them to the end" where others end before; "2 runs of 1 seed" where
/// they have fewer seeds.
std::string runs_text(const std::vector<RunPoints>& runs, std::size_t seeds);

}  // namespace sterna::launcher
