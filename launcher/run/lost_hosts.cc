#include "launcher/run/lost_hosts.h"

#include <fmt/format.h>

#include <algorithm>

#include "launcher/cluster_file/placement.h"
#include "launcher/hosts/host_plan.h"
#include "launcher/hosts/host_shell.h"

namespace sterna::launcher {
namespace {

/// A host that lives has answered by then.
constexpr Duration kAnswersWithin = std::chrono::seconds(4);

bool is_gone(const std::vector<std::string>& gone, const std::string& host) {
  return std::ranges::find(gone, host) != gone.end();
}

}  // namespace

std::vector<std::string> hosts_without_answer(RealMachine& machine, const ClusterFile& file,
                                              const std::vector<std::string>& lost,
                                              const std::function<bool()>& stop) {
  std::vector<std::string> gone;
  std::vector<ShellQuestion> questions;
  for (const HostSection& host : file.hosts) {
    if (!is_gone(lost, host.name) || !is_remote(file, host) || &host == head_of(file)) continue;
    if (host.ssh.empty()) {
      gone.push_back(host.name);
    } else {
      questions.push_back({host.name, host.ssh, "exit 0"});
    }
  }
  const std::vector<ShellAnswer> answers = ask_shells(machine, questions, kAnswersWithin, stop);
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const auto& exit = answers[i].exit;
    if (!exit || !exit->clean()) gone.push_back(questions[i].host);
  }
  return gone;
}

Result<ClusterFile> without_hosts(const ClusterFile& file, const std::vector<std::string>& gone) {
  ClusterFile left = file;
  for (HostSection& host : left.hosts) host.spare = host.spare || is_gone(gone, host.name);
  for (const ActorSection& table : left.tables) {
    const bool has_none = std::ranges::all_of(table.hosts, [&](const std::string& name) {
      const auto host = std::ranges::find(left.hosts, name, &HostSection::name);
      return host == left.hosts.end() || host->spare;
    });
    if (!table.hosts.empty() && has_none) {
      return Error{Errc::invalid_argument,
                   fmt::format("hosts = [\"{}\"] of an [[actor]] with the role {} names no other",
                               table.hosts.front(), facts_of(table.plays()).name)};
    }
  }
  std::vector<HostSection> hosts = left.hosts;
  Result<ClusterFile> placed = place(left, hosts);
  if (!placed) {
    for (HostSection& host : hosts) host.cpus = 0;
    placed = place(left, std::move(hosts));
  }
  if (!placed) return placed;
  left.actors = std::move(placed->actors);
  return left;
}

ClusterFile with_added(ClusterFile file, const std::vector<std::string>& added) {
  for (HostSection& host : file.hosts) {
    if (std::ranges::find(added, host.name) != added.end()) host.spare = false;
  }
  return file;
}

}  // namespace sterna::launcher
