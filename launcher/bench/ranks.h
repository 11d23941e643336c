// `sterna bench train --net NAME`: a job of two ranks beside two trainers that train alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "kernels/device/device.h"
#include "launcher/bench/figures.h"
#include "runtime/actor/registry.h"

namespace sterna::launcher {

struct RanksBenchSetup {
  std::string net = "cifarnet";
  std::uint32_t batch = 64;  ///< of each rank
  int rounds = 5;
  std::shared_ptr<kernels::Device> device = nullptr;  ///< of both ranks; null: the CPU
};

/// One server and two workers of a rank each, ternary gradients up, over ipc, no evaluator; beside
/// two trainers without actors, each in a thread of its own, at the same time. On 32 x 32 noise,
/// cropped as CIFAR-10 is, with a compute thread for each rank, or all on one device, on which the
/// workers' processes take turns and the trainers' streams do not. Both in turn,
/// so that a busy moment meets both; medians of the rounds' medians. Errors: not_found for a net
/// that does not exist.
Result<Figures> bench_ranks(const Registry& registry, const RanksBenchSetup& setup,
                            const BenchProgress& progress);

}  // namespace sterna::launcher
