// RankPackets: whose packets of one chunk have come. Those that wait to be made a version of, and
// which pushes have been judged, so that each counts once however often it is said.
//
// Of a rank at most one packet waits, and no push of it is accepted twice. What is kept to know
// that does not grow with the number of pushes.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "actors/job/messages.h"

namespace sterna::actors {

class RankPackets {
 public:
  /// Of no rank.
  RankPackets() = default;
  /// Of so many ranks, whose pushes before `first` nobody asks for.
  RankPackets(std::uint32_t ranks, std::uint64_t first);

  /// Packets that were accepted and that no version is made of yet, with those of which one is
  /// being made.
  std::uint32_t waiting() const {
    return static_cast<std::uint32_t>(order_.size() + being_made_.size());
  }
  /// Whether the rank's is one of them. Until it is not, no later one of it can be accepted.
  bool waits(std::uint32_t rank) const { return waits_[rank]; }
  /// All pushes of the rank before this one have been judged.
  std::uint64_t judged(std::uint32_t rank) const { return judged_[rank]; }
  /// By rank: of all its pushes before this one, those that were accepted are in a version.
  std::vector<std::uint64_t> done() const;

  /// What becomes of a rank's packet of a push, which is `if_new` where nothing of that push or of
  /// a later one was judged before. It is taken if that is ACCEPTED.
  Verdict accept(std::uint32_t rank, std::uint64_t push, Verdict if_new, Packet&& packet);

  /// Packets with whose they are.
  struct Taken {
    std::vector<std::uint32_t> ranks;
    std::vector<Packet> packets;
  };
  /// The first that came of those that wait, of which there are some. A version is being made of it
  /// from now on, until made(); of another none is.
  Taken take_first();
  /// The same of all, in the order of their ranks.
  Taken take_all();
  void made();

  // ---- a server beside this one that holds the same ----

  /// Adds to a copy which pushes have been judged, which of them count, and what waits. No version
  /// is being made.
  void add_to(ChunkCopy& copy) const;
  /// Goes on from such a copy, before anything is accepted; what waits there comes by wait(), in
  /// its order. False: it is of another number of ranks, and nothing has changed.
  [[nodiscard]] bool go_on_from(const ChunkCopy& copy);
  /// An accepted packet of a rank of which none waits.
  void wait(std::uint32_t rank, Packet&& packet);
  /// Where ranks are in step: goes on behind this push, and all before have counted, of every rank.
  void go_on_behind(std::uint64_t push);

 private:
  /// 1 + the last two pushes of a rank that counted.
  using LastCounted = std::array<std::uint64_t, 2>;

  /// Whether this push of the rank has counted, as far back as is known.
  bool counted(std::uint32_t rank, std::uint64_t push) const;
  Packet take(std::uint32_t rank);

  std::vector<Packet> packets_;            // by rank: that waits
  std::deque<std::uint32_t> order_;        // the ranks whose packets these are, as they came
  std::vector<std::uint32_t> being_made_;  // the ranks of whose packets a version is being made
  std::vector<bool> waits_;                // by rank: it is one of either
  std::vector<std::uint64_t> judged_;      // by rank
  std::vector<LastCounted> counted_;       // by rank
};

}  // namespace sterna::actors
