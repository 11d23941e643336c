// Curves of runs: what their metrics have come to, over steps, seconds or bytes; runs of one file
// that differ by their seed alone make one curve, with a band.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "launcher/plots/mean_curve.h"
#include "launcher/plots/plot.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

/// What an axis shows, as the command line calls it.
struct PlotQuantities {
  std::string x = "steps";
  std::string y = "precision_at_1";
  std::string subset = "test";    ///< of evaluations
  std::string of = "parameters";  ///< likewise, or "averages"
};

/// The names that PlotQuantities may have.
std::vector<std::string> plot_xs();
std::vector<std::string> plot_ys();

/// Without those that name a directory again, by another path too.
std::vector<std::string> each_once(const std::vector<std::string>& runs);

/// Seconds and bytes at a step between two that the metrics tell of
/// lie between theirs, in proportion. Errors: not_found (no metrics, or nothing of what is asked),
/// malformed (another format), io.
Result<RunPoints> run_points(const std::string& run, const PlotQuantities& what);

/// `runs` are run directories, of which each counts once. Those whose files say the same, but for
/// the seed, make one curve (mean_curve). Labels are what the files differ in, and how many runs a
/// curve is made of. Errors: run_points', but where `left_out` is given it is told of runs that
/// have nothing of what is asked, as one that was interrupted early, and only where all are such is
/// that an error.
Result<Plot> plot_of_runs(const std::vector<std::string>& runs, const PlotQuantities& what,
                          const std::function<void(const std::string&)>& left_out = {});

}  // namespace sterna::launcher
