// How many cores this process may use.
#pragma once

#include <cstdint>

namespace sterna {

/// By its affinity, which a batch system or `taskset` may have narrowed; at least 1.
std::uint32_t usable_cores();

}  // namespace sterna
