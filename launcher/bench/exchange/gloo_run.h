// gloo's all-reduce of as many floats, by a Python script (tests/bench/gloo_allreduce.py) that runs
// once for each rank.
#pragma once

#include <string>

#include "launcher/bench/exchange/exchange_job.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

/// Seconds of one all-reduce. unavailable where Python has no torch.
Result<double> run_gloo(const std::string& script, const ExchangeShape& shape,
                        const EmulatedHosts* hosts);

}  // namespace sterna::launcher
