// The same command on another host, over ssh: for runs whose keys are kept there.
#pragma once

#include <string>
#include <vector>

namespace sterna::launcher {

/// Becomes ssh, which runs the newest sterna that `destination` has with these arguments; returns
/// only when that fails, with the exit code.
int run_via(const std::string& destination, const std::vector<std::string>& arguments);

}  // namespace sterna::launcher
