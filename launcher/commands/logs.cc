// sterna logs: what the processes of a run say, wherever they are.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>

#include "launcher/commands/visit.h"
#include "launcher/past/elsewhere.h"
#include "launcher/text/json_line.h"
#include "launcher/text/text_format.h"
#include "runtime/base/duration_text.h"
#include "runtime/loop/signal_watch.h"

namespace sterna::launcher {
namespace {

/// Whose log lies on the head alone: no process of the run answers for it.
constexpr const char* kLauncher = "launcher";

constexpr Duration kFollowInterval = std::chrono::milliseconds(500);
/// Once the coordinator is gone its keeper ends within that.
constexpr Duration kKeeperEndsWithin = std::chrono::seconds(10);
constexpr Duration kKeeperLook = std::chrono::milliseconds(50);

struct LogsOptions : VisitOptions {
  std::string actor;  ///< empty: all
  std::string since;  ///< a duration before now, "10m"; empty: from the beginning
  bool follow = false;
};

/// The lines of one process's log, as they come.
class Lines {
 public:
  explicit Lines(std::string name) : name_(std::move(name)) {}
  std::uint64_t offset = 0;

  void take(std::string_view bytes, std::vector<std::string>& out, const LogsOptions& options,
            const std::string& since) {
    pending_ += bytes;
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = pending_.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      const std::string line = pending_.substr(begin, end - begin);
      // Our lines begin with the time; others belong to the one before.
      constexpr std::size_t kStamp = 20;
      if (line.size() > kStamp && line[4] == '-' && line[10] == 'T') {
        wanted_ = since.empty() || line.substr(0, since.size()) >= since;
      }
      if (!wanted_) continue;
      if (options.json) {
        out.push_back(json_line({{"process", name_}, {"line", line}}));
      } else if (options.actor.empty()) {
        out.push_back(fmt::format("{:<12} {}", name_, printable(line)));
      } else {
        out.push_back(printable(line));
      }
    }
    pending_.erase(0, begin);
  }

 private:
  std::string name_;
  std::string pending_;
  bool wanted_ = true;
};

/// "2026-11-21T08:00:00" of so long ago.
Result<std::string> stamp_of(const std::string& since) {
  if (since.empty()) return std::string();
  const std::optional<Duration> ago = parse_duration(since);
  if (!ago) {
    return Error{Errc::invalid_argument,
                 fmt::format("--since {}: say how long ago, as in 30s, 10m or 2h", since)};
  }
  const std::time_t then =
      std::time(nullptr) - std::chrono::duration_cast<std::chrono::seconds>(*ago).count();
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}", fmt::gmtime(then));
}

bool print(const std::vector<std::string>& lines, const Console& console) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text.empty() || console.print_result(text);
}

/// Of a run that is over: what its directory holds.
int from_directory(const RunState& state, const LogsOptions& options, const std::string& since,
                   const Console& console) {
  std::vector<std::string> lines;
  std::error_code failed;
  bool any = false;
  std::vector<std::filesystem::path> files;
  for (std::filesystem::directory_iterator entry(state.run_directory + "/logs", failed), end;
       !failed && entry != end; entry.increment(failed)) {
    files.push_back(entry->path());
  }
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& path : files) {
    if (path.extension() != ".log") continue;  // traces lie there, too
    const std::string name = path.stem().string();
    if (!options.actor.empty() && name != options.actor) continue;
    any = true;
    std::ifstream file(path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    Lines(name).take(text, lines, options, since);
  }
  if (!any) {
    return console.report(
        {Errc::not_found, fmt::format("{}/logs has no log of {}", state.run_directory,
                                      options.actor.empty() ? "anyone" : options.actor)});
  }
  return print(lines, console) ? kExitDone : kExitFailed;
}

/// What was written to a log in the run's directory since it was read last; false: there is none
/// here.
bool read_here(const RunState& state, const std::string& name, Lines& log,
               std::vector<std::string>& lines, const LogsOptions& options,
               const std::string& since) {
  std::ifstream file(fmt::format("{}/logs/{}.log", state.run_directory, name), std::ios::binary);
  if (!file) return false;
  file.seekg(static_cast<std::streamoff>(log.offset));
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  log.offset += text.size();
  log.take(text, lines, options, since);
  return true;
}

/// Whether it has ended, too, or is another machine's.
bool keeper_is_gone(const RunState& state) {
  const Result<RunStates> states = RunStates::of_user();
  const Result<RunState> now = states ? states->find(state.id) : Result<RunState>(states.error());
  if (!now || now->id != state.id) return true;  // forgotten: another may begin so
  return now->keeper.is_gone() || now->keeper.machine != Keeper::this_process().machine;
}

using Logs = std::map<std::string, Lines>;

/// Of a run that has ended while it was followed: the last lines of each log, the keeper's own
/// last words among them.
int last_lines(Loop& loop, const RunVisitor& visitor, const RunState& state, Logs& logs,
               const LogsOptions& options, const std::string& since, const Console& console) {
  if (!state.head.empty()) return kExitDone;  // they lie there
  const Time until = loop.now() + kKeeperEndsWithin;
  while (!visitor.interrupted() && !keeper_is_gone(state) && loop.now() < until) {
    loop.run_until([&] { return visitor.interrupted(); }, loop.now() + kKeeperLook);
  }
  std::vector<std::string> lines;
  for (auto& [name, log] : logs) read_here(state, name, log, lines, options, since);
  return print(lines, console) ? kExitDone : kExitFailed;
}

int follow(Loop& loop, RunVisitor& visitor, const RunState& state, const LogsOptions& options,
           const std::string& since, const Console& console) {
  Logs logs;
  while (true) {
    const Result<Overview> overview = visitor.look();
    if (!overview && visitor.interrupted()) return kExitDone;
    if (!overview && options.follow) break;
    if (!overview) return console.report(overview.error());
    bool known = options.actor.empty();
    std::vector<std::string> lines;
    for (const ProcessStatus& member : overview->members) {
      const std::string& name = member.identity.name;
      if (!options.actor.empty() && name != options.actor) continue;
      known = true;
      Lines& log = logs.try_emplace(name, name).first->second;
      while (true) {
        const Result<FilePiece> piece =
            visitor.read_file({member.process, name + ".log", log.offset});
        if (!piece || piece->bytes.empty()) break;
        log.offset += piece->bytes.size();
        log.take({reinterpret_cast<const char*>(piece->bytes.data()), piece->bytes.size()}, lines,
                 options, since);
      }
    }
    if (options.actor == kLauncher) {
      known = read_here(state, kLauncher, logs.try_emplace(kLauncher, kLauncher).first->second,
                        lines, options, since);
    }
    if (!known) {
      return console.report(
          {Errc::not_found, fmt::format("the run has no process \"{}\"", options.actor)});
    }
    if (!print(lines, console)) return kExitFailed;
    if (!options.follow) return kExitDone;
    const bool goes_on = visitor.pause(kFollowInterval);
    if (visitor.interrupted()) return kExitDone;
    if (!goes_on) break;
  }
  return last_lines(loop, visitor, state, logs, options, since, console);
}

std::vector<std::string> words_for(const LogsOptions& options) {
  std::vector<std::string> words = {"logs"};
  if (options.follow) words.emplace_back("-f");
  if (options.json) words.emplace_back("--json");
  if (!options.since.empty()) words.insert(words.end(), {"--since", options.since});
  if (!options.run.empty()) words.push_back(options.run);
  if (!options.actor.empty()) words.push_back(options.actor);
  return words;
}

/// Of a run that is over, or does not answer: what its directory holds, on the head.
int from_head(const RunState& state, LogsOptions options, const std::string& since,
              const Console& console) {
  const std::optional<Elsewhere> head = head_elsewhere(state);
  if (!head) return from_directory(state, options, since, console);
  options.run = state.id;
  return run_via(*head, words_for(options), console);
}

int logs(LogsOptions options, const Console& console) {
  if (!options.via.empty()) return run_via({options.via}, words_for(options), console);
  const Result<std::string> since = stamp_of(options.since);
  if (!since) return console.report(since.error());
  const Result<RunStates> states = RunStates::of_user();
  if (!states) return console.report(states.error());
  Result<RunState> state = states->find(options.run);
  std::error_code ignored;
  if (!state && state.error().code == Errc::not_found && !options.run.empty() &&
      std::filesystem::is_directory(options.run + "/logs", ignored)) {
    RunState over;
    over.run_directory = options.run;
    return from_directory(over, options, *since, console);
  }
  if (!state && options.actor.empty() && options.run.find('/') == std::string::npos) {
    // Of the only run there is, a process may be named alone.
    if (const Result<RunState> only = states->find("")) {
      options.actor = std::exchange(options.run, "");
      state = only;
    }
  }
  if (!state) return console.report(state.error());
  if (!state->ended.empty()) return from_head(*state, options, *since, console);
  if (options.actor == kLauncher && head_elsewhere(*state)) {
    return from_head(*state, options, *since, console);
  }
  RealMachine machine;
  Result<std::unique_ptr<RunVisitor>> visitor = RunVisitor::visit(machine, *state, kVisitPatience);
  if (!visitor) return from_head(*state, options, *since, console);
  const SignalWatch interrupt(machine.loop(), SIGINT, [&] { (*visitor)->interrupt(); });
  return follow(machine.loop(), **visitor, *state, options, *since, console);
}

}  // namespace

Command logs_command() {
  const auto o = std::make_shared<LogsOptions>();
  return {"logs", "What the processes of a run say",
          visit_arguments(*o, {run_argument(o->run),
                               {"ACTOR", &o->actor, "One process; default: all"},
                               {"-f,--follow", &o->follow, "Go on until the run ends"},
                               {"--since", &o->since, "Only what is younger, e.g. 10m", "TIME"}}),
          [o](const Context& context) { return logs(*o, context.console); }};
}

}  // namespace sterna::launcher
