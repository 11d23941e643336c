// `sterna bench input`: how fast pictures are prepared, beside libjpeg-turbo's own full decode.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>

#include "launcher/bench/figures.h"

namespace sterna::launcher {

struct InputBenchSetup {
  std::optional<std::filesystem::path> pictures;  ///< a folder tree of JPEGs; none: as found
  std::size_t most_pictures = 96;                 ///< of those
  std::size_t stored = 4096;                      ///< examples of the sets in memory
  int rounds = 11;                                ///< of interleaved contenders, medians over them
};

/// Of JPEGs: `decode_pictures`, `decode_mpixels` per second; `X_over_decode`, how many times as
/// fast as that decode a family prepares them for training on the same thread, and what a second
/// thread gains. Of pictures in memory: `X_pictures` per second. And `to_values_gbps`, of the
/// floats that a worker makes of prepared pictures. Errors: those of finding pictures.
Result<Figures> bench_input(const InputBenchSetup& setup, const BenchProgress& progress);

}  // namespace sterna::launcher
