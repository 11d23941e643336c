// Which of the things that hosts say of their cards would go wrong in a run. Pure.
#pragma once

#include <vector>

#include "launcher/doctor/checks.h"

namespace sterna::launcher {

/// What to ask a host about cards, NVIDIA's software, and what its actors want of both.
void ask_about_gpus(const ClusterFile& file, const HostSection& host, FactsQuestion& question);

/// Fewer cards than the file says, a driver or a card that is too old, no module or libraries where
/// an actor computes on a card; hints where actors would be slow on those that there are.
std::vector<Finding> check_gpus(const ClusterFile& file, const HostSection& host,
                                const ShippedProgram& program, const HostFacts& facts);

}  // namespace sterna::launcher
