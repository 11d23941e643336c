// What the module that draws has for who loads it.
#pragma once

#include <cstddef>

#include "launcher/plots/plot.h"

namespace sterna::launcher {

/// The function's name in the module; it is called as DrawPlot says. Writes `plot` to `path`, as
/// SVG or PNG by its ending. Returns whether that worked, and else writes why into `error`, which
/// holds `size` bytes.
inline constexpr const char* kDrawPlot = "sterna_draw_plot";
using DrawPlot = bool (*)(const Plot& plot, const char* path, char* error, std::size_t size);

/// The module's file, in the folder of the program.
inline constexpr const char* kDrawingModule = "sterna-drawing.so";

}  // namespace sterna::launcher
