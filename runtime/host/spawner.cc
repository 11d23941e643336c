#include "runtime/host/spawner.h"

#include <cstring>

namespace sterna {

std::string ProcessExit::text() const {
  if (!words.empty()) return words;
  if (signal != 0) {
    const char* abbreviation = sigabbrev_np(signal);
    std::string text = "killed by ";
    text += abbreviation != nullptr ? "SIG" + std::string(abbreviation)
                                    : "signal " + std::to_string(signal);
    if (likely_out_of_memory) text += " (likely out of memory)";
    return text;
  }
  return "exited with code " + std::to_string(code);
}

}  // namespace sterna
