// `sterna bench actors`: what an ask costs, beside raw ZeroMQ under the same security.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "runtime/actor/registry.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

/// Named figures in the order of their names: rates per second, ratios, seconds, bytes.
using Figures = std::map<std::string, double>;
/// Gets one line for each part that is about to be measured.
using BenchProgress = std::function<void(std::string_view what)>;
/// Gets the name of a part that could be measured now ("ipc.async"), and says whether it is to be.
using BenchParts = std::function<bool(std::string_view part)>;

/// Within this process: asks per second on one loop, and 100,000 light actors.
Result<Figures> bench_in_process(const BenchParts& wanted);

/// Between processes, over ipc or over tcp with CURVE, one to one and two to two, each interleaved
/// with raw ZeroMQ; medians.
Result<Figures> bench_between_processes(const Registry& registry, const BenchParts& wanted);

}  // namespace sterna::launcher
