// `sterna bench train`: a training step through actors, over the same step in one process.
#pragma once

#include "launcher/bench/figures.h"
#include "runtime/actor/registry.h"

namespace sterna::launcher {

/// One server and one rank, LeNet at batch 64, one compute thread. The local step and the step
/// through actors are measured in turn, so that a busy moment meets both; medians of ratios.
Result<Figures> bench_train(const Registry& registry, const BenchProgress& progress);

}  // namespace sterna::launcher
