// Noise instead of pictures, for benchmarks: no files, and nothing to decode.
#pragma once

#include "input/formats/format.h"

namespace sterna::input {

/// DataOptions::synthetic's pictures (their default, where it is not set). Each byte is uniform, a
/// function of the seed, the split and the example: 65,536 to train on, 1,024 to test with (as many
/// as there are classes, if those are more). Label i mod `classes`, of which there are 10 where
/// nobody says: every class has examples.
extern const Format kSynthetic;

}  // namespace sterna::input
