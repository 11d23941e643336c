// The training images that benchmarks train on.
#pragma once

#include "input/formats/idx.h"
#include "input/place/data_source.h"
#include "launcher/bench/figures.h"

namespace sterna::launcher {

struct BenchData {
  input::DataLocation location;
  input::Dataset train;
};

/// MNIST, or what stands for it, found as a run finds it. Errors: those of finding and reading it.
Result<BenchData> find_bench_data(const BenchProgress& progress);

}  // namespace sterna::launcher
