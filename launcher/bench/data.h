// The training images that benchmarks train on.
#pragma once

#include <memory>

#include "input/batches/prepare.h"
#include "input/formats/source.h"
#include "input/place/data_source.h"
#include "launcher/bench/figures.h"

namespace sterna::launcher {

struct BenchData {
  input::DataLocation location;
  std::unique_ptr<const input::MemorySource> train;
  input::Preparation how;  ///< for the seed of a job that says nothing
};

/// MNIST, or what stands for it, found as a run finds it. Errors: those of finding and reading it.
Result<BenchData> find_bench_data(const BenchProgress& progress);

}  // namespace sterna::launcher
