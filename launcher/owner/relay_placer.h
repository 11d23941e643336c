// RelayPlacer: the owner's way to put nodes on hosts that only the launcher can reach: it hands the
// launcher the node's bootstrap, and hears from it when the node's connection has ended.
#pragma once

#include <map>
#include <set>
#include <string>

#include "launcher/owner/owner_words.h"
#include "runtime/host/spawner.h"

namespace sterna::launcher {

class RelayPlacer final : public Spawner {
 public:
  /// `elsewhere`: the hosts that are not this one. `local` must outlive it.
  RelayPlacer(Spawner& local, std::set<std::string> elsewhere,
              std::function<void(const OwnerWord&)> say)
      : local_(local), elsewhere_(std::move(elsewhere)), say_(std::move(say)) {}

  Result<std::int64_t> spawn(const Bootstrap& bootstrap, Callbacks callbacks) override;
  void kill(std::int64_t pid) override;
  std::uint64_t resident_bytes(std::int64_t pid) const override {
    return local_.resident_bytes(pid);
  }

  /// The launcher's word that a node's connection has ended.
  void ended(std::int64_t id, const std::string& why);
  /// The launcher has left: the nodes are the coordinator's alone from here on.
  void release_all();

 private:
  Spawner& local_;
  std::set<std::string> elsewhere_;
  std::function<void(const OwnerWord&)> say_;
  std::map<std::int64_t, Callbacks> placed_;
  std::int64_t next_id_ = std::int64_t{1} << 40;  ///< beyond any pid of this host
};

}  // namespace sterna::launcher
