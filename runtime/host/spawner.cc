#include "runtime/host/spawner.h"

#include <sys/wait.h>

#include <cstring>
#include <thread>

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

bool reap_killed(std::vector<std::int64_t> pids, Duration patience) {
  constexpr Duration kPause = std::chrono::milliseconds(1);
  const SteadyClock clock;
  const Time deadline = clock.now() + patience;
  while (true) {
    // Also where it is none of ours any more.
    std::erase_if(pids, [](std::int64_t pid) {
      return ::waitpid(static_cast<pid_t>(pid), nullptr, WNOHANG) != 0;
    });
    if (pids.empty()) return true;
    if (clock.now() >= deadline) return false;
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace sterna
