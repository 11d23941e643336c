// What this machine calls itself.
#pragma once

#include <unistd.h>

#include <array>
#include <string>

namespace sterna::launcher {

/// "" where it does not say.
inline std::string machine_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace sterna::launcher
