// sterna logs: what the processes of a run say, wherever they are.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <map>
#include <optional>

#include "launcher/commands/visit.h"
#include "launcher/past/elsewhere.h"
#include "launcher/text/growing_file.h"
#include "launcher/text/json_line.h"
#include "launcher/text/line_splitter.h"
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

/// One process's log, as far as it was read.
struct Log {
  std::string name;
  LineSplitter splitter{};
  std::uint64_t offset = 0;              ///< of what its process was asked for
  std::uint64_t lines_end = 0;           ///< behind the last whole line of that
  std::optional<GrowingFile> here = {};  ///< in the run's directory, behind that
  bool wanted = true;                    ///< the last line that has a time was
};
using Logs = std::map<std::string, Log>;

/// Prints lines of logs as they are read.
class LogPrinter {
 public:
  /// `options` and `console` must outlive it.
  LogPrinter(const LogsOptions& options, std::string since, const Console& console)
      : options_(options), since_(std::move(since)), console_(console) {}

  void print(Log& log, const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) {
      // Our lines begin with the time; others belong to the one before.
      constexpr std::size_t kStamp = 20;
      if (line.size() > kStamp && line[4] == '-' && line[10] == 'T') {
        log.wanted = since_.empty() || line.substr(0, since_.size()) >= since_;
      }
      if (log.wanted) text += printed_form(log.name, line) + "\n";
    }
    if (!text.empty() && goes_on()) printed_ = console_.print_result(text);
  }
  /// The last words of a log, which may have no end.
  void print_rest(Log& log, std::string rest) {
    if (!rest.empty()) print(log, {std::move(rest)});
  }
  /// False: nobody reads on, or nothing more can be written.
  bool goes_on() const { return printed_ == Printed::written && console_.is_read(); }
  int exit() const { return exit_of(printed_); }

 private:
  std::string printed_form(const std::string& name, const std::string& line) const {
    if (options_.json) return json_line({{"process", name}, {"line", line}});
    if (options_.actor.empty()) return fmt::format("{:<12} {}", name, printable(line));
    return printable(line);
  }

  const LogsOptions& options_;
  std::string since_;
  const Console& console_;
  Printed printed_ = Printed::written;
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

/// What there is to be read of it now.
void print_all(Log& log, GrowingFile& file, LogPrinter& printer) {
  do {
    printer.print(log, file.lines());
  } while (file.has_more() && printer.goes_on());
}

/// Of a run that is over: what its directory holds.
int from_directory(const RunState& state, const LogsOptions& options, const std::string& since,
                   const Console& console) {
  LogPrinter printer(options, since, console);
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
    Log log{.name = name};
    GrowingFile file(path.string());
    print_all(log, file, printer);
    printer.print_rest(log, file.take_rest());
  }
  if (!any) {
    return console.report(
        {Errc::not_found, fmt::format("{}/logs has no log of {}", state.run_directory,
                                      options.actor.empty() ? "anyone" : options.actor)});
  }
  return printer.exit();
}

/// What was written to a log in the run's directory behind the lines that were read; false: there
/// is none here.
bool print_here(const RunState& state, Log& log, LogPrinter& printer) {
  const std::string path = fmt::format("{}/logs/{}.log", state.run_directory, log.name);
  std::error_code missing;
  const std::uintmax_t size = std::filesystem::file_size(path, missing);
  // Of a log of another host the end may be missing.
  if (missing || (!log.here && size < log.lines_end)) return false;
  if (!log.here) log.here = GrowingFile::behind(path, log.lines_end);
  print_all(log, *log.here, printer);
  return true;
}

/// Whether it has ended, too, or is another machine's.
bool keeper_is_gone(const RunState& state) {
  const Result<RunStates> states = RunStates::of_user();
  const Result<RunState> now = states ? states->find(state.id) : Result<RunState>(states.error());
  if (!now || now->id != state.id) return true;  // forgotten: another may begin so
  return now->keeper.is_gone() || now->keeper.machine != Keeper::this_process().machine;
}

/// Of a run that has ended while it was followed: the last lines of each log, the keeper's own
/// last words among them.
void print_last_lines(Loop& loop, const RunVisitor& visitor, const RunState& state, Logs& logs,
                      LogPrinter& printer) {
  if (!state.head.empty()) return;  // they lie there
  const Time until = loop.now() + kKeeperEndsWithin;
  while (!visitor.interrupted() && !keeper_is_gone(state) && loop.now() < until) {
    loop.run_until([&] { return visitor.interrupted(); }, loop.now() + kKeeperLook);
  }
  for (auto& [name, log] : logs) {
    const bool here = print_here(state, log, printer);
    printer.print_rest(log, here ? log.here->take_rest() : log.splitter.take_rest());
  }
}

/// What was added to a log, by the process that writes it.
void print_new(RunVisitor& visitor, ProcessId process, Log& log, LogPrinter& printer) {
  while (printer.goes_on()) {
    const Result<FilePiece> piece = visitor.read_file({process, log.name + ".log", log.offset});
    if (!piece || piece->bytes.empty()) return;
    const std::string_view text = text_of(piece->bytes.view());
    if (const std::size_t end = text.rfind('\n'); end != std::string_view::npos) {
      log.lines_end = log.offset + end + 1;
    }
    log.offset += text.size();
    printer.print(log, log.splitter.take(text));
  }
}

int follow(Loop& loop, RunVisitor& visitor, const RunState& state, const LogsOptions& options,
           const std::string& since, const Console& console) {
  Logs logs;
  LogPrinter printer(options, since, console);
  const auto log_of = [&logs](const std::string& name) -> Log& {
    return logs.try_emplace(name, Log{.name = name}).first->second;
  };
  while (printer.goes_on()) {
    const Result<Overview> overview = visitor.look();
    if (!overview && visitor.interrupted()) return kExitDone;
    if (!overview && options.follow) break;
    if (!overview) return console.report(overview.error());
    bool known = options.actor.empty();
    for (const ProcessStatus& member : overview->members) {
      const std::string& name = member.identity.name;
      if (!options.actor.empty() && name != options.actor) continue;
      known = true;
      Log& log = log_of(name);
      print_new(visitor, member.process, log, printer);
      if (!options.follow) printer.print_rest(log, log.splitter.take_rest());
    }
    if (options.actor == kLauncher) {
      Log& log = log_of(kLauncher);
      known = print_here(state, log, printer);
      if (known && !options.follow) printer.print_rest(log, log.here->take_rest());
    }
    if (!known) {
      return console.report(
          {Errc::not_found, fmt::format("the run has no process \"{}\"", options.actor)});
    }
    if (!options.follow) return printer.exit();
    const bool goes_on = visitor.pause(kFollowInterval);
    if (visitor.interrupted()) return kExitDone;
    if (!goes_on) break;
  }
  if (printer.goes_on()) print_last_lines(loop, visitor, state, logs, printer);
  return printer.exit();
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
