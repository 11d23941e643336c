// The manifests of checkpoints that their fuzzer starts from.
#pragma once

#include <string>
#include <vector>

namespace sterna::fuzz {

std::vector<std::string> manifest_seeds();

}  // namespace sterna::fuzz
