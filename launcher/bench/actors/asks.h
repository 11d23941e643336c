// `sterna bench actors`: what an ask costs, beside raw ZeroMQ under the same security.
#pragma once

#include <functional>
#include <string_view>

#include "launcher/bench/figures.h"
#include "runtime/actor/registry.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

/// Gets the name of a part that could be measured now ("ipc.async"), and says whether it is to be.
using BenchParts = std::function<bool(std::string_view part)>;

/// Within this process: asks per second on one loop, and 100,000 light actors.
Result<Figures> bench_in_process(const BenchParts& wanted);

/// Between processes, over ipc or over tcp with CURVE, one to one and two to two, each interleaved
/// with raw ZeroMQ; medians.
Result<Figures> bench_between_processes(const Registry& registry, const BenchParts& wanted);

}  // namespace sterna::launcher
