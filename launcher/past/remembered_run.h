// RememberedRun: what this machine remembers of a run while it goes on, so that later commands find
// it, and of one that nobody watched how it ended.
#pragma once

#include <optional>
#include <string>

#include "launcher/past/run_state.h"
#include "launcher/text/console.h"

namespace sterna::launcher {

/// Nothing is written before write(); what cannot be written after that is said, and changes
/// nothing else.
class RememberedRun {
 public:
  explicit RememberedRun(const Console& console) : console_(console) {}
  /// Forgets it, unless ended() left word.
  ~RememberedRun();
  RememberedRun(const RememberedRun&) = delete;
  RememberedRun& operator=(const RememberedRun&) = delete;

  /// `head` is this machine's name among the run's hosts. Returns the id (RunStates::begin()) by
  /// which later commands find the run; fails where they will not.
  Result<std::string> write(RunState state, const std::string& head);
  void coordinator_is_at(const Contact& contact);
  void has_host(const StateHost& host);
  /// A run that nobody watched leaves word of how it ended. One that is started again at once
  /// (`again`) has not: whoever does that finds it by what is remembered. `resume`: as
  /// RunState::resume.
  void ended(int exit, const std::string& last_words, const std::string& resume, bool again);

 private:
  void write_again();

  const Console& console_;
  std::optional<RunStates> states_;  ///< where it is written
  RunState state_;
};

}  // namespace sterna::launcher
