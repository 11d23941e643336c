// Whose turn it is to start a run of a cluster file: of several `sterna up` of it at once the next
// one finds the run of the first.
#pragma once

#include <functional>
#include <string>

#include "launcher/past/run_state.h"

namespace sterna::launcher {

/// Held until it ends, or its process does, however that is; by an advisory lock (flock(2)) of a
/// file in the state's folder.
class StartTurn {
 public:
  /// Waits for whoever has it, after `waits`. Fails (permission) where no state of a run can be
  /// written: whoever started one could not find it again.
  static Result<StartTurn> take(const RunStates& states, const std::string& file,
                                const std::function<void()>& waits);
  StartTurn(StartTurn&& other) noexcept;
  StartTurn(const StartTurn&) = delete;
  StartTurn& operator=(const StartTurn&) = delete;
  ~StartTurn();

 private:
  StartTurn(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::string path_;
  int lock_;  ///< -1: moved from
};

}  // namespace sterna::launcher
