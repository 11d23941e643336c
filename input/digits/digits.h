// Handwritten-looking digits, drawn: a data set in MNIST's form that needs no network.
//
// Image i of a split is a function of (seed, split, i) alone: a way to write its digit, a mixture
// of that way's skeletons, shaken points, a smooth warp, an affine map, a pen. Nobody's data is in
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>

#include "input/formats/dataset.h"
#include "runtime/base/result.h"

namespace sterna::input {

struct DigitsOptions {
  std::uint64_t seed = 1;
  std::size_t train = 60000;
  std::size_t test = 10000;
};

/// The name of the file that tells drawn digits from other data sets of MNIST's form.
inline constexpr const char* kDrawnMarker = "DRAWN.txt";

/// Called now and then with the number of images done, of all.
using DigitsProgress = std::function<void(std::size_t done, std::size_t total)>;

/// The first `count` images of a split, and their labels.
Dataset draw_digits(std::uint64_t seed, Split split, std::size_t count,
                    const DigitsProgress& progress = {});

/// Draws both splits and writes them to `dir` (made if missing) as plain IDX files of MNIST's
/// names. Each appears whole or not at all; earlier drawn digits are replaced, other files of these
/// names are not (`already_exists`).
Result<void> make_digits(const std::filesystem::path& dir, const DigitsOptions& options,
                         const DigitsProgress& progress = {});

}  // namespace sterna::input
