// How fast the codecs are on this machine, by what workers and servers do with them.
#pragma once

#include <string>
#include <vector>

#include "actors/job/job.h"
#include "launcher/probe/codec_choice.h"

namespace sterna::launcher {

/// A few steps' exchanges of a tensor larger than the caches, normally distributed, by the codecs
/// in turns; of the job count what its ranks, scalers, optimizer and `down` make of it. Takes some
/// 10 ms of one thread per codec and rank. Errors: invalid_argument for an unknown codec,
/// instruction set or optimizer.
Result<std::vector<CodecCost>> measure_codecs(const actors::JobConfig& job,
                                              const std::vector<std::string>& codecs);

}  // namespace sterna::launcher
