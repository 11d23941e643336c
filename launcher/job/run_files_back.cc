#include "launcher/job/run_files_back.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "launcher/hosts/host_plan.h"
#include "launcher/job/job_plan.h"
#include "runtime/cluster/process_control.h"
#include "runtime/trace/trace_file.h"

namespace sterna::launcher {
namespace {

/// Of one log; the rest stays on its host.
constexpr std::uint64_t kMostOfALog = 16ULL << 20;
constexpr std::uint64_t kMostOfATrace = 4ULL << 30;
constexpr std::uint64_t kMostOfWeights = 4ULL << 30;

/// Such an error is of one file; after any other its host is not asked for each of the rest.
bool is_of_one_file(Errc code) { return code == Errc::not_found || code == Errc::io; }

class FilesBackFetcher {
 public:
  FilesBackFetcher(const NodeFiles& nodes, const JobOptions& options,
                   const std::function<bool()>& give_up)
      : nodes_(nodes), options_(options), give_up_(give_up) {}

  /// Why they are not here; empty: they are, or there are none elsewhere.
  std::string weights() {
    if (options_.weights.empty()) return "";
    for (const std::string& evaluator : options_.file.names_of(Role::kEvaluator)) {
      // Where it was before it moved it may have left some, too.
      const HostSection* host = host_elsewhere(nodes_.host_of(evaluator));
      if (host == nullptr) continue;
      const Result<void> here = weights_of(*host);
      if (!here) {
        return fmt::format("the final weights stay on {}, in {}/{}: {}", host->name,
                           remote_folder(*host, options_.id), kRemoteWeights, here.error().message);
      }
    }
    return "";
  }

  /// Why some of that host's logs and traces are not here; empty: they are.
  std::string logs(const HostSection& host) {
    const auto node = nodes_.process_of(node_name(host.name));
    if (!node || options_.log_directory.empty()) return "";
    std::optional<Error> first;
    for (const auto& [name, most] : logs_on(host)) {
      const Result<std::uint64_t> left =
          fetch(*node, name, options_.log_directory + "/" + name, most);
      if (left || left.error().code == Errc::not_found) continue;
      if (!first || no_space_) first = left.error();
      if (no_space_ || !is_of_one_file(left.error().code)) break;
    }
    if (!first) return "";
    return fmt::format("the logs of {} stay there, in {}: {}", host.name,
                       remote_folder(host, options_.id), first->message);
  }

  std::vector<std::string> logs() {
    no_space_ = false;  // what there was of the weights has been removed
    std::vector<std::string> left;
    std::vector<std::string> not_tried;
    for (const HostSection& host : options_.file.hosts) {
      if (host_elsewhere(host.name) == nullptr) continue;
      if (no_space_) {
        not_tried.push_back(host.name);
      } else if (std::string line = logs(host); !line.empty()) {
        left.push_back(std::move(line));
      }
    }
    if (!not_tried.empty()) {
      left.back() += fmt::format("; those of {} are not fetched", fmt::join(not_tried, " and "));
    }
    return left;
  }

 private:
  struct LogFile {
    std::string name;
    std::uint64_t most;
  };

  /// Null: that host's files are here already.
  const HostSection* host_elsewhere(const std::string& name) const {
    const auto host = std::ranges::find(options_.file.hosts, name, &HostSection::name);
    if (host == options_.file.hosts.end() || !is_remote(options_.file, *host)) return nullptr;
    return &*host == head_of(options_.file) ? nullptr : &*host;
  }

  std::vector<LogFile> logs_on(const HostSection& host) const {
    std::vector<LogFile> files = {{node_name(host.name) + ".log", kMostOfALog}};
    for (const ActorPlan& actor : options_.file.actors) {
      if (actor.host != host.name && nodes_.host_of(actor.name) != host.name) continue;
      files.push_back({actor.name + ".log", kMostOfALog});
      if (actor.role == Role::kEvaluator || options_.file.trace.steps.empty()) continue;
      // A trace that was not full yet has no older part.
      for (const std::string_view ending : {kOldTraceEnding, kTraceEnding}) {
        files.push_back({actor.name + std::string(ending), kMostOfATrace});
      }
    }
    return files;
  }

  /// What was there before, of an evaluator or a run before, stays until all of it is here.
  Result<void> weights_of(const HostSection& host) {
    const auto node = nodes_.process_of(node_name(host.name));
    if (!node) return Error{Errc::unavailable, "its node is gone"};
    const std::string part = options_.weights + ".part";
    std::error_code failed;
    std::filesystem::remove(part, failed);
    const Result<std::uint64_t> left = fetch(*node, kRemoteWeights, part, kMostOfWeights);
    const bool whole = left && *left == 0;
    const bool empty = whole && std::filesystem::file_size(part, failed) == 0;
    if (whole && !empty && !failed) std::filesystem::rename(part, options_.weights, failed);
    const bool here = whole && !empty && !failed;
    if (here) return {};
    std::error_code ignored;
    std::filesystem::remove(part, ignored);
    if (!left) return left.error();
    if (*left > 0) return Error{Errc::overloaded, "they are larger than 4 GiB"};
    if (empty) return Error{Errc::io, "the file is empty there"};
    return Error{Errc::io, "cannot write " + options_.weights + ": " + failed.message()};
  }

  /// The bytes that stay there beyond `most`. Nothing is written of a file that is not there.
  Result<std::uint64_t> fetch(ProcessId of, const std::string& name, const std::string& to,
                              std::uint64_t most) {
    if (give_up_()) return Error{Errc::cancelled, "there was no time left"};
    STERNA_ASSIGN(FilePiece piece, nodes_.read({of, name, 0}));
    errno = 0;
    std::ofstream file(to, std::ios::binary | std::ios::app);
    std::uint64_t offset = 0;
    while (file && !piece.bytes.empty()) {
      file.write(reinterpret_cast<const char*>(piece.bytes.data()),
                 static_cast<std::streamsize>(piece.bytes.size()));
      offset += piece.bytes.size();
      if (!file.flush() || offset >= most) break;
      if (give_up_()) return Error{Errc::cancelled, "there was no time for all of " + name};
      STERNA_ASSIGN(piece, nodes_.read({of, name, offset}));
    }
    if (file) file.close();
    if (!file) {
      no_space_ = errno == ENOSPC || errno == EDQUOT;
      return system_error("cannot write " + to, errno);
    }
    return piece.size > offset ? piece.size - offset : 0;
  }

  const NodeFiles& nodes_;
  const JobOptions& options_;
  const std::function<bool()>& give_up_;
  bool no_space_ = false;  ///< here, for what was fetched last
};

}  // namespace

NodeFiles node_files_of(Cluster& cluster) {
  return {[&cluster](const std::string& name) { return cluster.process_of(name); },
          [&cluster](const std::string& actor) { return cluster.host_of(actor); },
          [&cluster](const ReadFile& question) { return cluster.read_file(question); }};
}

FilesBack fetch_files(const NodeFiles& nodes, const JobOptions& options, bool finished,
                      const std::function<bool()>& give_up) {
  FilesBackFetcher fetcher(nodes, options, give_up);
  FilesBack back;
  if (finished) back.weights_left = fetcher.weights();
  back.left = fetcher.logs();
  return back;
}

}  // namespace sterna::launcher
