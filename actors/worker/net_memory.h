// Whether the nets of a worker fit into memory, before any of it is taken.
#pragma once

#include <cstdint>
#include <optional>

#include "actors/job/job.h"
#include "runtime/base/result.h"

namespace sterna::actors {

/// `available`: bytes that there are for `ranks` nets of the job; nothing: unknown, and all fit. By
/// what nets::describe_net() counts, and without other workers and an evaluator on the same
/// machine. Errors: overloaded, with the largest batch or micro-batch that fits, if any does; those
/// of nets::describe_net().
Result<void> check_nets_fit(const JobConfig& job, std::uint32_t ranks,
                            std::optional<std::uint64_t> available);

}  // namespace sterna::actors
