#include "launcher/hosts/slurm_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>

#include "launcher/cluster_file/placement.h"
#include "launcher/text/shell_word.h"

namespace sterna::launcher {
namespace {

constexpr std::uint64_t kBatchMegabyte = 1U << 20;
/// A minute's notice, which Slurm may give a minute early, is little of such a job.
constexpr Duration kShortestWithNotice = std::chrono::minutes(10);

/// The least number from `low` to `high` that is enough; `high` is.
std::uint64_t least(std::uint64_t low, std::uint64_t high,
                    const std::function<bool(std::uint64_t)>& enough) {
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (enough(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return high;
}

/// What the actors of all tables ask for together.
struct Sum {
  double cpus = 0;
  std::int64_t gpus = 0;
  std::uint64_t memory = 0;
};

Sum sum_of(const ClusterFile& file) {
  Sum sum;
  for (const ActorSection& table : file.tables) {
    const auto count = static_cast<std::uint64_t>(table.actors());
    sum.cpus += table.cpus * static_cast<double>(table.actors());
    sum.gpus += table.gpus * table.actors();
    for (const std::int64_t device : table.devices) sum.gpus = std::max(sum.gpus, device + 1);
    sum.memory += table.memory.count * count;
  }
  return sum;
}

/// Equal nodes with all labels that somebody asks for: which nodes have them is Slurm's to know.
std::vector<HostSection> equal_hosts(const ClusterFile& file, const HostSection& like) {
  std::vector<HostSection> hosts(static_cast<std::size_t>(file.cluster.nodes), like);
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    hosts[i].name = fmt::format("node{}", i);
    for (const ActorSection& table : file.tables) {
      hosts[i].labels.insert(hosts[i].labels.end(), table.labels.begin(), table.labels.end());
    }
  }
  return hosts;
}

/// Of a file's name Slurm takes %j, %a and others for what it knows of the job, and %% for a %.
std::string as_slurm_pattern(std::string_view path) {
  std::string pattern;
  for (const char c : path) pattern += c == '%' ? std::string("%%") : std::string(1, c);
  return pattern;
}

}  // namespace

Result<SlurmRequest> slurm_request(const ClusterFile& file) {
  const Sum sum = sum_of(file);
  HostSection host;
  host.cpus = std::max<std::int64_t>(1, static_cast<std::int64_t>(sum.cpus + 1));
  host.gpus = sum.gpus;
  host.memory.count = sum.memory;
  const auto fits = [&](const HostSection& like) {
    return place(equal_hosts(file, like), file.tables).problems.empty();
  };
  if (!fits(host)) {
    // A node with all of it is not enough, so the reason is another.
    const Result<ClusterFile> placed = place(file, equal_hosts(file, host));
    if (!placed) return placed.error();
  }
  // One kind after the other, each with as much as possible of those still to come.
  const auto shrink = [&](std::uint64_t low, std::uint64_t high, const auto& set) {
    set(host, least(low, high, [&](std::uint64_t value) {
          HostSection tried = host;
          set(tried, value);
          return fits(tried);
        }));
  };
  shrink(0, static_cast<std::uint64_t>(host.gpus),
         [](HostSection& of, std::uint64_t value) { of.gpus = static_cast<std::int64_t>(value); });
  shrink(1, static_cast<std::uint64_t>(host.cpus),
         [](HostSection& of, std::uint64_t value) { of.cpus = static_cast<std::int64_t>(value); });
  if (sum.memory > 0) {
    shrink(1, sum.memory / kBatchMegabyte + 1,
           [](HostSection& of, std::uint64_t value) { of.memory.count = value * kBatchMegabyte; });
  }
  return SlurmRequest{file.cluster.nodes, host.cpus, host.gpus, host.memory.count / kBatchMegabyte};
}

std::string output_beside(const std::string& run_directory) { return run_directory + ".out"; }

std::string slurm_script(const ClusterFile& file, const SlurmRequest& request,
                         const SlurmScript& script) {
  std::string text = "#!/bin/sh\n";
  const auto option = [&](const std::string& words) { text += "#SBATCH " + words + "\n"; };
  option("--job-name=" + file.cluster.name);
  option(fmt::format("--nodes={}", request.nodes));
  option("--ntasks-per-node=1");
  option(fmt::format("--cpus-per-task={}", request.cpus));
  if (request.gpus > 0) option(fmt::format("--gres=gpu:{}", request.gpus));
  if (request.megabytes > 0) option(fmt::format("--mem={}M", request.megabytes));
  if (file.cluster.time > Duration::zero()) {
    const auto minutes = std::chrono::ceil<std::chrono::minutes>(file.cluster.time);
    option(fmt::format("--time={}", minutes.count()));
  }
  if (!file.cluster.partition.empty())
    option("--partition=" + quoted_for_shell(file.cluster.partition));
  option("--chdir=" + quoted_for_shell(script.folder));
  option("--output=" + quoted_for_shell(as_slurm_pattern(output_beside(script.run_directory))));
  const bool can_go_on = file.trains() && file.checkpoint.on();
  if (can_go_on && script.again > 0) {
    option("--requeue");
    option("--open-mode=append");
    // While there is time for a checkpoint and for going back into the queue.
    const bool ends_soon =
        file.cluster.time > Duration::zero() && file.cluster.time < kShortestWithNotice;
    if (!ends_soon) option("--signal=B:TERM@60");
  }
  text += "p=\n";
  for (const std::string& program : script.programs) {
    const bool at_home = program.starts_with("~/");
    text += fmt::format("[ -n \"$p\" ] || [ ! -x {0}{1} ] || p={0}{1}\n", at_home ? "~/" : "",
                        quoted_for_shell(at_home ? program.substr(2) : program));
  }
  text +=
      "p=${p:-$(command -v sterna)}\n"
      "[ -n \"$p\" ] || { echo \"there is no sterna on $(hostname): install it there, or start it "
      "from a folder that all nodes share\" >&2; exit 1; }\n"
      "# It takes this script's place, so that Slurm's signals are its own.\n"
      "exec \"$p\" run /dev/stdin --run-dir " +
      quoted_for_shell(script.run_directory);
  if (!script.data.empty()) text += " --data " + quoted_for_shell(script.data);
  // Also of none: who submits it again by hand wants it to go on.
  if (can_go_on) text += fmt::format(" --again {}", script.again);
  text += " <<'END_OF_CLUSTER_FILE'\n" + resolved(file) + "END_OF_CLUSTER_FILE\n";
  return text;
}

}  // namespace sterna::launcher
