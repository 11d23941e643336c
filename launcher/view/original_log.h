// The log of a run as the originals print theirs, for scripts that read those: log.style.
//
// A run reports its state at most ten times a second: of steps faster than that a line comes at the
// first report behind the step at which the original has one, and says that report's step.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "launcher/view/live_view.h"

namespace sterna::launcher {

/// A view in one of the styles of [log] that are not Sterna's own. `date` gives the time of day as
/// a line begins with it; `out` must outlive this.
///
/// "schlag" (his example.py), each 100 steps and at the end of each epoch, with the mean time of
/// the steps since the line before; and at the end the last four lines:
///
///     Step: 1100,  Epoch:  2,  Batch: 500 of 600,  Cost: 0.5170,  AvgTime: 3.21ms
///     Test-Accuracy: 0.91
///     Total Time: 4.02s
///     Final Cost: 0.4410
///     done
///
/// "terngrad" (the README of its inception trainer), each 10 steps, and after each evaluation,
/// whose number of examples Sterna says at the run's end:
///
///     2026-01-02 03:04:05: step 10, loss = 2.11 (512.3 examples/sec; 0.125 sec/batch)
///     2026-01-02 03:04:09: precision @ 1 = 0.9812 recall @ 5 = 0.9991
std::unique_ptr<RunView> make_original_log(std::string_view style, TextSink& out,
                                           std::function<std::string()> date);

/// The time of day here, as in "2026-01-02 03:04:05".
std::string date_here();

}  // namespace sterna::launcher
