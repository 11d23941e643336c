// The cluster file of a scene: of a job whose ranks go in step, which end in the same bits whatever
// happens; or of one whose ranks do not, of which no two need be the same.
#pragma once

#include <string>

#include "launcher/simulate/drawer.h"

namespace sterna::launcher {

/// More than any schedule has faults.
inline constexpr int kRestarts = 1000;

/// `job` gets what its bits depend on.
std::string draw_file(Drawer& draw, std::string& job);
std::string draw_file_apart(Drawer& draw);

}  // namespace sterna::launcher
