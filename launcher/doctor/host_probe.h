// HostProbe: a small run of our own on the hosts of a cluster file, with its ports, its addresses
// and its security, in which every host tries to reach every other.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "launcher/cluster_file/cluster_file.h"
#include "launcher/doctor/report.h"
#include "launcher/text/console.h"
#include "runtime/actor/registry.h"
#include "runtime/cluster/cluster.h"
#include "runtime/host/real_machine.h"
#include "runtime/remote/remote_session.h"

namespace sterna::launcher {

struct HostProbeOptions {
  Console console;
  ClusterFile file;     ///< with the hosts that are to take part; its actors are not started
  RemoteBundle bundle;  ///< of sterna itself
  bool bandwidth = false;
};

class HostProbe {
 public:
  /// `registry` is of sterna itself; all three must outlive it.
  HostProbe(RealMachine& machine, const Registry& registry, HostProbeOptions options,
            DoctorReport& report);
  ~HostProbe();
  HostProbe(const HostProbe&) = delete;
  HostProbe& operator=(const HostProbe&) = delete;

  /// Starts the run, probes, and ends it. What it finds goes into the report.
  void run();
  /// From a signal: run() returns soon, and leaves nothing behind.
  void interrupt();

 private:
  struct Prober;
  struct Pair {
    std::size_t from;
    std::size_t to;
  };
  void start_on_whoever_can();
  std::optional<Error> start();
  bool give_up_hosts(const Error& error);
  void probe();
  void start_probers(const std::vector<Prober*>& probers);
  void count_ports();
  void probe_pairs(const std::vector<Pair>& pairs);
  void not_reached(const HostSection& from, const HostSection& to, const std::string& why);
  void find(const std::string& host, const std::string& check, const std::string& wrong,
            const std::string& fix);
  std::string open_ports(const std::string& there, const HostSection& from) const;
  std::string range() const;
  std::int64_t least_ports() const;

  RealMachine& machine_;
  HostProbeOptions options_;
  DoctorReport& report_;
  std::string logs_;  ///< of the processes on this machine
  bool head_elsewhere_ = false;
  bool interrupted_ = false;
  const Registry& registry_;
  std::map<std::string, std::string> lost_;  ///< nodes that died, and why
  std::vector<std::string> too_far_;         ///< hosts that a coordinator here cannot have
  std::unique_ptr<Spawner> placer_;          ///< outlives the cluster
  std::optional<Cluster> cluster_;
  /// Of each host one that dials and one that is dialled; the runtime lets the first name dial.
  std::vector<std::unique_ptr<Prober>> dialling_;
  std::vector<std::unique_ptr<Prober>> dialled_;
};

}  // namespace sterna::launcher
