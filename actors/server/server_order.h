// ServerOrder: the order in which a pair of servers takes pushes, as one of the two has it.
//
// Two servers hold a shard whose ranks do not go in step. One leads: workers push to it alone, it
// gives each push a number and tells the other, which follows: both take the pushes in that order,
// and so make the same versions, bit for bit. What is late, or makes a version, depends on nothing
// else.
//
// The leader takes a push once the follower has, and answers then. So all that a worker knows of,
// verdicts and versions, both have, and whichever is lost the other goes on. What the lost leader
// had taken and not answered its worker pushes again, and it is known (Shard::accept).
//
// Who leads follows from what the coordinator says, never from what the two see of each other: at
// first the server of the two, then always the one that was not lost. Whoever comes in the place of
// a lost one follows; who follows leads once it is told that the leader is dead, or the next
// incarnation of that asks it. A leader whose follower is silent waits for that word.
//
// A new follower is told of all pushes that the leader has yet to take, and copies the chunks
// meanwhile. Of a chunk that it has not asked for it passes packets over: the copy will have them,
// as the leader waits with it until it has taken all that the follower had when it asked.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "actors/job/args.h"
#include "actors/job/messages.h"
#include "actors/server/live_shard.h"
#include "runtime/actor/byte_window.h"
#include "runtime/actor/process.h"
#include "runtime/cluster/peer.h"

namespace sterna::actors {

/// A member of its actor.
class ServerOrder {
 public:
  /// `leads`: at first. It looks for the other by find_partner(), or is told by follow().
  ServerOrder(const Actor<ParameterServerInterface>& actor, const ServerArgs& args,
              const Finder& finder, LiveShard& shard, bool leads);
  ServerOrder(const ServerOrder&) = delete;
  ServerOrder& operator=(const ServerOrder&) = delete;

  /// Waits until it is there.
  Task<void> find_partner();
  /// It has its state: from then on it takes pushes.
  void begin();

  /// A rank's push, of who may speak for it. Errors: not_found, it does not lead; those of
  /// Shard::accept(), for which `from` was blamed.
  Task<Result<PushReply>> take(ActorId from, Push push);
  /// What who leads says, and is answered once it was taken. Errors: not_found, it does not follow
  /// that one; those of Shard::accept().
  Task<Result<PushReply>> take(ActorId from, Forward forward);

  /// Who has come in the place of a lost one is told of all that is taken from now on; this one
  /// leads, if it did not before. Errors: not_found, of one that is lost, too.
  Result<void> begin_to_tell(ActorId follower);
  /// In the place of a lost one: from the leader's push of this number on.
  void follow(const BoardCopy& board, ProcessId leader);
  /// Then, of all chunks of the shard: what the leader has, while both go on.
  Task<Result<void>> copy(Peer<ParameterServerInterface>& partner);

  /// It has all that the leader had at push taken(), or will have.
  bool follows() const { return follows_; }
  /// Pushes: all before this number.
  std::uint64_t taken() const { return taken_; }
  /// Something of this has changed.
  Condition& moved() { return moved_; }

 private:
  /// A push that has its number.
  struct Numbered {
    std::uint64_t order = 0;
    ActorId from;
    Push push;
    std::uint64_t had_by = 0;                ///< the last follower that has taken it
    std::optional<Result<PushReply>> reply;  ///< once it has been taken
  };
  enum class Copied : std::uint8_t { absent, asked, there };

  Process& process() const { return actor_.process(); }
  void run(Task<void> task) { process().run_task(actor_.self().id.local, std::move(task)); }
  Sleep sleep(Duration duration) const {
    return {process().timers(), process().loop().now() + duration};
  }
  /// Whether the partner that it leads or follows is gone, as the coordinator says.
  bool partner_is_gone();
  /// Whether it leads: now, where who led is gone.
  bool leads();
  void lead();
  /// Until the one that follows has taken it, or nobody follows, or another one does.
  Task<void> tell_partner(std::shared_ptr<Numbered> one);
  /// Takes what can be taken of the line, if nobody does.
  void go_on();
  Task<void> take_line();
  void take(Numbered& one);
  /// A chunk that has to change before the push can be taken.
  std::optional<std::uint32_t> awaits(const Push& push) const;
  Task<Result<void>> copy_one(Peer<ParameterServerInterface>& partner, ByteWindow& window,
                              std::uint32_t chunk);

  const Actor<ParameterServerInterface>& actor_;
  const ServerArgs& args_;
  LiveShard& shard_;
  Peer<ParameterServerInterface> partner_;
  ByteWindow forwarding_;
  bool leads_;
  bool follows_ = false;
  bool alone_ = false;       // it leads, and nobody follows
  std::uint64_t given_ = 0;  // numbers, to pushes, by the leader
  std::uint64_t taken_ = 0;
  std::uint64_t followers_ = 1;    // that there have been
  std::uint64_t incarnation_ = 1;  // of the partner
  ProcessId process_;              // its, once it is known
  /// By their numbers: that have yet to be taken.
  std::map<std::uint64_t, std::shared_ptr<Numbered>> line_;
  bool taking_ = false;
  Condition moved_;
  std::vector<Copied> chunks_;  // while they are copied
};

}  // namespace sterna::actors
