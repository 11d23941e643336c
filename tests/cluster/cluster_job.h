// A small job over several hosts, and what a test needs to run it there: the bundle, few digits,
// the cluster file's text.
#pragma once

#include <string>

#include "tests/cluster/cluster_hosts.h"

namespace sterna::test {

/// LeNet over 2 servers, 4 workers, 2 readers and an evaluator that ask for cpus; `cluster` are
/// further lines of [cluster] and whatever tables follow. With kForEver steps they begin a tenth of
/// a second apart, as nobody waits for them and others need the processors.
inline constexpr int kForEver = 1000000;
std::string job_by_resources(int steps, const std::string& cluster);

/// Where a host has its things.
inline const std::string kHostFolder = "/var/tmp/job";

/// Lays the program that was built into kHostFolder/bundle of the host, and the drawn digits into
/// kHostFolder/digits.
void bring_program(const ClusterHosts& hosts, const std::string& host);
void bring_digits(const ClusterHosts& hosts, const std::string& host);
/// Writes kHostFolder/NAME on the host.
void bring_text(const ClusterHosts& hosts, const std::string& host, const std::string& name,
                const std::string& text);
/// The whole of a file there; "" where there is none.
std::string text_on(const ClusterHosts& hosts, const std::string& host, const std::string& path);
/// The folder that `cmake --build … --target bundle` made.
std::string bundle_folder();
/// That it wrote a line of its first step on the host.
bool trains_on(const ClusterHosts& hosts, const std::string& host,
               const std::string& run_directory);

}  // namespace sterna::test
