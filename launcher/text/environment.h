// One variable of the process's environment: nothing where it is not set, which is not the same as
// empty.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace sterna::launcher {

inline std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

}  // namespace sterna::launcher
