// A run's trace as a file of the Trace Event format ("JSON Object Format"), which chrome://tracing,
// ui.perfetto.dev and others show: spans are complete events ("X"), what overlaps are asynchronous
// ones ("b", "e"), messages are flows ("s", "f"), bytes in flight counters ("C").
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "launcher/traces/run_trace.h"

namespace sterna::launcher {

/// Gives the file piece by piece.
void write_chrome_trace(const RunTrace& trace, const std::function<void(std::string_view)>& write);

}  // namespace sterna::launcher
