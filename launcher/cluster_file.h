// The cluster file: a TOML file that says which actors run where and what they train.
//
// Reading ends in plain structs with every default filled in; no TOML type leaves the .cc files.
// The keys, their ranges and their documentation are the table in launcher/cluster_keys.cc.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

/// Ports that processes may bind, both ends included.
struct PortRange {
  std::uint16_t low = 0;
  std::uint16_t high = 0;
  bool operator==(const PortRange&) const = default;
};

/// [cluster]: the processes' life and how they reach each other.
struct ClusterSection {
  std::string name;                ///< default: the file's name without ".toml"
  std::string head;                ///< the host of the coordinator; default: the first host
  std::string security = "curve";  ///< "curve" or "none", for tcp
  std::string transport = "ipc";   ///< "ipc" or "tcp" between processes of one host
  std::optional<PortRange> ports;  ///< none: any free port
  Duration heartbeat = std::chrono::milliseconds(500);
  Duration silence = std::chrono::seconds(5);
  Duration grace = std::chrono::seconds(2);
  bool operator==(const ClusterSection&) const = default;
};

/// One [[host]].
struct HostSection {
  std::string name = "localhost";
  std::string address = "127.0.0.1";
  std::string bind;  ///< after reading never empty: default is the address
  bool operator==(const HostSection&) const = default;
};

/// One actor of the job: [[actor]] tables with a count come out as that many of these, in order.
struct ActorPlan {
  std::string name;             ///< unique in the run
  std::string role;             ///< "parameter_server", "worker", "input_reader" or "evaluator"
  std::string host;             ///< a HostSection's name
  std::int64_t ranks = 0;       ///< of a worker: how many ranks it hosts; 0 for other roles
  std::int64_t first_rank = 0;  ///< of a worker: it hosts [first_rank, first_rank + ranks)
  bool operator==(const ActorPlan&) const = default;
};

/// [job]: what is trained.
struct JobSection {
  std::string net;
  std::int64_t steps = 0;
  std::int64_t batch = 32;  ///< examples per rank and step
  std::int64_t seed = 1;
  std::int64_t threads = 1;  ///< compute threads per rank
  std::string cpu_isa = "best";
  bool operator==(const JobSection&) const = default;
};

/// [data]: where the examples come from.
struct DataSection {
  std::string name = "any";  ///< "any": the first data set found
  std::string dir;           ///< empty: $STERNA_DATA, then ~/.cache/sterna
  bool operator==(const DataSection&) const = default;
};

/// [optimizer]
struct OptimizerSection {
  std::string name = "momentum";
  double learning_rate = 0.01;
  double momentum = 0.9;
  double weight_decay = 0.0005;
  std::string schedule = "fixed";
  std::string decay_at = "worker";
  double decay_factor = 0.1;
  double epochs_per_decay = 20;
  bool operator==(const OptimizerSection&) const = default;
};

/// [gradient]: what travels up.
struct GradientSection {
  std::string codec = "ternary";
  double clip = 2.5;          ///< scaler = clip·σ; 0: the largest magnitude
  std::int64_t min_size = 1;  ///< smaller tensors stay fp32
  bool logits = true;         ///< whether the last layer is ternarized too
  bool operator==(const GradientSection&) const = default;
};

/// [evaluator]
struct EvaluationSection {
  std::int64_t every = 250;      ///< steps between evaluations; 0: only at the end
  std::int64_t examples = 2000;  ///< size of the subset while training goes on
  std::int64_t batch = 100;
  bool operator==(const EvaluationSection&) const = default;
};

/// [deadlines]
struct DeadlinesSection {
  Duration start = std::chrono::seconds(30);
  Duration step = std::chrono::seconds(30);
  bool operator==(const DeadlinesSection&) const = default;
};

/// A whole cluster file, valid and complete.
struct ClusterFile {
  std::int64_t format = 1;
  ClusterSection cluster;
  std::vector<HostSection> hosts;
  std::vector<ActorPlan> actors;
  JobSection job;
  DataSection data;
  OptimizerSection optimizer;
  GradientSection gradient;
  EvaluationSection evaluation;
  DeadlinesSection deadlines;

  /// Ranks of all workers together.
  std::int64_t ranks() const;
  /// How many actors have this role.
  std::int64_t count(std::string_view role) const;
  bool operator==(const ClusterFile&) const = default;
};

/// Reads and checks `path`, then applies `overrides` ("gradient.codec=none",
/// "actor.worker.count=4", "host.0.address=127.0.0.1"; the value in TOML syntax, a bare word taken
/// as text).
///
/// An error's message has one line per mistake, in the order of the file, each
/// "PATH:LINE: what is wrong; what to do". Code invalid_argument, not_found, permission or io.
Result<ClusterFile> read_cluster_file(const std::string& path,
                                      std::span<const std::string> overrides = {});

/// TOML text of `file` with every key explicit; reading it gives an equal ClusterFile.
std::string resolved(const ClusterFile& file);

}  // namespace sterna::launcher
