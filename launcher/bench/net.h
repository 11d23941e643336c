// `sterna bench net`: a training step on one thread, beside the fastest that oneDNN has for each of
// its operations; on several, beside one.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "launcher/bench/figures.h"

namespace sterna::kernels {
class Device;
}  // namespace sterna::kernels

namespace sterna::launcher {

struct NetBenchSetup {
  std::string net;        ///< empty: each of the usual ones, at its usual batch
  std::size_t batch = 0;  ///< 0: the usual one
  int rounds = 7;         ///< of each thing that is measured
  int threads = 1;        ///< of the CPU
  std::shared_ptr<kernels::Device> device = nullptr;  ///< null: the CPU
};

/// Of each net, in fp32 and, where the CPU has it, in bf16: `NET.fp32.step_ms`,
/// `images_per_second`, `gflops` per second, `operations_ms` (the sum over its operations of
/// oneDNN's fastest implementation, over formats), `step_over_operations`, and
/// `reference_implementations` that the step runs; `peak_mb`, the process's memory, and
/// `peak_over_bound`, that over the least that any plan of the net's memory would take; and
/// `NET.bf16_over_fp32`, of the steps. The least of all rounds, of the thread's own time.
/// On several threads `NET.fp32.step_ms`, `images_per_second` and `speedup`, over `one_thread_ms`,
/// and the same of `NET.bf16`: by the clock, in turns, the least of all rounds.
/// On a device `NET.fp32.step_ms` and `images_per_second`, by the clock, from images in the host's
/// memory to the loss there, the median of all rounds; how many `launches` of ours and `operations`
/// of its libraries a step is, `libraries_ms`, which these would take alone with the same copies,
/// and `step_over_libraries`; and the same of `NET.tf32` and `NET.bf16`.
/// Errors: invalid_argument, of several threads and a device; those of making the net.
Result<Figures> bench_net(const NetBenchSetup& setup, const BenchProgress& progress);

}  // namespace sterna::launcher
