// The cluster file: a TOML file that says which actors run where and what they train.
//
// Reading ends in plain structs with every default filled in; no TOML type leaves the .cc files.
// The keys, their ranges and their documentation are the tables in launcher/cluster_file/keys.cc
// and actors/job/sections.cc.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "actors/job/sections.h"
#include "launcher/cluster_file/placer.h"
#include "launcher/cluster_file/role.h"
#include "runtime/base/clock.h"
#include "runtime/base/result.h"
#include "runtime/base/value.h"
#include "runtime/cluster/cluster_messages.h"

namespace sterna::launcher {

/// [cluster]: the processes' life and how they reach each other.
struct ClusterSection {
  std::string name;  ///< default: the file's name without ".toml"
  /// The host of the coordinator. Empty: the machine that the command runs on, which is no host of
  /// the file (every one has an `ssh`), or with Slurm the first host of the allocation to come.
  std::string head;
  std::string placer = std::string(placer_traits("").name);
  std::string security = "curve";  ///< "curve" or "none", for tcp
  std::string transport = "ipc";   ///< "ipc", "tcp", or "mixed": ipc within a host, else tcp
  std::optional<PortRange> ports;  ///< none: any free port
  Duration heartbeat = std::chrono::milliseconds(500);
  Duration silence = std::chrono::seconds(5);
  Duration link_patience = std::chrono::seconds(30);
  ByteRate slow_link = {};  ///< of a slower one, with more to send, is told
  /// "move": its actors are started again on others; "wait": they are not, until it is there again.
  std::string lost_host = "move";
  Duration lease = std::chrono::seconds(10);
  std::int64_t coordinator_restarts = 5;  ///< of the coordinator in any 10 minutes
  Duration grace = std::chrono::seconds(3);
  std::int64_t nodes = 1;  ///< of the allocation that `up` asks Slurm for
  Duration time{};         ///< ... and how long it may run; 0: as long as the partition lets it
  std::string partition;   ///< ... and where; empty: Slurm's default
  const PlacerTraits& placing() const { return placer_traits(placer); }
  bool operator==(const ClusterSection&) const = default;
};

/// One [[host]].
struct HostSection {
  std::string name = "localhost";
  std::string address;    ///< after reading never empty: `ssh`'s host, else 127.0.0.1
  std::string bind = {};  ///< after reading never empty: default is the address
  std::string ssh = {};   ///< what `ssh` is told to connect to; empty: this machine
  std::int64_t cpus = 0;  ///< 0: unknown, any number can be asked for
  std::int64_t gpus = 0;  ///< its GPUs are 0 … gpus - 1
  ByteCount memory = {};  ///< for actors that ask for some
  std::vector<std::string> labels = {};
  std::string data = {};  ///< the data set's folder there; empty: [data] dir
  std::string work = "~/.cache/sterna";
  std::map<std::string, std::string> env = {};
  std::vector<std::string> cuda = {};  ///< folders of NVIDIA's libraries, looked at first
  bool spare = false;                  ///< none of the run's until `sterna add`
  bool operator==(const HostSection&) const = default;
};

/// The styles of [log].
inline constexpr const char* kOwnLog = "sterna";
inline constexpr const char* kSchlagLog = "schlag";
inline constexpr const char* kTerngradLog = "terngrad";

/// [log]: how `sterna run` shows a run, where the head is the machine that it runs on.
struct LogSection {
  std::string style = kOwnLog;
  bool operator==(const LogSection&) const = default;
};

/// [metrics]: who may read what a run is at this moment.
struct MetricsSection {
  std::string prometheus = {};  ///< "ADDRESS:PORT", on the machine that owns the run; empty: nobody
  std::uint64_t series = 5000;  ///< of one answer, at most
  bool operator==(const MetricsSection&) const = default;
};

/// One [[inject.fault]]: what the launcher does to an actor, to see what the run does about it.
struct FaultSection {
  std::uint64_t at_step = 0;  ///< once all workers have done so many
  std::string actor;          ///< its name
  std::string kind;           ///< of fault_kinds()
  Duration lasts{};           ///< 0 of a "stop": for good
  Duration by{};              ///< of a "delay"; 0: kUsualDelay
  bool operator==(const FaultSection&) const = default;
};

/// [chaos]: whether `sterna chaos` may do that too, at moments of its own.
struct ChaosSection {
  bool allow = false;
  bool operator==(const ChaosSection&) const = default;
};

/// [program]: what is shipped and becomes node agent, coordinator and actors.
struct ProgramSection {
  std::string path;  ///< empty: sterna itself
  std::vector<std::string>
      done_when;  ///< actors' names, or their tables' names or types; none: all
  bool operator==(const ProgramSection&) const = default;
};

/// One [[actor]] table as written: `count` actors, and where they want to be. They ask either for
/// hosts by name, or for resources, or for nothing; then all hosts are used in turn.
struct ActorSection {
  std::string role;  ///< of the training roles; empty where `type` is given
  std::string type;  ///< of the program's actor types; empty where `role` is given
  std::int64_t count = 1;
  std::string name;
  JsonObject args;  ///< for `type`
  std::vector<std::string> hosts;
  double cpus = 0;
  std::int64_t gpus = 0;
  ByteCount memory;
  std::vector<std::string> labels;
  std::string policy = "spread";  ///< "pack" or "spread"
  std::vector<std::int64_t> devices;
  std::string backend;  ///< one of actors::compute_backends(); empty: see computes_on()
  std::int64_t ranks = 1;
  std::int64_t shards = 0;    ///< of input readers: each holds one of so many parts; 0: all
  std::int64_t replicas = 0;  ///< of servers: so many more hold what each does
  std::int64_t restart = -1;  ///< as RestartBudget's `times`; -1: as its role says
  Duration within = RestartBudget().within;
  Duration backoff = RestartBudget().backoff;

  Role plays() const { return role_named(role); }
  RestartBudget restarts() const {
    const std::int64_t times = restart < 0 ? facts_of(plays()).restarts : restart;
    return {static_cast<std::uint32_t>(times), within, backoff};
  }
  /// What its actors compute on. Where nobody says so: GPUs, if they have some.
  std::string computes_on() const {
    if (!backend.empty()) return backend;
    const bool has_gpus = gpus > 0 || !devices.empty();
    return has_gpus && facts_of(plays()).computes ? "cuda" : "cpu";
  }
  /// Of which it makes so many; those of `count` first, then their replicas in the same order.
  std::int64_t actors() const { return count * (1 + replicas); }
  bool asks_for_resources() const {
    return hosts.empty() && (cpus > 0 || gpus > 0 || memory.count > 0 || !labels.empty());
  }
  bool operator==(const ActorSection&) const = default;
};

/// One actor of the run: [[actor]] tables with a count come out as that many of these, in order,
/// and their replicas behind them.
struct ActorPlan {
  std::string name;  ///< unique in the run
  Role role = Role::kNone;
  std::string host;             ///< a HostSection's name; empty until hosts are known
  std::int64_t ranks = 0;       ///< of a worker: how many ranks it hosts; 0 for other roles
  std::int64_t first_rank = 0;  ///< of a worker: it hosts [first_rank, first_rank + ranks)
  std::string backend = "cpu";  ///< of a worker or an evaluator: what it computes on
  std::string type = {};        ///< a type of the program; empty where there is a role
  std::string args_json = {};   ///< a JSON object, where there is a type
  double cpus = 0;              ///< asked for; 0: nothing
  /// The GPUs of its host that it may use, by index; empty: none of them. Where no host declares
  /// GPUs, nobody's view of them is restricted, and a worker's are numbers of those that it sees.
  std::vector<std::int64_t> devices = {};
  std::uint64_t memory = 0;  ///< bytes; a process that takes more is ended; 0: no limit
  /// Of an input reader: it holds part `shard` of so many of the training examples; 0: all of them.
  std::int64_t shards = 0;
  std::int64_t shard = 0;
  RestartBudget restarts = {};
  std::string partner = {};  ///< of a server: who holds the same; empty: nobody does
  bool replica = false;      ///< of the two the one that the other's table made besides it
  bool operator==(const ActorPlan&) const = default;
};

using actors::DataSection;
using actors::DeadlinesSection;
using actors::EvaluationSection;
using actors::GradientSection;
using actors::JobSection;
using actors::OptimizerSection;

/// A whole cluster file, valid and complete.
struct ClusterFile : actors::JobSections {
  std::int64_t format = 1;
  ClusterSection cluster;
  ProgramSection program;
  LogSection log;
  MetricsSection metrics;
  std::vector<HostSection> hosts;    ///< none with Slurm, until its allocation is there
  std::vector<ActorSection> tables;  ///< [[actor]] as written; `actors` is made from them
  std::vector<ActorPlan> actors;
  JobSection job;
  DeadlinesSection deadlines;
  std::vector<FaultSection> faults;
  ChaosSection chaos;

  /// Whether its actors train ([job] and what belongs to it count), or are a program's own types.
  bool trains() const;
  /// Whether every actor has its host; else launcher/cluster_file/placement.h does that when hosts
  /// are known.
  bool placed() const;
  /// Whether some host declares GPUs: then every process sees its own `devices` and no others.
  bool manages_gpus() const;
  /// Whether its processes talk tcp: always where a host is another machine, else where it is told
  /// to.
  bool talks_tcp() const;
  /// Ranks of all workers together.
  std::int64_t ranks() const;
  /// In how many shards the input readers hold the training examples; 0: each holds all.
  std::int64_t shards() const;
  /// How many actors have this role, without replicas.
  std::int64_t count(Role role) const;
  /// The names of its actors that have this role, without replicas.
  std::vector<std::string> names_of(Role role) const;
  /// Those who have the parameters: the servers, or the worker that needs none.
  std::vector<std::string> names_of_servers() const;
  /// The names of the actors of its program whose ends end the run; in the file's order.
  std::vector<std::string> awaited() const;
  bool operator==(const ClusterFile&) const = default;
};

/// For each process one port of its control lane and one of its data lane.
constexpr std::int64_t kPortsPerProcess = 2;

/// The processes that this host has to run: its actors, its node agent, and on the head the
/// coordinator and the launcher's own.
std::int64_t processes_on(const ClusterFile& file, const HostSection& host);

/// Whether an actor on this host wants the data set's files.
bool reads_data(const ClusterFile& file, const HostSection& host);

/// Reads and checks `path`, then applies `overrides` ("gradient.codec=none",
/// "actor.worker.count=4", "host.0.address=127.0.0.1"; the value in TOML syntax, a bare word taken
/// as text). No host is contacted.
///
/// An error's message has one line per mistake, in the order of the file, each
/// "PATH:LINE: what is wrong; what to do". Code invalid_argument, not_found, permission or io.
Result<ClusterFile> read_cluster_file(const std::string& path,
                                      std::span<const std::string> overrides = {});

/// The same of a file's text; `path` is what messages call it.
Result<ClusterFile> parse_cluster_file(const std::string& text, const std::string& path,
                                       std::span<const std::string> overrides = {});

/// What it may say and its author hardly means, each in a line.
std::vector<std::string> doubtful_lines(const ClusterFile& file);

/// TOML text of `file` with every key explicit; reading it gives an equal ClusterFile.
std::string resolved(const ClusterFile& file);

}  // namespace sterna::launcher
