// LogReader: what the actors of a run log, line by line while they run, wherever they are.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/actor/future.h"
#include "runtime/base/clock.h"
#include "runtime/cluster/cluster_messages.h"

namespace sterna::launcher {

/// Asks the nodes for what was added to their actors' logs, one log after the other, again and
/// again with a pause between. Never waits: to be called at every turn of the loop.
class LogReader {
 public:
  struct Log {
    std::string actor;
    ProcessId node;  ///< of its host
  };
  using Ask = std::function<Future<FilePiece>(const ReadFile&)>;
  using Say = std::function<void(std::string_view line)>;

  /// `clock` outlives this. `say` gets "ACTOR: LINE" without the time. Of a log that grows faster
  /// than it is read some lines are left out.
  LogReader(const Clock& clock, std::vector<Log> logs, Ask ask, Say say);

  void turn();
  /// Says `line` once the actor's log has been read again: after what it logged before it ended.
  void say_at_end_of(const std::string& actor, std::string line);
  /// In place of turn() when the end has come: whether every log was read once more since the first
  /// of these calls.
  bool is_through();

 private:
  struct Reading {
    Log log;
    std::uint64_t offset = 0;
    std::string rest = {};  ///< of a line that has no end yet
    std::string last = {};  ///< to be said at its end
    bool asked_for_last = false;
    bool in_a_line = false;  ///< of which nothing is said, up to its end
  };
  void take(Reading& reading, const FilePiece& piece);
  void next();

  const Clock& clock_;
  Ask ask_;
  Say say_;
  std::vector<Reading> readings_;
  std::size_t current_ = 0;
  Future<FilePiece> answer_;
  bool asking_ = false;
  Time due_{};
  std::uint64_t rounds_ = 0;         ///< whole ones
  std::uint64_t wanted_rounds_ = 0;  ///< 0: the end is not near
};

}  // namespace sterna::launcher
