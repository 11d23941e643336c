#include "launcher/hosts/slurm_commands.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <sstream>

#include "launcher/cluster_file/placement.h"
#include "launcher/hosts/slurm.h"
#include "launcher/text/environment.h"
#include "runtime/host/piped_process.h"

namespace sterna::launcher {
namespace {

/// A controller that is busy takes seconds; its own commands give up after about so long.
constexpr Duration kPatience = std::chrono::seconds(30);

/// The numbers of an address: names of nodes need not mean the same everywhere.
Result<std::string> numeric(const std::string& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int code = ::getaddrinfo(address.c_str(), nullptr, &hints, &found); code != 0) {
    return Error{Errc::not_found, fmt::format("nobody knows the address {} of Slurm's node: {}",
                                              address, ::gai_strerror(code))};
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  std::array<char, NI_MAXHOST> text{};
  if (::getnameinfo(found->ai_addr, found->ai_addrlen, text.data(), text.size(), nullptr, 0,
                    NI_NUMERICHOST) != 0) {
    return Error{Errc::not_found, "nobody knows the address " + address};
  }
  return std::string(text.data());
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace

Result<std::string> output_of(RealMachine& machine, const std::vector<std::string>& command) {
  std::string output;
  std::string errors;
  std::optional<ProcessExit> exit;
  PipedProcess::Events events;
  events.output = [&](std::string_view bytes) { output += bytes; };
  events.errors = [&](std::string_view bytes) { errors += bytes; };
  events.exited = [&](const ProcessExit& how) { exit = how; };
  STERNA_ASSIGN(const auto process,
                PipedProcess::start(machine.loop(), command, std::move(events)));
  process->close_input();
  machine.loop().run_until([&] { return exit.has_value(); }, machine.loop().now() + kPatience);
  if (!exit) return Error{Errc::deadline, command.front() + " does not answer"};
  if (!exit->clean()) {
    const std::string why = last_line(errors);
    return Error{Errc::unavailable,
                 why.empty() ? fmt::format("{} {}", command.front(), exit->text()) : why};
  }
  while (!output.empty() && output.back() == '\n') output.pop_back();
  return output;
}

bool SlurmJob::over() const {
  constexpr std::array<std::string_view, 10> kOver = {
      "",       "BOOT_FAIL", "CANCELLED",     "COMPLETED", "DEADLINE",
      "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "TIMEOUT"};
  return std::find(kOver.begin(), kOver.end(), state) != kOver.end();
}

std::string slurm_words(const std::string& id, const SlurmJob& job) {
  std::string word = job.state;
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (job.state == "PENDING") return fmt::format("job {} waits in the queue: {}", id, job.reason);
  if (job.state.empty()) return fmt::format("job {} is over; Slurm has forgotten it", id);
  if (job.reason == "JobLaunchFailure" && job.over()) {
    return fmt::format(
        "job {} is over: {} after {}: a node could not begin it, as where the folder that its "
        "output goes to is not on that node, too",
        id, word, job.elapsed);
  }
  if (job.over()) return fmt::format("job {} is over: {} after {}", id, word, job.elapsed);
  return fmt::format("job {} is {} on {} since {}", id, word, job.nodes, job.elapsed);
}

Result<SlurmJob> slurm_job(RealMachine& machine, const std::string& job) {
  Result<std::string> line = output_of(
      machine, {"squeue", "--noheader", "--states=all", "--jobs=" + job, "--format=%T|%r|%M|%N"});
  if (!line) {
    // Some minutes after its end.
    if (line.error().message.find("Invalid job id") != std::string::npos) return SlurmJob{};
    return std::move(line).error();
  }
  std::array<std::string, 4> words;
  std::istringstream text(*line);
  for (std::string& word : words) std::getline(text, word, '|');
  return SlurmJob{words[0], words[1], words[2], words[3]};
}

Result<ClusterFile> on_allocation(RealMachine& machine, ClusterFile file) {
  const std::optional<SlurmAllocation> allocation = slurm_allocation(environment);
  if (!allocation) {
    return Error{Errc::invalid_argument,
                 "placer = \"slurm\", and this is no allocation of Slurm's: `sterna up FILE` "
                 "submits a job that runs the file, or write `sterna run FILE` into a batch script "
                 "of your own"};
  }
  STERNA_ASSIGN(const std::string listed,
                output_of(machine, {"scontrol", "show", "hostnames", allocation->nodes}));
  STERNA_ASSIGN(const std::string shown,
                output_of(machine, {"scontrol", "show", "node", allocation->nodes, "--oneliner"}));
  std::vector<std::string> names;
  std::istringstream lines(listed);
  for (std::string line; std::getline(lines, line);) names.push_back(line);
  STERNA_ASSIGN(std::vector<HostSection> hosts,
                slurm_hosts(*allocation, names, parse_slurm_nodes(shown)));
  for (HostSection& host : hosts) {
    STERNA_ASSIGN(host.address, numeric(host.address));
    host.bind = host.address;
  }
  STERNA_ASSIGN(ClusterFile placed, place(std::move(file), std::move(hosts)));
  placed.cluster.head = allocation->this_node;
  return placed;
}

}  // namespace sterna::launcher
