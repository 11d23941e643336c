// JoinPlacer: node agents that somebody else starts (systemd, Kubernetes, a person). For each host
// it writes what that host's node is to be told into a file, and the node is whoever reads it there
// (`sterna join FILE`).
//
// The files hold secrets: mode 0600 in a 0700 folder, and gone with this object.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "runtime/host/spawner.h"
#include "runtime/loop/loop.h"

namespace sterna {

struct JoinPlacerOptions {
  std::string folder;           ///< it is made; FOLDER/HOST is a host's file
  std::set<std::string> hosts;  ///< those whose nodes join
  /// A file is there.
  std::function<void(const std::string& host, const std::string& path)> written;
};

class JoinPlacer final : public Spawner {
 public:
  /// `local` starts what belongs on this host; it and the loop must outlive this.
  JoinPlacer(Loop& loop, Spawner& local, JoinPlacerOptions options);
  ~JoinPlacer() override;
  JoinPlacer(const JoinPlacer&) = delete;
  JoinPlacer& operator=(const JoinPlacer&) = delete;

  /// That a node never joins is for its deadline to notice, that it has ended for its link.
  Result<std::int64_t> spawn(const Bootstrap& bootstrap, Callbacks callbacks) override;
  /// Of a node that joins: withdraws its file. One that has joined lives on its lease.
  void kill(std::int64_t pid) override;
  std::uint64_t resident_bytes(std::int64_t pid) const override;

 private:
  struct Awaited {
    std::string path;
    std::function<void(const ProcessExit&)> on_exit;
  };
  using AwaitedNodes = std::map<std::int64_t, Awaited>;

  Loop& loop_;
  Spawner& local_;
  JoinPlacerOptions options_;
  std::shared_ptr<AwaitedNodes> nodes_ = std::make_shared<AwaitedNodes>();
  std::int64_t next_id_;
};

/// Reads such a file. permission if anybody but its owner may, or if that is not this user.
Result<Bootstrap> read_bootstrap_file(int file, const std::string& path);

}  // namespace sterna
