// Curves of runs: runs of one file that differ by their seed alone make one, with a band.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "launcher/plots/plot.h"
#include "launcher/plots/run_points.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

/// Told what is left out, in words.
using LeftOut = std::function<void(const std::string&)>;

/// Without those that name a directory again, by another path too.
std::vector<std::string> each_once(const std::vector<std::string>& runs);

/// Each once, of several without what is there and is no run's directory, as files that lie beside
/// them ("runs/*"); all where none is one. `left_out` is told once of all of these.
std::vector<std::string> runs_among(const std::vector<std::string>& paths, const LeftOut& left_out);

/// `runs` are run directories, of which each counts once. Those whose files say the same, but for
/// the seed and what is only measured, make one curve (mean_curve); of one seed's runs that came to
/// the same numbers, as copies do, one counts. Labels are what the files differ in, and how many
/// runs a curve is made of. Errors: run_points', but where `left_out` is given it is told of runs
/// that have nothing of what is asked, as one that was interrupted early, and only where all are
/// such is that an error.
Result<Plot> plot_of_runs(const std::vector<std::string>& runs, const PlotQuantities& what,
                          const LeftOut& left_out = {});

}  // namespace sterna::launcher
