// The weights files that their fuzzer starts from.
#pragma once

#include <string>
#include <vector>

namespace sterna::fuzz {

std::vector<std::string> safetensors_seeds();

}  // namespace sterna::fuzz
