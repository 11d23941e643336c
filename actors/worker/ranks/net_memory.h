// How many nets a worker makes, and whether they fit into memory, before any of it is taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "actors/job/args.h"
#include "actors/job/job.h"
#include "kernels/device/device.h"
#include "runtime/base/result.h"

namespace sterna::actors {

/// Of a worker that hosts so many ranks, on a machine with so many cores: where all ranks have the
/// same parameters they take turns on one a core, else each has its own.
std::uint32_t replicas_of(const JobConfig& job, std::uint32_t ranks, std::uint32_t cores);

/// By replica, of so many, the device that it is on; of CPUs none.
std::vector<std::shared_ptr<kernels::Device>> devices_of(
    const std::vector<std::shared_ptr<kernels::Device>>& devices, std::size_t replicas);

/// Which of a worker's ranks take turns on one of its seats, of which each has a net: neighbours;
/// of an average, and on devices (`on_devices`), those of the same place in each round of turns, so
/// that a round adds neighbours, and rank i is on device i mod their number.
std::vector<std::uint32_t> ranks_of_seat(const WorkerArgs& args, bool on_devices,
                                         std::uint32_t seat, std::uint32_t seats);

/// Numbers that a worker of so many ranks keeps for each parameter, besides its nets: what is left
/// of its gradients, its ranks' own steps' sums, slots and parameters, clipped gradients, and the
/// sum of those that are averaged. Errors: as UpdateRule's.
Result<std::uint64_t> numbers_of_ranks(const JobConfig& job, std::uint32_t ranks,
                                       std::uint32_t replicas);

/// `available`: bytes that there are for so many ranks on `replicas` nets of the job; nothing:
/// unknown, and all fit. By what nets::describe_net() and numbers_of_ranks() count, and without
/// other workers and an evaluator on the same machine. Errors: overloaded, with the largest batch
/// or micro-batch that fits, if any does; those of nets::describe_net() and UpdateRule.
Result<void> check_nets_fit(const JobConfig& job, std::uint32_t ranks, std::uint32_t replicas,
                            std::optional<std::uint64_t> available);

}  // namespace sterna::actors
