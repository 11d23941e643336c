// RelayPlacer: the owner's way to put nodes on hosts while it has a launcher: it hands that one the
// node's bootstrap, and hears from it when the node's connection has ended. Without one the owner
// reaches them itself, or nobody does.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "launcher/owner/owner_words.h"
#include "runtime/host/spawner.h"

namespace sterna::launcher {

class RelayPlacer final : public Spawner {
 public:
  using MakePlacer = std::function<Result<std::unique_ptr<Spawner>>()>;
  /// `elsewhere`: the hosts that are not this one. `local` must outlive it. `own`: what starts
  /// nodes there once the launcher has left.
  RelayPlacer(Spawner& local, std::set<std::string> elsewhere,
              std::function<void(const OwnerWord&)> say, MakePlacer own)
      : local_(local),
        elsewhere_(std::move(elsewhere)),
        say_(std::move(say)),
        make_own_(std::move(own)) {}

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
  MakePlacer make_own_;
  bool alone_ = false;
  std::unique_ptr<Spawner> own_;
  std::map<std::int64_t, Callbacks> placed_;
  std::int64_t next_id_ = std::int64_t{1} << 40;  ///< beyond any pid of this host
};

}  // namespace sterna::launcher
