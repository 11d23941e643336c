// `sterna bench train`: a training step through actors, over the same step in one process.
#pragma once

#include <memory>

#include "kernels/device/device.h"
#include "launcher/bench/figures.h"
#include "runtime/actor/registry.h"

namespace sterna::launcher {

/// One server and one rank, LeNet at batch 64, one compute thread; on a device both steps compute
/// there (null: on the CPU). The local step and the step through actors are measured in turn, so
/// that a busy moment meets both; medians of ratios. Errors: those of the data, the trainer and the
/// run.
Result<Figures> bench_train(const Registry& registry,
                            const std::shared_ptr<kernels::Device>& device,
                            const BenchProgress& progress);

}  // namespace sterna::launcher
