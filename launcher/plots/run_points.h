// What one run's metrics have come to, over steps, seconds, bytes or examples.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/plots/mean_curve.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

/// An evaluation is of moving averages where a run has any such, and else of parameters.
inline constexpr const char* kOfEither = "run";

/// What an axis shows, as the command line calls it.
struct PlotQuantities {
  std::string x = "steps";
  std::string y = "precision_at_1";
  std::string subset = "test";  ///< of evaluations
  std::string of = kOfEither;   ///< likewise: or "parameters" or "averages"
};

/// The names that PlotQuantities may have.
std::vector<std::string> plot_xs();
std::vector<std::string> plot_ys();
/// What stands at an axis.
std::string x_label(const PlotQuantities& what);
/// A value of it as people read it: "1,200", "3:05", "1.07 GB".
std::string x_text(const PlotQuantities& what, double x);
std::string y_label(const PlotQuantities& what);

struct MeasuredRun {
  RunPoints points;
  /// Its metrics begin there, as it goes on from another run's checkpoint: seconds, bytes and
  /// examples are counted from there. 0: from the start.
  std::int64_t first_step = 0;
  std::string of = {};  ///< of evaluations: what PlotQuantities::of came to; else empty
};

/// Seconds, bytes and examples at a step between two that the metrics tell of lie between theirs,
/// in proportion: of an evaluation those are of the step whose parameters it is of. Errors:
/// not_found (no metrics, or nothing of what is asked), malformed (another format), io.
Result<MeasuredRun> run_points(const std::string& run, const PlotQuantities& what);

}  // namespace sterna::launcher
