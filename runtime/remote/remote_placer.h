// RemotePlacer: puts node agents on hosts. A host with a command (ssh, srun) gets its node through
// a RemoteSession of its own; any other host is this one, and its processes are children of this
// one.
//
// It is a Spawner, so whoever starts a node need not know where that is. All sessions open at once,
// in prepare(), and each waits with its bundle in place for what it is to start; those of hosts
// that come later, and of those that come again, when that is to be started.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "runtime/host/spawner.h"
#include "runtime/remote/remote_session.h"

namespace sterna {

struct RemoteHost {
  std::vector<std::string> command;  ///< as RemoteSession::Options
  bool through_shell = true;
  std::string work = "~/.cache/sterna";
  bool later = false;  ///< nothing is to be prepared there
};

struct RemotePlacerOptions {
  std::map<std::string, RemoteHost> hosts;  ///< those that are not this one, by name
  RemoteBundle bundle;
  Duration patience = std::chrono::seconds(30);
  /// What is worth telling a person, as it happens: "shipping to b: 3.1 of 10.2 MB".
  std::function<void(std::string_view)> progress;
};

class RemotePlacer final : public Spawner {
 public:
  /// `local` starts what belongs on this host; it and the loop must outlive this.
  RemotePlacer(UvLoop& loop, Spawner& local, RemotePlacerOptions options);
  ~RemotePlacer() override;
  RemotePlacer(const RemotePlacer&) = delete;
  RemotePlacer& operator=(const RemotePlacer&) = delete;

  /// Opens all sessions and has the bundle put in place on every host. Runs the loop until that is
  /// done, `interrupted` says so, or one host cannot: that is the error. However slow the network:
  /// only who makes no progress is given up.
  Result<void> prepare(const std::function<bool()>& interrupted);
  /// The same for whoever wants to go on with the hosts that can: waits for every host, and says of
  /// those that cannot why, by name. Complete unless `interrupted` said so.
  std::map<std::string, std::string> prepare_each(const std::function<bool()>& interrupted);
  Result<std::int64_t> spawn(const Bootstrap& bootstrap, Callbacks callbacks) override;
  void kill(std::int64_t pid) override;
  std::uint64_t resident_bytes(std::int64_t pid) const override;

  /// Lets all nodes go on without us, and ends the connections; their ends are no longer reported.
  void detach();
  /// All nodes have said that they are on their own.
  bool detached() const;

 private:
  struct Placed;
  Placed& placed(const std::string& host);
  void prepare_all();
  Placed* find(std::int64_t id) const;
  void start(Placed& one);
  void ended(Placed& one, const ProcessExit& exit);
  void shipping(Placed& one, std::uint64_t done, std::uint64_t total);

  UvLoop& loop_;
  Spawner& local_;
  RemotePlacerOptions options_;
  std::map<std::string, std::unique_ptr<Placed>> placed_;
  std::vector<std::unique_ptr<Placed>> followed_;  ///< on hosts where another was started since
  std::int64_t next_id_;
  bool detaching_ = false;
};

/// The command that runs a shell command on `destination` by the system's ssh: no questions, no
/// host key unchecked, nothing of ~/.ssh/config overridden but that a master connection outlives
/// us.
std::vector<std::string> ssh_command(const std::string& destination, Duration patience);

}  // namespace sterna
