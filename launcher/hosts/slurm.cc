#include "launcher/hosts/slurm.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

namespace sterna::launcher {
namespace {

constexpr std::uint64_t kMegabyte = 1U << 20;  // Slurm's

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stopped != end || value < 0) return std::nullopt;
  return value;
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(at), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

}  // namespace

std::optional<SlurmAllocation> slurm_allocation(
    const std::function<std::optional<std::string>(const char*)>& environment) {
  const auto text = [&](const char* name) { return environment(name).value_or(""); };
  SlurmAllocation allocation;
  allocation.job = text("SLURM_JOB_ID");
  allocation.nodes = text("SLURM_JOB_NODELIST");
  if (allocation.job.empty() || allocation.nodes.empty()) return std::nullopt;
  allocation.this_node = text("SLURMD_NODENAME");
  allocation.cpus = text("SLURM_JOB_CPUS_PER_NODE");
  // The first is of this node; every node of a job has as many.
  if (const auto gpus = number(text("SLURM_GPUS_ON_NODE"))) {
    allocation.gpus = *gpus;
  } else {
    allocation.gpus = static_cast<std::int64_t>(split(text("SLURM_JOB_GPUS"), ',').size());
  }
  const auto memory = number(text("SLURM_MEM_PER_NODE"));
  allocation.memory = static_cast<std::uint64_t>(memory.value_or(0)) * kMegabyte;
  return allocation;
}

Result<std::vector<std::int64_t>> unfold_counts(std::string_view text, std::size_t nodes) {
  const Error malformed{Errc::malformed,
                        fmt::format("\"{}\" says nothing of {} nodes", text, nodes)};
  std::vector<std::int64_t> counts;
  for (const std::string& part : split(text, ',')) {
    const std::string_view word(part);
    const std::size_t paren = word.find("(x");
    const auto count = number(word.substr(0, paren));
    std::optional<std::int64_t> times = 1;
    if (paren != std::string_view::npos) {
      if (!word.ends_with(')')) return malformed;
      times = number(word.substr(paren + 2, word.size() - paren - 3));
    }
    if (!count || !times || static_cast<std::size_t>(*times) > nodes - counts.size()) {
      return malformed;
    }
    counts.insert(counts.end(), static_cast<std::size_t>(*times), *count);
  }
  if (counts.size() != nodes) return malformed;
  return counts;
}

std::vector<SlurmNode> parse_slurm_nodes(std::string_view text) {
  std::vector<SlurmNode> nodes;
  for (const std::string& line : split(text, '\n')) {
    SlurmNode node;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      const std::string_view view(word);
      const std::size_t equals = view.find('=');
      if (equals == std::string_view::npos) continue;
      const std::string_view key = view.substr(0, equals);
      const std::string_view value = view.substr(equals + 1);
      if (key == "NodeName") node.name = value;
      if (key == "NodeAddr") node.address = value;
      if (key == "ActiveFeatures" && value != "(null)") node.features = split(value, ',');
    }
    if (!node.name.empty()) nodes.push_back(std::move(node));
  }
  return nodes;
}

Result<std::vector<HostSection>> slurm_hosts(const SlurmAllocation& allocation,
                                             const std::vector<std::string>& names,
                                             const std::vector<SlurmNode>& nodes) {
  STERNA_ASSIGN(const std::vector<std::int64_t> cpus, unfold_counts(allocation.cpus, names.size()));
  std::vector<HostSection> hosts;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto node = std::find_if(nodes.begin(), nodes.end(),
                                   [&](const SlurmNode& each) { return each.name == names[i]; });
    if (node == nodes.end() || node->address.empty()) {
      return Error{Errc::not_found,
                   fmt::format("Slurm says no address of its node {}; see `scontrol show node {}`",
                               names[i], names[i])};
    }
    HostSection& host = hosts.emplace_back();
    host.name = names[i];
    host.address = node->address;
    host.bind = node->address;
    host.cpus = cpus[i];
    host.gpus = allocation.gpus;
    host.memory.count = allocation.memory;
    host.labels = node->features;
  }
  return hosts;
}

std::vector<std::string> srun_command(const std::string& node) {
  // --overlap: a step must not wait for what the others of this job have. --input=0: the standard
  // input is the first task's. No place here need exist there, so it starts in /.
  return {"srun",         "--nodes=1",  "--ntasks=1",     "--nodelist=" + node,
          "--overlap",    "--mem=0",    "--input=0",      "--chdir=/",
          "--export=ALL", "--mpi=none", "--cpu-bind=none"};
}

}  // namespace sterna::launcher
