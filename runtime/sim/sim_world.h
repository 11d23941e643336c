// SimWorld: a machine that does not exist. Its processes are hosted in this one program, on one
// virtual clock and an in-memory network; spawning, killing and stopping them work as on a real
// one. A Cluster on it behaves the same every time, seed for seed. Files are real: where its
// options name a log directory, those of a host lie in a folder of its name, in the current one.
//
//   SimWorld world(seed, registry);
//   Cluster cluster(world.launcher(), registry, options);
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/actor/registry.h"
#include "runtime/cluster/cluster_messages.h"
#include "runtime/host/machine.h"
#include "runtime/link/link.h"
#include "runtime/sim/memory_network.h"
#include "runtime/sim/sim_loop.h"
#include "runtime/sim/sim_memory.h"

namespace sterna {

class SimWorld {
 public:
  SimWorld(std::uint64_t seed, const Registry& registry);
  ~SimWorld();
  SimWorld(const SimWorld&) = delete;
  SimWorld& operator=(const SimWorld&) = delete;

  /// What the launcher (the test) stands on.
  Machine& launcher();
  SimLoop& loop() { return loop_; }
  MemoryNetwork& network() { return network_; }

  /// How long a new process takes until it runs, and a job of an executor on that host.
  using JobTime = std::function<Duration(const std::string& host)>;
  void set_spawn_time(Duration time) { spawn_time_ = time; }
  void set_job_time(JobTime time) { job_time_ = std::move(time); }
  /// Who calls such a job, to see to it that its host is what it is then.
  using RunJob = std::function<void(const std::string& host, const std::function<void()>& job)>;
  void set_run_job(RunJob run) { run_job_ = std::move(run); }
  /// kill -9, kill -STOP and kill -CONT of a process, by name.
  void kill(const std::string& name);
  void freeze(const std::string& name);
  void thaw(const std::string& name);
  /// A fault that a process brings upon itself; it is there.
  void suffer(const std::string& name, const Strike& strike);
  /// What a supervisor's SIGTERM is to a node.
  void tell_to_end(const std::string& name);
  /// That host hears nobody of another one (`deaf`), or is not heard there (`mute`). Who started
  /// its node can neither end it nor hear of its end meanwhile.
  void set_isolated(const std::string& host, bool deaf, bool mute);
  bool lives(const std::string& name) const { return living(name).has_value(); }
  /// Who has this name now.
  std::optional<PeerIdentity> living(const std::string& name) const;
  /// Hears of each process as it is started and as it has ended (`exit`).
  using OnLife = std::function<void(const PeerIdentity& who, const ProcessExit* exit)>;
  void set_on_life(OnLife hook) { on_life_ = std::move(hook); }
  std::size_t processes() const { return processes_.size(); }
  /// For so many actors their nodes keep memory.
  std::size_t kept() const;
  /// Decides about each message that a process is about to send.
  using OnSend = std::function<Links::Fate(const std::string& who, const Header& header)>;
  void set_on_send(OnSend hook) { on_send_ = std::move(hook); }
  /// Every log line of every process, "name: line".
  const std::vector<std::string>& log() const { return log_; }
  /// Takes the lines in place of log().
  void set_on_log(std::function<void(const std::string& line)> hook) { on_log_ = std::move(hook); }

 private:
  class Host;
  struct Hosted;
  Result<std::int64_t> spawn(std::int64_t parent, const Bootstrap& bootstrap,
                             Spawner::Callbacks callbacks);
  Hosted* named(const std::string& name) const;
  void begin(std::int64_t pid);
  void end(std::int64_t pid, const ProcessExit& exit);
  void end_soon(std::int64_t pid, const ProcessExit& exit);
  /// For who started it, by its pid.
  void kill_from(std::int64_t parent, std::int64_t pid);

  /// An end that who started it has not heard of, on a host that is cut off.
  struct UnheardExit {
    PeerIdentity who;
    std::function<void(const ProcessExit&)> on_exit;
    ProcessExit exit;
  };

  SimLoop loop_;
  MemoryNetwork network_;
  const Registry& registry_;
  std::uint64_t seed_;
  Duration spawn_time_ = std::chrono::milliseconds(10);
  JobTime job_time_;
  RunJob run_job_;
  std::uint64_t issued_keys_ = 0;
  std::int64_t next_pid_ = 100;
  std::vector<std::string> log_;
  std::function<void(const std::string&)> on_log_;
  OnLife on_life_;
  OnSend on_send_;
  std::unique_ptr<Host> launcher_;
  std::map<std::int64_t, SimMemory> kept_;  // by the parent's pid: gone with it
  std::map<std::int64_t, std::unique_ptr<Hosted>> processes_;
  std::map<std::int64_t, UnheardExit> unheard_exits_;
};

}  // namespace sterna
