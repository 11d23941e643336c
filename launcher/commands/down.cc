// sterna down: ends a run, politely, and makes sure on every host that nothing of it is left.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <utility>

#include "launcher/cluster_file/cluster_file.h"
#include "launcher/commands/visit.h"
#include "launcher/hosts/host_plan.h"
#include "launcher/past/elsewhere.h"
#include "launcher/past/leftovers.h"
#include "launcher/past/queued_run.h"
#include "launcher/past/runs_on_hosts.h"
#include "launcher/text/json_line.h"
#include "runtime/loop/signal_watch.h"

namespace sterna::launcher {
namespace {

/// The coordinator's answer comes when all actors have stopped; then nodes and owner end. Who keeps
/// the run may take as long, for a checkpoint and for what hosts have of it.
constexpr Duration kEndingTakes = std::chrono::seconds(60);
constexpr Duration kVanishing = std::chrono::seconds(5);
constexpr int kHexadecimal = 16;

struct DownOptions : VisitOptions {
  std::string file;  ///< whatever runs on the hosts of that file
  bool all = false;  ///< every run known here
};

/// Said of a run of which no host that answered has anything left.
constexpr std::string_view kNotAllAsked = "not every host could be asked whether something is left";

struct Down {
  std::string id;
  std::optional<Stopped> stopped;  ///< none: nobody was there to ask
  std::uint32_t killed = 0;        ///< by force, on the hosts
  std::uint32_t left = 0;
  std::size_t hosts = 0;
  std::string queue;  ///< of a run that one kept, with the job
  std::string job;
  bool goes_on = false;  ///< nothing was done to it, as `errors` say
  std::string resume;    ///< the command that goes on with it, where it has a checkpoint
  std::vector<std::string> errors;
};

void verify(RealMachine& machine, const std::vector<StateHost>& hosts, std::uint64_t run,
            Duration patience, Down& down) {
  down.hosts = hosts.size();
  for (const HostSweep& one : sweep(machine, hosts, run, patience)) {
    down.killed += one.found;
    down.left += one.left;
    if (!one.error.empty()) down.errors.push_back(one.error);
  }
}

/// The hosts of a run and its head, each once.
std::vector<StateHost> hosts_of(const RunState& state) {
  std::vector<StateHost> hosts = state.hosts;
  const bool here = std::any_of(hosts.begin(), hosts.end(),
                                [](const StateHost& host) { return host.ssh.empty(); });
  if (state.head.empty() && !here) hosts.push_back({"localhost", "", ""});
  return hosts;
}

/// How a run that another host keeps has ended, if that host still knows.
void ask_head_for_end(RealMachine& machine, RunState& state, Down& down) {
  const std::optional<Elsewhere> head = head_elsewhere(state);
  if (!head) return;
  const Result<std::string> told =
      ask_via(machine, *head, {"status", "--json", state.id}, kVisitPatience);
  const Json there = told ? Json::parse(*told, nullptr, false) : Json();
  const auto ended = there.find("ended");
  const auto exit = there.find("exit");
  if (ended == there.end() || !ended->is_string() || exit == there.end()) return;
  if (!exit->is_number_integer()) return;
  state.ended = *ended;
  state.exit = *exit;
  // What of it goes on, the head alone sees.
  if (const auto resume = there.find("resume"); resume != there.end() && resume->is_string()) {
    down.resume = *resume;
  }
}

/// The command that goes on with a run that is over, whether it has left word or not.
std::string resume_of_ended(RunState state) {
  if (!state.head.empty()) return "";  // its checkpoints are not this machine's
  if (state.ended.empty()) state.exit = kExitInterrupted;
  state.ended = "ended by sterna down";
  return resume_of(state);
}

/// The folder of its sockets, which whoever kept it would have removed: only where that one is gone
/// from this machine, and nothing of the run is left.
void remove_sockets(RealMachine& machine, const RunState& state, const Down& down) {
  const bool nothing_left = down.errors.empty() && down.left == 0 && state.keeper.is_gone();
  if (nothing_left && !state.network.directory.empty()) {
    machine.remove_socket_directory(state.network.directory);
  }
}

/// Who has to end with the run: where somebody starts its keeper again, that one first, which ends
/// the keeper. Null: no process of this machine.
const Keeper* keeper_here(const RunState& state) {
  for (const Keeper* keeper : {&state.supervisor, &state.keeper}) {
    if (keeper->is_here() && keeper->pid != ::getpid()) return keeper;
  }
  return nullptr;
}

/// Whether nobody here keeps the run any more, at the latest after `patience`.
bool is_let_go(RealMachine& machine, const RunState& state, Duration patience) {
  constexpr Duration kLookAgain = std::chrono::milliseconds(50);
  const Time until = machine.loop().now() + patience;
  while (keeper_here(state) != nullptr && machine.loop().now() < until) {
    machine.loop().run_until([] { return false; }, machine.loop().now() + kLookAgain);
  }
  return keeper_here(state) == nullptr;
}

/// Who keeps the run here would start it again, whatever is killed of it. One that nobody has told
/// to end is told as a batch system does, so that it makes a checkpoint where the file has any; one
/// that does not hear is killed.
void end_keeper(RealMachine& machine, const RunState& state, const Console& console, Down& down) {
  if (down.stopped && is_let_go(machine, state, kEndingTakes)) return;
  if (const Keeper* keeper = keeper_here(state)) {
    console.say(
        fmt::format("{}: process {}, which keeps it, is told to end", state.id, keeper->pid));
    ::kill(static_cast<pid_t>(keeper->pid), SIGTERM);
    if (is_let_go(machine, state, down.stopped ? kVanishing : kEndingTakes)) return;
  }
  while (const Keeper* keeper = keeper_here(state)) {
    const Keeper killed = *keeper;
    if (::kill(static_cast<pid_t>(killed.pid), SIGKILL) != 0) break;
    RunState alone;
    alone.keeper = killed;
    ++down.killed;
    if (is_let_go(machine, alone, kVanishing)) continue;
    ++down.left;
    return;
  }
}

/// Fails where nobody was there to ask; overloaded where more may not ask at once.
Result<void> ask_to_end(RealMachine& machine, const RunState& state, Down& down) {
  STERNA_ASSIGN(const auto visitor, RunVisitor::visit(machine, state, kVisitPatience));
  const SignalWatch interrupt(machine.loop(), SIGINT, [&] { visitor->interrupt(); });
  const Result<Stopped> stopped = visitor->end_run("ended by sterna down", kEndingTakes);
  if (stopped) {
    down.stopped = *stopped;
    visitor->wait_for_end(kVanishing);
  } else {
    down.errors.push_back(stopped.error().message);
  }
  return {};
}

Down end(RealMachine& machine, const RunStates& states, RunState state, const Console& console) {
  Down down;
  down.id = state.id;
  const Result<void> asked = ask_to_end(machine, state, down);
  const bool busy = !asked && asked.error().code == Errc::overloaded;
  if (busy && keeper_here(state) == nullptr && queue_of(state) == nullptr) {
    down.errors.push_back(asked.error().message + ": end one of them first");
    down.goes_on = true;
    return down;
  }
  if (const JobQueue* queue = queue_of(state)) {
    // Its nodes are the queue's to look at.
    const Result<void> gone = queue->end(machine, state.slurm_job);
    if (!gone) down.errors.push_back(gone.error().message);
    down.queue = queue->name();
    down.job = state.slurm_job;
  } else {
    end_keeper(machine, state, console, down);
    verify(machine, hosts_of(state), state.run, down.stopped ? kVanishing : Duration::zero(), down);
    if (state.head.empty() && state.keeper.is_elsewhere()) {
      down.errors.push_back(fmt::format("{} is kept by a process of {}: sterna down {} there",
                                        state.id, state.keeper.machine, state.id));
    }
  }
  remove_sockets(machine, state, down);
  // Who kept the run has said how it ended, if it could.
  const Result<RunState> after = states.find(state.id);
  if (after && after->id == state.id) state = *after;
  const bool is_over = down.stopped || !state.ended.empty() || is_abandoned(state);
  if (is_over) down.resume = resume_of_ended(state);
  if (state.ended.empty()) {
    if (state.detached && down.errors.empty() && down.left == 0) {
      state.ended = "ended by sterna down";
      state.exit = kExitInterrupted;
      ask_head_for_end(machine, state, down);
      state.operators.clear();
      if (const Result<void> written = states.write(state); !written)
        console.say(written.error().message);
    } else if (down.errors.empty() && down.left == 0) {
      states.remove(state.id);
    }
  }
  return down;
}

int tell(const Down& down, bool json, const Console& console) {
  const bool clean = down.left == 0 && down.errors.empty();
  if (json) {
    const Json line = {{"format", 1},
                       {"id", down.id},
                       {"stopped", down.stopped ? down.stopped->stopped : 0},
                       {"killed", (down.stopped ? down.stopped->killed : 0) + down.killed},
                       {"left", down.left},
                       {"hosts", down.hosts},
                       {"errors", down.errors}};
    if (console.print_result(json_line(line) + "\n") == Printed::failed) return kExitFailed;
  } else {
    std::string text = down.id + ": ";
    if (down.stopped) {
      text +=
          fmt::format("{} actors stopped, {} killed", down.stopped->stopped, down.stopped->killed);
    } else if (down.goes_on) {
      text += "it goes on";
    } else if (down.job.empty()) {
      text += "nobody answered";
    } else {
      text += "cancelled";
    }
    if (down.killed > 0) text += fmt::format("; {} processes killed that were left", down.killed);
    if (down.goes_on) {
      // Nobody was asked, and nothing was ended.
    } else if (!down.job.empty()) {
      if (clean) text += fmt::format("; {} has nothing of job {} any more", down.queue, down.job);
    } else if (clean) {
      text +=
          fmt::format("; nothing is left on {} {}", down.hosts, down.hosts == 1 ? "host" : "hosts");
    } else if (down.left > 0) {
      text += fmt::format("; {} processes are left", down.left);
    } else {
      text += fmt::format("; {}", kNotAllAsked);
    }
    if (console.print_result(text + "\n") == Printed::failed) return kExitFailed;
  }
  for (const std::string& error : down.errors) console.say(error);
  if (!down.resume.empty()) {
    console.say("it goes on from its newest checkpoint with\n" + down.resume);
  }
  return clean ? kExitDone : kExitFailed;
}

/// The machines of a file, and this one, each once.
std::vector<StateHost> hosts_of(const ClusterFile& file) {
  std::vector<StateHost> hosts;
  bool here = false;
  for (const HostSection& host : file.hosts) {
    const std::string ssh = is_remote(file, host) ? host.ssh : "";
    if (ssh.empty() && std::exchange(here, true)) continue;
    hosts.push_back({host.name, ssh, host.work});
  }
  if (!here) hosts.push_back({"localhost", "", ""});
  return hosts;
}

/// What is remembered of it; null: nothing.
const RunState* remembered(const std::vector<RunState>& states, const RunOnHosts& run) {
  const auto found = std::ranges::find_if(
      states, [&](const RunState& state) { return fmt::format("{:016x}", state.run) == run.run; });
  return found == states.end() ? nullptr : &*found;
}

/// Those of `runs` that are to be ended: the one that is named, or the only one, if it is known
/// here.
Result<std::vector<RunOnHosts>> wanted_of(const std::vector<RunOnHosts>& runs,
                                          const std::vector<RunState>& states,
                                          const DownOptions& options) {
  const auto how = [&](const std::string& what) {
    return fmt::format("{}; to end one whatever it is: sterna down RUN --file {}", what,
                       options.file);
  };
  if (!options.run.empty()) {
    Result<RunOnHosts> run = find_on_hosts(runs, options.run);
    if (run) return std::vector<RunOnHosts>{std::move(run).value()};
    Error error = std::move(run).error();
    if (!runs.empty()) error.message = how(error.message);
    return error;
  }
  const bool all_known = std::ranges::all_of(
      runs, [&](const RunOnHosts& run) { return remembered(states, run) != nullptr; });
  if (runs.size() <= 1 && all_known) return runs;
  // Whose run it is cannot be told from the outside: it is named, not guessed.
  return Error{Errc::invalid_argument, how("on these hosts there is " + listed(runs))};
}

/// --file FILE: what runs on its hosts, whether it is known here or not.
int down_by_file(const DownOptions& options, const Console& console) {
  const Result<ClusterFile> file = read_cluster_file(options.file);
  if (!file) return console.report(file.error());
  const Result<RunStates> states = RunStates::of_user();
  if (!states) return console.report(states.error());
  const std::vector<StateHost> hosts = hosts_of(*file);
  RealMachine machine;
  std::vector<std::string> errors;
  const std::vector<RunState> known = states->all();
  std::vector<RunOnHosts> runs = runs_on_hosts(processes_on(machine, hosts, errors), known);
  for (const std::string& error : errors) console.say(error);
  // Runs of other files are none of this one's business.
  const std::string path = std::filesystem::absolute(options.file).lexically_normal().string();
  std::erase_if(runs, [&](const RunOnHosts& run) {
    const RunState* state = remembered(known, run);
    return state != nullptr && state->file != path;
  });
  const Result<std::vector<RunOnHosts>> wanted = wanted_of(runs, known, options);
  if (!wanted) {
    console.say(wanted.error().message);
    return errors.empty() ? kExitBadInput : kExitFailed;
  }
  if (wanted->empty()) console.say(fmt::format("nothing runs on the hosts of {}", options.file));
  int worst = errors.empty() ? kExitDone : kExitFailed;
  for (const RunOnHosts& run : *wanted) {
    Down down;
    if (const RunState* state = remembered(known, run)) {
      down = end(machine, *states, *state, console);
    } else {
      down.id = run.id.empty() ? run.run : run.id;
      const std::uint64_t number = std::stoull(run.run, nullptr, kHexadecimal);
      verify(machine, hosts, number, Duration::zero(), down);
    }
    worst = std::max(worst, tell(down, options.json, console));
  }
  return worst;
}

/// Whether a host of the run could not be asked, as tell() says it.
bool says_not_all_asked(const std::string& told, bool json) {
  if (!json) return told.find(kNotAllAsked) != std::string::npos;
  std::istringstream lines(told);
  for (std::string text; std::getline(lines, text);) {
    const Json line = Json::parse(text, nullptr, false);
    const auto errors = line.find("errors");
    if (errors != line.end() && !errors->empty()) return true;
  }
  return false;
}

/// --via HOST: what is said then is said there.
int down_via(const DownOptions& options, const Console& console) {
  std::vector<std::string> words = words_for("down", options);
  if (options.all) words.emplace_back("--all");
  std::string told;
  const Result<int> exit = exit_via({options.via}, words, [&](std::string_view text) {
    told += text;
    static_cast<void>(console.print_result(text));
  });
  if (!exit) return console.report(exit.error());
  if (says_not_all_asked(told, options.json)) {
    console.say(fmt::format(
        "\"here\" is {0} in what it says: the run's hosts were asked from {0}; where ssh reaches "
        "them from this machine: sterna down {1}",
        options.via,
        options.all           ? "--all"
        : options.run.empty() ? "RUN"
                              : options.run));
  }
  return *exit;
}

int down(const DownOptions& options, const Console& console) {
  if (!options.via.empty()) return down_via(options, console);
  if (!options.file.empty()) return down_by_file(options, console);
  const Result<RunStates> states = RunStates::of_user();
  if (!states) return console.report(states.error());
  std::vector<RunState> wanted;
  if (options.all) {
    wanted = states->all();
    std::erase_if(wanted, [](const RunState& state) { return !state.ended.empty(); });
    if (wanted.empty()) console.say("no run goes on");
  } else {
    if (options.run.empty()) {
      // Those that nobody keeps need no name, and are in nobody's way.
      wanted = states->all();
      std::erase_if(wanted, [](const RunState& state) { return !is_abandoned(state); });
    }
    const Result<RunState> state = states->find(options.run);
    const bool none_goes_on = !state && state.error().code == Errc::not_found;
    if (!state && !(options.run.empty() && none_goes_on)) return console.report(state.error());
    if (!state) {
      if (wanted.empty()) console.say("no run goes on");
    } else if (!state->ended.empty()) {
      console.say(fmt::format("{} has ended already: {}", state->id, state->ended));
    } else if (!options.run.empty() || !is_abandoned(*state)) {
      wanted.push_back(*state);
    }
  }
  RealMachine machine;
  int worst = kExitDone;
  for (RunState& state : wanted) {
    worst = std::max(worst,
                     tell(end(machine, *states, std::move(state), console), options.json, console));
  }
  return worst;
}

}  // namespace

Command down_command() {
  const auto o = std::make_shared<DownOptions>();
  return {"down", "End a run, and make sure that nothing of it is left",
          visit_arguments(
              *o, {run_argument(o->run),
                   {"--all", &o->all, "Every run known here, also those that other terminals show"},
                   {"--file", &o->file, "Whatever runs on the hosts of this file", "FILE"}}),
          [o](const Context& context) { return down(*o, context.console); }};
}

}  // namespace sterna::launcher
