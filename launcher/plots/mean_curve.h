// Runs of one kind as one curve. Pure.
#pragma once

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
};
/// In the order of their steps, one a step.
using RunPoints = std::vector<RunPoint>;

/// As far as any of the runs goes, each of which has a point: at each step the mean of those that
/// have come so far, and where there are several runs the lowest and highest of these. Beyond its
/// first point and its last a run counts for nothing. Steps are those that all of these have; where
/// they have fewer than half of their steps in common, all that any has, and a run without a point
/// there lies between its two next to it, in proportion. x is the mean of those that go to the last
/// step, as others, faster or slower, would let it jump where they end; before these begin, that of
/// all.
PlotCurve mean_curve(const std::vector<RunPoints>& runs);

/// "2 runs", or "2 runs, 1 of them to the end" where others end before.
std::string runs_text(const std::vector<RunPoints>& runs);

}  // namespace sterna::launcher
