// ServerRefilling: how a server in the place of a lost one comes to its state, of which its partner
// holds the same and goes on meanwhile.
//
// First it asks all workers to tell it, too, whatever they tell its partner: from which
// step on, each answers; the largest of these is T. Of the steps before T it knows nothing, and
// says so at once; of T and later ones it keeps what it hears, until it has its state. Then it
// copies: each chunk as its partner has it at version T or a later one, which holds all that any
// rank has said of the steps before; and the scalers likewise. No rank is ahead by more than a step
// of what both servers have acknowledged, so neither waits for the other for long.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "actors/job/args.h"
#include "actors/job/messages.h"
#include "actors/server/lost_state.h"
#include "actors/server/server_order.h"
#include "runtime/actor/process.h"
#include "runtime/cluster/peer.h"

namespace sterna::actors {

/// A member of its actor.
class ServerRefilling {
 public:
  ServerRefilling(const Actor<ParameterServerInterface>& actor, const ServerArgs& args,
                  const Finder& finder)
      : actor_(actor), args_(args), finder_(finder) {}

  /// Once. `order`: in which it takes pushes; null: in none. Errors: those of the questions; what
  /// the partner says is malformed.
  Task<Result<void>> refill(LostState state, ServerOrder* order);

  /// The step from which on it hears all that workers say; its partner has those before. Not known
  /// at first, and never where pushes have an order: there it hears them of its partner.
  const std::optional<std::uint64_t>& hears_from() const { return hears_from_; }
  /// Whether it is to take what workers say of this step.
  bool hears(std::uint64_t step) const { return hears_from_ && step >= *hears_from_; }
  /// All have answered that it was to ask.
  Condition& enlisted() { return enlisted_; }

  /// The evaluator has done with a version, which the shard may get only with its copy.
  void release(std::uint64_t version);
  const std::deque<std::uint64_t>& released() const { return released_; }

 private:
  /// Asks to be told what its partner is told: the evaluator, if there is one.
  Task<Result<void>> enlist_at_evaluator();
  /// The same of all workers, too. From which step on all of them do it.
  Task<Result<std::uint64_t>> enlist_at_all();
  Task<Result<void>> copy_chunks(Shard& shard, Peer<ParameterServerInterface>& partner,
                                 std::uint64_t from);

  const Actor<ParameterServerInterface>& actor_;
  const ServerArgs& args_;
  const Finder& finder_;
  std::optional<std::uint64_t> hears_from_;
  Condition enlisted_;
  std::deque<std::uint64_t> released_;
};

}  // namespace sterna::actors
