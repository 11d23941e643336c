// ShardServers: the servers of one shard, as those see them who ask: one, or two that hold the
// same.
//
// Both of a pair hear all that changes what they hold, in whatever order each hears it, and so make
// the same versions, bit for bit. Who wants to know something asks one of them, and the other where
// that one is lost, or has it not: it may have come to its state a moment ago.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/job/messages.h"
#include "runtime/actor/byte_window.h"
#include "runtime/cluster/peer.h"

namespace sterna::actors {

/// Of two servers of which one decides the order of pushes.
enum class PairAsks : std::uint8_t {
  who_leads,  ///< whom a rank pushes to
  either,     ///< what both have
};

/// Stays where it is while a question is under way.
class ShardServers {
 public:
  struct Member {
    Member(Peer<ParameterServerInterface> found, const Poster& poster, std::uint64_t most)
        : peer(std::move(found)), up(poster, most), down(poster, most) {}
    Peer<ParameterServerInterface> peer;
    ByteWindow up, down;           ///< what may be under way
    std::uint64_t in_flight = 0;   ///< bytes of pushes without an answer
    std::uint64_t first_step = 0;  ///< of which it hears
    bool hears(std::uint64_t step) const { return !peer.gone() && step >= first_step; }
  };

  /// What each of the two has failed with.
  class Failures {
   public:
    /// Adds one. Whether asking the other is of no use: that failed, too, and is as it was then
    /// (`other_lost`: it is gone now), or this is no matter of who is asked.
    bool are_all(std::size_t at, const Error& error, bool other_lost);

   private:
    std::array<std::optional<Errc>, 2> codes_;
  };

  /// `most`: bytes under way, to each and from each. `comes_again`: one that has no partner, and is
  /// lost, is waited for.
  ShardServers(Peer<ParameterServerInterface> server, const Poster& poster, std::uint64_t most,
               bool comes_again)
      : comes_again_(comes_again) {
    members_.emplace_back(std::move(server), poster, most);
  }
  void add_replica(Peer<ParameterServerInterface> replica, const Poster& poster,
                   std::uint64_t most) {
    members_.emplace_back(std::move(replica), poster, most);
  }

  bool paired() const { return members_.size() > 1; }
  /// Whether an error is of one of the two, and the other may have an answer: that one is lost, or
  /// has not got its state yet.
  bool is_of_one(const Error& error) const {
    return paired() && (error.code == Errc::actor_down || error.code == Errc::not_found);
  }
  std::deque<Member>& members() { return members_; }
  /// Where one of the two decides the order of pushes: whom to tell, as far as is known here, or
  /// whom to ask.
  Member& member(PairAsks what) { return member(place(what)); }
  Member& other(const Member& one) { return member(&one == &member(0) ? 1 : 0); }
  /// From then on the other one.
  void turn_from(const Member& one, PairAsks what) {
    std::size_t& at = place(what);
    if (&one == &member(at)) at = 1 - at;
  }
  /// Of the one that is asked first.
  const std::string& name() const { return members_[asked_].peer.name(); }
  /// Null: none of them is called so.
  Member* named(const std::string& name) {
    for (Member& member : members_) {
      if (member.peer.name() == name) return &member;
    }
    return nullptr;
  }

  /// The question leaves at once.
  template <class M>
  Task<Result<ReplyTo<M>>> ask(M message, Duration deadline) {
    if (!paired()) return ask_one(members_.front(), std::move(message), deadline);
    return started(put(std::move(message), std::nullopt, deadline));
  }
  /// As soon as `bytes` more may be under way from there.
  template <class M>
  Task<Result<ReplyTo<M>>> ask_within_down(std::uint64_t bytes, M message, Duration deadline) {
    if (!paired()) {
      Member& only = members_.front();
      return ask_one_within(only, only.down, bytes, std::move(message), deadline);
    }
    return started(put(std::move(message), bytes, deadline));
  }
  /// One of them; again where it has no partner, is lost, and comes again.
  template <class M>
  Task<Result<ReplyTo<M>>> ask_one(Member& server, M message, Duration deadline) {
    if (waits()) return server.peer.ask_again(std::move(message), deadline);
    return server.peer.ask(std::move(message), deadline);
  }
  template <class M>
  Task<Result<ReplyTo<M>>> ask_one_within(Member& server, ByteWindow& window, std::uint64_t bytes,
                                          M message, Duration deadline) {
    if (waits()) return server.peer.ask_again_within(window, bytes, std::move(message), deadline);
    return server.peer.ask_within(window, bytes, std::move(message), deadline);
  }
  template <class M>
  void tell(const M& message) {
    for (Member& member : members_) member.peer.tell(message);
  }

 private:
  bool waits() const { return comes_again_ && !paired(); }
  template <class T>
  static Task<T> started(Task<T> task) {
    task.start();
    return task;
  }

  std::size_t& place(PairAsks what) { return what == PairAsks::who_leads ? leading_ : asked_; }
  Member& member(std::size_t at) { return at == 0 ? members_.front() : members_.back(); }

  // What put() is made of: GCC 12 spoils an index into a deque within a coroutine.
  template <class M>
  Task<Result<ReplyTo<M>>> ask_member(std::size_t at, std::optional<std::uint64_t> bytes,
                                      const M& message, Duration deadline) {
    Member& asked = member(at);
    if (!bytes) return asked.peer.ask(M(message), deadline);
    return asked.peer.ask_within(asked.down, *bytes, M(message), deadline);
  }
  std::size_t first_to_ask() { return member(asked_).peer.lost() ? 1 - asked_ : asked_; }
  bool are_all(Failures& failures, std::size_t at, const Error& error) {
    return failures.are_all(at, error, member(1 - at).peer.lost());
  }

  /// Asks the two by turns until one answers, or neither has anything left to say.
  template <class M>
  Task<Result<ReplyTo<M>>> put(M message, std::optional<std::uint64_t> bytes, Duration deadline) {
    std::size_t at = first_to_ask();
    Failures failures;
    while (true) {
      Task<Result<ReplyTo<M>>> question = ask_member(at, bytes, message, deadline);
      Result<ReplyTo<M>> answer = co_await question;
      if (answer) asked_ = at;
      if (answer || are_all(failures, at, answer.error())) co_return answer;
      at = 1 - at;
    }
  }

  bool comes_again_;
  std::deque<Member> members_;  // a deque: they do not move
  std::size_t asked_ = 0;
  std::size_t leading_ = 0;
};

/// Asks one of two until it has answered or is known to be dead. While only the link to it is lost
/// it must not miss what its partner hears, as it would stay behind for good. `bytes`: as soon as
/// so many more may be under way to it; none: at once.
template <class M>
Task<Result<ReplyTo<M>>> ask_while_it_lives(Process& process, ShardServers::Member& server,
                                            std::optional<std::uint64_t> bytes, M message,
                                            Duration deadline) {
  const Time give_up = process.loop().now() + deadline;
  while (true) {
    const ProcessId asked = server.peer.process();
    Task<Result<ReplyTo<M>>> question =
        bytes ? server.peer.ask_within(server.up, *bytes, M(message), deadline)
              : server.peer.ask(M(message), deadline);
    Result<ReplyTo<M>> answer = co_await question;
    if (answer || answer.error().code != Errc::actor_down) co_return answer;
    co_await Sleep(process.timers(), process.loop().now() + server.peer.kAgainAfter);
    if (process.is_dead(asked) || process.loop().now() >= give_up) co_return answer;
  }
}

/// Where one of two decides the order of pushes: asks by turns until one answers. Who does not lead
/// says so, and who will may have to hear first that the other is dead.
template <class M>
Task<Result<ReplyTo<M>>> ask_pair(Process& process, ShardServers& servers, PairAsks what,
                                  std::uint64_t bytes, M message, Duration deadline) {
  constexpr int kMostRefusals = 10;  // of one, before another in the other's place is waited for
  constexpr int kLooks = 5;          // whether who is lost is dead: else it is asked again
  const Time give_up = process.loop().now() + deadline;
  int refusals = 0;
  while (true) {
    ShardServers::Member& server = servers.member(what);
    ByteWindow& window = what == PairAsks::who_leads ? server.up : server.down;
    Task<Result<ReplyTo<M>>> question = server.peer.ask_within(window, bytes, M(message), deadline);
    Result<ReplyTo<M>> answer = co_await question;
    const bool refused = !answer && answer.error().code == Errc::not_found;
    const bool lost = !answer && answer.error().code == Errc::actor_down;
    if (!(refused || lost) || process.loop().now() >= give_up) co_return answer;
    refusals = refused ? refusals + 1 : 0;
    for (int looks = 0; looks == 0 || (lost && looks < kLooks && !server.peer.gone()); ++looks) {
      co_await Sleep(process.timers(), process.loop().now() + server.peer.kAgainAfter);
    }
    const bool other_there = !servers.other(server).peer.gone();
    const bool either = what == PairAsks::either && other_there;
    const bool turns =
        refused ? other_there || refusals % kMostRefusals == 0 : either || server.peer.gone();
    if (turns) servers.turn_from(server, what);
  }
}

/// The servers of all shards, in their order, once all are there.
template <class Asker>
Task<Result<std::deque<ShardServers>>> find_servers(
    const Actor<Asker>& asker, Poster poster, std::uint64_t most, std::vector<std::string> servers,
    std::vector<std::string> replicas, Duration patience, bool come_again, Finder finder) {
  STERNA_CO_ASSIGN(auto found, find_peers<ParameterServerInterface>(asker, std::move(servers),
                                                                    patience, finder));
  STERNA_CO_ASSIGN(auto others, find_peers<ParameterServerInterface>(asker, std::move(replicas),
                                                                     patience, finder));
  std::deque<ShardServers> all;
  for (std::size_t i = 0; i < found.size(); ++i) {
    ShardServers& shard = all.emplace_back(std::move(found[i]), poster, most, come_again);
    if (i < others.size()) shard.add_replica(std::move(others[i]), poster, most);
  }
  co_return all;
}

/// `sender`, which is one of these without a partner, in the place of a lost one, is who is asked
/// and told from now on. Errors: permission, of who is none of them, and to blame.
Result<void> is_server(std::deque<ShardServers>& shards, Process& process, ActorId sender);

/// `sender`, which is one of these in the place of a lost one, hears from now on all that is told
/// of `step` and later ones. Errors: permission, of who is none of them, and to blame.
Result<void> enlist(std::deque<ShardServers>& shards, Process& process, ActorId sender,
                    std::uint64_t step);

}  // namespace sterna::actors
