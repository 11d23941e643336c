// RanksLeft: how many ranks of a training job are left, and whether it goes on without a worker
// that was lost and does not come again (cluster.lost_host = "quorum").
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "launcher/cluster_file/cluster_file.h"
#include "runtime/cluster/cluster_messages.h"

namespace sterna::launcher {

class RanksLeft {
 public:
  /// Of a file that does not say so no worker may be lost.
  explicit RanksLeft(const ClusterFile& file);

  /// An actor is lost for good; again is harmless. Whether it is a worker, and those that are left
  /// can make versions; where they cannot, the cause says so.
  bool goes_on_without(ProcessDown& down);
  std::uint64_t left() const;
  /// "2 of 3 ranks are left, and a version takes 2".
  std::string in_words() const;

 private:
  struct Worker {
    std::uint64_t ranks = 0;
    bool lost = false;
  };
  std::map<std::string, Worker> ranks_;
  std::uint64_t all_ = 0;
  std::uint64_t quorum_ = 0;
};

}  // namespace sterna::launcher
