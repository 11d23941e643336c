// What the module that draws has for who loads it.
#pragma once

#include <cstddef>

#include "launcher/plots/plot.h"

namespace sterna::launcher {

/// Gets the pieces of a picture's file, in their order.
using TakePiece = void (*)(void* taker, const unsigned char* bytes, std::size_t size);

/// The function's name in the module; it is called as DrawPlot says. Gives `plot` as a picture to
/// `take`, with `taker`. Returns whether that worked, and else writes why into `error`, which holds
/// `size` bytes.
inline constexpr const char* kDrawPlot = "sterna_draw_plot";
using DrawPlot = bool (*)(const Plot& plot, PictureForm form, TakePiece take, void* taker,
                          char* error, std::size_t size);

/// The module's file, in the folder of the program.
inline constexpr const char* kDrawingModule = "sterna-drawing.so";

}  // namespace sterna::launcher
