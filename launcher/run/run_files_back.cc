#include "launcher/run/run_files_back.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "launcher/hosts/host_plan.h"
#include "launcher/run/job_plan.h"
#include "runtime/trace/trace_file.h"

namespace sterna::launcher {
namespace {

/// Of one log; the rest stays on its host.
constexpr std::uint64_t kMostOfALog = 16ULL << 20;
constexpr std::uint64_t kMostOfATrace = 4ULL << 30;
constexpr std::uint64_t kMostOfWeights = 4ULL << 30;

Result<void> fetch(Cluster& cluster, ProcessId of, const std::string& name, const std::string& to,
                   std::uint64_t most, const std::function<bool()>& give_up) {
  if (give_up()) return Error{Errc::cancelled, "there was no time left"};
  std::ofstream file(to, std::ios::binary | std::ios::app);
  for (std::uint64_t offset = 0; offset < most;) {
    if (give_up()) return Error{Errc::cancelled, "there was no time for all of " + name};
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

/// A trace that was not full yet has no older part.
bool has_file(Cluster& cluster, ProcessId of, const std::string& name) {
  return cluster.read_file({of, name, 0, 1}).ok();
}

}  // namespace

std::vector<std::string> fetch_files(Cluster& cluster, const JobOptions& options, bool finished,
                                     const std::function<bool()>& give_up) {
  const HostSection* head = head_of(options.file);
  std::vector<std::string> left;
  for (const HostSection& host : options.file.hosts) {
    if (!is_remote(options.file, host) || &host == head) continue;
    const auto node = cluster.process_of("node-" + host.name);
    if (!node) continue;
    std::optional<Error> first_error;
    const auto bring = [&](const std::string& name, const std::string& to, std::uint64_t most) {
      // A host that does not answer once is not asked for each of its files.
      if (first_error) return;
      const Result<void> done = fetch(cluster, *node, name, to, most, give_up);
      if (!done) first_error = done.error();
    };
    const auto bring_log = [&](const std::string& name) {
      if (options.log_directory.empty()) return;
      bring(name + ".log", options.log_directory + "/" + name + ".log", kMostOfALog);
    };
    const auto bring_trace = [&](const ActorPlan& actor) {
      const bool traced = actor.role != Role::kEvaluator && !options.file.trace.steps.empty();
      if (!traced || options.log_directory.empty()) return;
      for (const std::string_view ending : {kOldTraceEnding, kTraceEnding}) {
        const std::string name = actor.name + std::string(ending);
        if (!first_error && has_file(cluster, *node, name)) {
          bring(name, options.log_directory + "/" + name, kMostOfATrace);
        }
      }
    };
    bring_log("node-" + host.name);
    for (const ActorPlan& actor : options.file.actors) {
      if (actor.host != host.name && cluster.host_of(actor.name) != host.name) continue;
      bring_log(actor.name);
      bring_trace(actor);
      // Where it was before it moved it may have left some, too.
      const bool is_here = cluster.host_of(actor.name) == host.name;
      if (finished && is_here && actor.role == Role::kEvaluator && !options.weights.empty()) {
        std::error_code ignored;
        std::filesystem::remove(options.weights, ignored);  // of an evaluator or a run before
        bring(kRemoteWeights, options.weights, kMostOfWeights);
      }
    }
    if (first_error) {
      left.push_back(fmt::format("the logs of {} stay there, in {}: {}", host.name,
                                 remote_folder(host, options.id), first_error->message));
    }
  }
  return left;
}

}  // namespace sterna::launcher
