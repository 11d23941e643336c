// A whole run of a scene: the launcher's Cluster with the real coordinator, nodes and roles, in
// this thread, on a virtual clock, while the schedule's faults happen to it.
#pragma once

#include <functional>
#include <string>

#include "launcher/simulate/facts.h"
#include "launcher/simulate/scene.h"
#include "runtime/actor/registry.h"

namespace sterna::launcher {

/// A line of what happens, with its virtual time.
using Teller = std::function<void(Time when, const std::string& line)>;

/// `schedule` in place of the scene's own. `tell` may be null. The facts are a function of the
/// arguments alone.
RunFacts run_scene(const Scene& scene, const std::vector<Fault>& schedule, const Registry& registry,
                   const Teller& tell = nullptr);

}  // namespace sterna::launcher
