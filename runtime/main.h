// sterna::main: turns any program into its own node and actor host.
//
//   int main(int argc, char** argv) {
//     sterna::Registry registry;
//     registry.add<CounterActor, CounterArgs>("counter");
//     return sterna::main(argc, argv, registry, [](sterna::Cluster& cluster) { ...; return 0; });
//   }
//
// The program starts itself again for each process of the run; those calls never reach the body.
#pragma once

#include <functional>
#include <optional>

#include "runtime/cluster/cluster.h"
#include "runtime/message/fields.h"

namespace sterna {

/// If this program was started as a process of a run, hosts it and returns its exit code; likewise
/// if it was asked about itself (self_description.h), or if a message's list lacks a field (1, with
/// a line on standard error). To be called first thing in main(), before any thread exists.
std::optional<int> host_if_child(int argc, char** argv, const Registry& registry);

/// Hosts a child, or runs `body` with a run that has been started on this machine, and stops it
/// afterwards. SIGINT and SIGTERM interrupt what the body waits for. Returns the body's answer, or
/// 1 with a line on standard error if the run cannot start.
int main(int argc, char** argv, const Registry& registry, const std::function<int(Cluster&)>& body,
         const ClusterOptions& options = {});

}  // namespace sterna
