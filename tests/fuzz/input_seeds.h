// The files and records that the fuzzers of input/ start from.
#pragma once

#include <string>
#include <vector>

namespace sterna::fuzz {

std::vector<std::string> tfrecord_seeds();
std::vector<std::string> example_seeds();
std::vector<std::string> idx_seeds();
std::vector<std::string> cifar_seeds();

}  // namespace sterna::fuzz
