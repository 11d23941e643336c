// Which of the things that hosts say of themselves would go wrong in a run. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "launcher/cluster_file/cluster_file.h"
#include "launcher/doctor/facts.h"
#include "launcher/doctor/report.h"
#include "launcher/hosts/host_shell.h"

namespace sterna::launcher {

/// What the hosts are compared with: this machine, for which the program was built.
struct ShippedProgram {
  std::string arch;  ///< as `uname -m` says
  std::string libc;  ///< "glibc 2.36"
  std::string hash;  ///< of the bundle; empty: nothing is shipped
  std::string name;
  std::uint64_t archive_bytes = 0;
  bool has_module = false;    ///< the one for GPUs, beside the program here
  bool ships_module = false;  ///< ... in its bundle
};

FactsQuestion facts_question(const ClusterFile& file, const HostSection& host,
                             const ShippedProgram& program);

/// What is wrong with the host whose shell answered so to facts_question(). If it has said nothing
/// that counts, the connection is the only finding.
std::vector<Finding> check_host(const ClusterFile& file, const HostSection& host,
                                const ShippedProgram& program, const ShellQuestion& question,
                                const ShellAnswer& answer);

/// Whether the answer was complete: the host can take part in what comes next.
bool answered(const ShellAnswer& answer);

/// "b: what is wrong; what to do" as a finding.
Finding finding_of(const std::string& host, const std::string& check, std::string message);

/// Whether an older "glibc X.Y" than `built` runs what was built with that; false where one of them
/// is no such text.
bool older_libc(const std::string& there, const std::string& built);

}  // namespace sterna::launcher
