#include "launcher/cluster_file/placement_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "launcher/text/text_format.h"
#include "launcher/text/text_table.h"
#include "runtime/base/byte_size.h"

namespace sterna::launcher {
namespace {

/// Of the cell that lists a host's actors, in columns.
constexpr std::size_t kActorsWidth = 60;

/// "worker0 (ranks 0-3, gpu 1)"
std::string actor_text(const ActorPlan& actor) {
  std::vector<std::string> notes;
  if (actor.ranks == 1) notes.push_back(fmt::format("rank {}", actor.first_rank));
  if (actor.ranks > 1) {
    notes.push_back(
        fmt::format("ranks {}-{}", actor.first_rank, actor.first_rank + actor.ranks - 1));
  }
  if (actor.shards > 0) notes.push_back(fmt::format("shard {} of {}", actor.shard, actor.shards));
  if (!actor.devices.empty()) {
    notes.push_back(fmt::format("gpu{} {}", actor.devices.size() == 1 ? "" : "s",
                                fmt::join(actor.devices, "+")));
  }
  if (notes.empty()) return actor.name;
  return fmt::format("{} ({})", actor.name, fmt::join(notes, "; "));
}

/// "3 of 8", "3" of an unknown number, "-" where there is nothing to say.
template <class Number>
std::string part_of(Number used, std::int64_t all) {
  if (all > 0) return fmt::format("{} of {}", used, all);
  return used > 0 ? fmt::format("{}", used) : "-";
}

std::string memory_text(const HostUse& use) {
  const std::uint64_t all = use.host.memory.count;
  const std::string used = use.memory == 0 ? "0" : byte_size_text(use.memory);
  if (all > 0) return fmt::format("{} of {}", used, byte_size_text(all));
  return use.memory > 0 ? used : "-";
}

std::string ports_text(const ClusterFile& file, const HostUse& use) {
  if (use.ports == 0) return "-";
  const std::optional<PortRange>& ports = file.cluster.ports;
  if (!ports) return fmt::format("{}, any", use.ports);
  return fmt::format("{} of {}-{}", use.ports, ports->low, ports->high);
}

std::string asked_for(const ClusterFile& file) {
  double cpus = 0;
  std::int64_t gpus = 0;
  std::uint64_t memory = 0;
  for (const ActorSection& table : file.tables) {
    cpus += table.cpus * static_cast<double>(table.actors());
    gpus += table.gpus * table.actors();
    memory += table.memory.count * static_cast<std::uint64_t>(table.actors());
  }
  std::vector<std::string> parts;
  if (cpus > 0) parts.push_back(fmt::format("{} cpus", cpus));
  if (gpus > 0) parts.push_back(counted(gpus, "gpu"));
  if (memory > 0) parts.push_back(byte_size_text(memory) + " of memory");
  if (parts.empty()) parts.emplace_back("nothing in particular");
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::vector<HostUse> host_uses(const ClusterFile& file) {
  std::vector<HostUse> uses;
  for (const HostSection& host : file.hosts) {
    HostUse use;
    use.host = host;
    use.head = host.name == file.cluster.head;
    use.processes = processes_on(file, host);
    use.ports = file.talks_tcp() ? use.processes * kPortsPerProcess : 0;
    std::set<std::int64_t> devices;
    for (const ActorPlan& actor : file.actors) {
      if (actor.host != host.name) continue;
      use.cpus += actor.cpus;
      use.memory += actor.memory;
      devices.insert(actor.devices.begin(), actor.devices.end());
      use.actors.push_back(actor);
    }
    use.gpus = static_cast<std::int64_t>(devices.size());
    uses.push_back(std::move(use));
  }
  return uses;
}

std::string summary(const ClusterFile& file) {
  if (file.trains()) {
    const std::int64_t shards = file.shards();
    const auto have = [&](Role role) { return counted(file.count(role), facts_of(role).words); };
    const bool within = file.gradient.exchange == actors::ExchangeRule::nccl;
    const bool paired = std::ranges::any_of(file.actors, &ActorPlan::replica);
    return fmt::format(
        "{}{}, {} with {}, {}{}, {}; {} of {}",
        within ? "no parameter server" : have(Role::kParameterServer),
        !paired                                   ? ""
        : file.count(Role::kParameterServer) == 1 ? " with a replica"
                                                  : " with a replica each",
        have(Role::kWorker), counted(file.ranks(), "rank"), have(Role::kInputReader),
        shards > 0 ? " with " + counted(shards, "shard") : "", have(Role::kEvaluator),
        file.job.epochs > 0
            ? fmt::format("{} epoch{}", file.job.epochs, file.job.epochs == 1 ? "" : "s")
            : counted(static_cast<std::int64_t>(file.job.steps), "step"),
        file.job.net);
  }
  std::vector<std::pair<std::string, std::int64_t>> types;
  for (const ActorPlan& actor : file.actors) {
    const auto known = std::find_if(types.begin(), types.end(),
                                    [&](const auto& type) { return type.first == actor.type; });
    if (known == types.end()) {
      types.emplace_back(actor.type, 1);
    } else {
      ++known->second;
    }
  }
  std::vector<std::string> parts;
  parts.reserve(types.size());
  for (const auto& [type, count] : types) parts.push_back(fmt::format("{} {}", count, type));
  return fmt::format(
      "{} of {}: {}", counted(static_cast<std::int64_t>(file.actors.size()), "actor"),
      file.program.path.empty() ? "sterna itself" : file.program.path, fmt::join(parts, ", "));
}

std::vector<std::string> placement_lines(const ClusterFile& file) {
  if (!file.placed()) {
    return {
        fmt::format("The hosts come with Slurm's allocation, and the placement with them; the "
                    "actors ask for {}.",
                    asked_for(file))};
  }
  std::vector<std::vector<std::string>> rows;
  for (const HostUse& use : host_uses(file)) {
    std::vector<std::string> actors;
    for (const ActorPlan& actor : use.actors) actors.push_back(actor_text(actor));
    const HostSection& host = use.host;
    rows.push_back({host.name + (use.head     ? " (head)"
                                 : host.spare ? " (spare)"
                                              : ""),
                    host.address, host.bind == host.address ? "-" : host.bind,
                    file.cluster.placing().reached_by_ssh(host) ? host.ssh : "",
                    part_of(use.cpus, host.cpus), part_of(use.gpus, host.gpus), memory_text(use),
                    fmt::format("{}", fmt::join(host.labels, ", ")), std::to_string(use.processes),
                    ports_text(file, use), fmt::format("{}", fmt::join(actors, ", "))});
  }
  std::vector<std::string> lines = text_table({{"host"},
                                               {"address"},
                                               {"binds"},
                                               {"ssh"},
                                               {"cpus", true},
                                               {"gpus", true},
                                               {"memory", true},
                                               {"labels"},
                                               {"processes", true},
                                               {"ports"},
                                               {"actors", false, kActorsWidth}},
                                              rows);
  if (file.cluster.head.empty()) {
    lines.emplace_back("The coordinator runs on this machine, which is none of the hosts.");
  }
  return lines;
}

}  // namespace sterna::launcher
