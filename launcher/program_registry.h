// Every actor type that `sterna` can start in a process of its own.
#pragma once

#include "runtime/registry.h"

namespace sterna::launcher {

Registry program_registry();

}  // namespace sterna::launcher
