// Succession: what the owner of a run has ready for the day on which it loses its coordinator: the
// keys of the next ones, which its nodes have been told in advance, and what it knew.
//
// That is in this process's memory and not in a file: the owner is the run's life anyway, so a disk
// could keep nothing longer, and nothing of it is torn, late or somebody else's to read.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "runtime/cluster/cluster_messages.h"
#include "runtime/host/machine.h"

namespace sterna {

class Succession {
 public:
  /// `lease` is that of the nodes, which the pauses before new starts must not use up. `keys` must
  /// outlive it.
  Succession(KeyIssuer& keys, const RestartBudget& budget, Duration lease);

  /// Makes `coordinator`'s bootstrap that of the next incarnation: who it is, who follows it, and
  /// what is known.
  Result<void> equip(Bootstrap& coordinator);
  /// Of an incarnation's notes, numbered from 1, the newest counts; one that is empty forgets.
  void note(Note note);
  /// After how long the next one is to be started, now that one was lost. Null: it was lost too
  /// often; then the cause says how often.
  std::optional<Duration> pause_after(ProcessDown& down, Time now);

 private:
  struct Kept {
    Bytes value;
    std::uint64_t number = 0;
  };
  struct Loss {
    Time at;
    std::string cause;
  };
  KeyIssuer& keys_;
  RestartBudget budget_;
  Duration lease_;
  std::uint64_t incarnation_ = 0;  ///< the last that was equipped
  std::deque<Credentials> next_;   ///< of those that follow, the first one first
  std::deque<Loss> losses_;        ///< that count against the budget, oldest first
  std::map<std::string, Kept> notes_;
};

}  // namespace sterna
