// The actor types of a training job, by the names that a cluster file calls roles.
#pragma once

#include "runtime/actor/registry.h"

namespace sterna::actors {

/// "parameter_server", "worker", "input_reader", "evaluator".
void register_actors(Registry& registry);

}  // namespace sterna::actors
