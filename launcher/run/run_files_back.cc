#include "launcher/run/run_files_back.h"

#include <fmt/format.h>

#include <fstream>

#include "launcher/hosts/host_plan.h"
#include "launcher/run/job_plan.h"

namespace sterna::launcher {
namespace {

/// Of one log; the rest stays on its host.
constexpr std::uint64_t kMostOfALog = 16ULL << 20;
constexpr std::uint64_t kMostOfWeights = 4ULL << 30;

Result<void> fetch(Cluster& cluster, ProcessId of, const std::string& name, const std::string& to,
                   std::uint64_t most) {
  std::ofstream file(to, std::ios::binary | std::ios::app);
  for (std::uint64_t offset = 0; offset < most;) {
    STERNA_ASSIGN(const FilePiece piece, cluster.read_file({of, name, offset}));
    if (piece.bytes.empty()) break;
    file.write(reinterpret_cast<const char*>(piece.bytes.data()),
               static_cast<std::streamsize>(piece.bytes.size()));
    offset += piece.bytes.size();
  }
  file.close();
  if (!file) return Error{Errc::io, "cannot write " + to};
  return {};
}

}  // namespace

void fetch_files(Cluster& cluster, const JobOptions& options, RunStatus& status) {
  const HostSection* head = head_of(options.file);
  const auto bring = [&](ProcessId of, const std::string& name, const std::string& to,
                         std::uint64_t most) {
    if (const Result<void> done = fetch(cluster, of, name, to, most); !done) {
      status.log_lines.push_back(
          fmt::format("{} stays where it is: {}", name, done.error().message));
    }
  };
  for (const HostSection& host : options.file.hosts) {
    if (!is_remote(options.file, host) || &host == head) continue;
    const auto node = cluster.process_of("node-" + host.name);
    if (node && !options.log_directory.empty()) {
      const std::string name = "node-" + host.name + ".log";
      bring(*node, name, options.log_directory + "/" + name, kMostOfALog);
    }
    for (const ActorPlan& actor : options.file.actors) {
      if (actor.host != host.name || !node) continue;
      if (!options.log_directory.empty()) {
        const std::string name = actor.name + ".log";
        bring(*node, name, options.log_directory + "/" + name, kMostOfALog);
      }
      if (actor.role == Role::kEvaluator && !options.weights.empty()) {
        bring(*node, kRemoteWeights, options.weights, kMostOfWeights);
      }
    }
  }
}

}  // namespace sterna::launcher
