// KeptVersion: which versions an actor keeps for checkpoints, and what it has gathered of one.
//
// One at a time: a version that is due while the one before is still gathered or written is
// skipped, whole, and said to be. Only the job's last is never skipped: it waits.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "actors/checkpoint/state_part.h"
#include "actors/job/job.h"

namespace sterna::actors {

class KeptVersion {
 public:
  /// Gathered from so many holders (chunks, ranks).
  KeptVersion(const JobConfig& job, std::size_t holders) : job_(job), holders_(holders) {}

  /// What is due up to `version` is not gathered here.
  void begin_behind(std::uint64_t version) { decided_ = version; }
  /// Besides those of the file, in place of what was named before. No holder may be near it.
  void name(std::uint64_t version) { named_ = version; }
  bool due(std::uint64_t version) const;
  /// Whether a holder that comes to `version`, or past it, is to add its state: the same answer to
  /// all. Each asks for its versions in their order.
  bool gathers(std::uint64_t version);
  /// Once for each holder, of a version that it gathers.
  void add(std::uint64_t version, std::vector<StatePiece> pieces);
  /// What is to be written: once all have added theirs, and what was taken before is written().
  std::optional<StatePart> take();
  void written() { writing_ = false; }
  /// Those that were due since this was asked last, and were not gathered; each once what kept it
  /// from that is written, so that what is said of versions is in their order.
  std::vector<std::uint64_t> take_skipped();

 private:
  struct Gathering {
    StatePart part;
    std::size_t added = 0;
  };
  bool has_begun(std::uint64_t version) const;

  JobConfig job_;
  std::size_t holders_;
  std::optional<std::uint64_t> named_;
  std::optional<std::uint64_t> decided_;  // the newest that was due
  std::vector<Gathering> gathering_;      // one, and the last
  bool writing_ = false;
  std::vector<std::uint64_t> skipped_;
};

}  // namespace sterna::actors
