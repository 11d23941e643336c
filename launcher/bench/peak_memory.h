// The most memory that this process has had at once.
#pragma once

#include <cstdint>

namespace sterna::launcher {

/// What was before counts no more, as far as the kernel lets a process say so.
void forget_peak_memory();

/// Resident bytes, of everything that the process has; 0 where the kernel does not tell.
std::uint64_t peak_memory();

}  // namespace sterna::launcher
