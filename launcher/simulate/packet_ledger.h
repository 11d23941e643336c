// PacketLedger: what servers say of the packets that ranks push, as it travels: whether each counts
// once, each version is made of as many as the job wants, and whoever sends a version has its bits.
//
// For jobs whose ranks do not go in step, of which no other run has the same bits.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "actors/job/job.h"
#include "actors/job/messages.h"
#include "runtime/base/bytes.h"

namespace sterna::launcher {

class PacketLedger {
 public:
  explicit PacketLedger(const actors::JobConfig& job) : job_(job) {}

  /// Each message, in the order in which they are sent; those of others are passed over.
  void saw(const std::string& from, const std::string& to, const std::vector<Bytes>& frames);
  /// What does not hold, each a line. `ended`: the job has come to its end.
  std::vector<std::string> faults(bool ended) const;

  std::uint64_t counted() const { return counted_; }
  std::uint64_t repeated() const { return repeated_; }
  std::uint64_t late() const { return late_; }
  /// Versions of chunks that another server than the first sent, too.
  std::uint64_t compared() const { return compared_; }

 private:
  /// An ask of a worker.
  struct Asked {
    std::uint64_t incarnation = 0;
    std::uint32_t rank = 0;
    std::uint64_t step = 0;
    std::vector<std::uint32_t> chunks;
    bool answered = false;
  };
  struct Of {
    std::uint64_t counted = 0;
    std::uint64_t unknown = 0;  ///< packets whose verdict never travelled
  };
  void asks(Asked& known, const actors::Push& push);
  void answers(Asked& asked, const actors::PushReply& reply);
  void sends(const std::string& server, const actors::Parameters& parameters);

  actors::JobConfig job_;
  std::map<std::array<std::string, 3>, Asked> asked_;           // by worker, server, correlation
  std::map<std::array<std::uint64_t, 3>, int> accepted_;        // by rank, step, chunk
  std::map<std::array<std::uint32_t, 2>, std::uint64_t> next_;  // pushes by rank and chunk
  static constexpr std::size_t kMostSkipped = 8;
  std::vector<std::string> skipped_;  // pushes that nobody sent
  struct Sent {
    std::string server;  // who sent it first
    actors::Hash hash{};
  };
  std::map<std::array<std::uint64_t, 4>, Sent> sent_;  // by kind, codec, chunk, version
  std::vector<std::string> different_;
  std::map<std::uint32_t, Of> chunks_;
  std::uint64_t counted_ = 0;
  std::uint64_t repeated_ = 0;
  std::uint64_t late_ = 0;
  std::uint64_t compared_ = 0;
};

}  // namespace sterna::launcher
