// Every actor type that `sterna` can start in a process of its own.
#pragma once

#include "runtime/actor/registry.h"

namespace sterna::launcher {

Registry program_registry();

}  // namespace sterna::launcher
