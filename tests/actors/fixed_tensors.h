// What training on `fixed_gradients` ended with.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "nets/weights/weights_file.h"

namespace sterna::actors {

/// The parameters of a weights file, by name, whose gradients do not depend on where they were
/// made.
inline std::map<std::string, std::vector<float>> fixed_tensors(const std::string& file) {
  std::map<std::string, std::vector<float>> fixed;
  const auto read = nets::read_safetensors(file).value();
  for (const nets::NamedTensor& tensor : read.tensors) {
    if (tensor.name.starts_with("fixed")) fixed[tensor.name] = tensor.values;
  }
  return fixed;
}

}  // namespace sterna::actors
