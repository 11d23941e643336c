#include "launcher/past/runs_on_hosts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "runtime/cluster/process_control.h"

namespace sterna::launcher {
namespace {

/// From a process's log: RUN_DIRECTORY/logs/NAME.log where the head is, and elsewhere
/// WORK/runs/ID-XXXXXXXX/NAME.log (launcher/run/whole_run.cc).
std::string id_of_log(const std::string& log) {
  const std::filesystem::path folder = std::filesystem::path(log).parent_path();
  if (folder.filename() == "logs") return folder.parent_path().filename().string();
  if (folder.parent_path().filename() != "runs") return "";
  const std::string name = folder.filename().string();
  const std::size_t dash = name.rfind('-');
  return dash == std::string::npos ? "" : name.substr(0, dash);
}

/// Of a run directory that is called after the run and its time (launcher/record/run_directory.cc);
/// else "".
std::string name_of_id(const std::string& id) {
  std::string shape = id;
  std::ranges::replace_if(
      shape, [](char c) { return c >= '0' && c <= '9'; }, '0');
  const std::size_t stamp = shape.rfind("-00000000T000000Z");
  return stamp == std::string::npos ? "" : id.substr(0, stamp);
}

}  // namespace

std::vector<RunOnHosts> runs_on_hosts(const std::vector<HostProcess>& processes,
                                      const std::vector<RunState>& remembered) {
  std::map<std::string, RunOnHosts> runs;
  for (const HostProcess& process : processes) {
    RunOnHosts& run = runs[process.run];
    run.run = process.run;
    if (process.name == node_name(process.host)) run.hosts.insert(process.host);
    if (run.id.empty()) run.id = id_of_log(process.log);
    if (process.keeps) run.name = process.name;
  }
  for (const RunState& state : remembered) {
    const auto found = runs.find(fmt::format("{:016x}", state.run));
    if (found == runs.end()) continue;
    found->second.id = state.id;
    found->second.name = state.name;
  }
  std::vector<RunOnHosts> with_nodes;
  for (auto& [hex, run] : runs) {
    if (run.hosts.empty()) continue;
    if (run.name.empty()) run.name = name_of_id(run.id);
    with_nodes.push_back(std::move(run));
  }
  return with_nodes;
}

Result<RunOnHosts> find_on_hosts(const std::vector<RunOnHosts>& runs, const std::string& word) {
  std::vector<RunOnHosts> meant;
  for (const RunOnHosts& run : runs) {
    if (run.run == word) return run;
    if (!word.empty() && (run.id == word || run.name == word)) meant.push_back(run);
  }
  if (meant.size() == 1) return meant.front();
  if (meant.empty()) {
    return Error{Errc::not_found,
                 fmt::format("no run on these hosts is called \"{}\"; there {}", word,
                             runs.empty() ? "is none" : "is " + listed(runs))};
  }
  return Error{
      Errc::invalid_argument,
      fmt::format("several are called \"{}\"; say which by its number: {}", word, listed(meant))};
}

std::string listed(const std::vector<RunOnHosts>& runs) {
  std::vector<std::string> each;
  for (const RunOnHosts& run : runs) {
    const std::string& called = run.id.empty() ? run.name : run.id;
    each.push_back(fmt::format("{} ({}on {})", run.run, called.empty() ? "" : called + ", ",
                               fmt::join(run.hosts, " ")));
  }
  return fmt::format("{}", fmt::join(each, ", "));
}

}  // namespace sterna::launcher
