// sterna page: a run in a browser, while it goes on and when it is over.
#include "launcher/commands/page.h"

#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "launcher/commands/visit.h"
#include "launcher/page/page_server.h"
#include "launcher/page/past_run.h"
#include "launcher/past/elsewhere.h"
#include "launcher/past/overview.h"
#include "launcher/record/read_metrics.h"
#include "launcher/text/directory_path.h"
#include "launcher/text/line_splitter.h"
#include "launcher/text/shell_word.h"
#include "runtime/loop/signal_watch.h"
#include "runtime/remote/remote_script.h"

namespace sterna::launcher {
namespace {

namespace fs = std::filesystem;

constexpr Duration kLookInterval = std::chrono::milliseconds(500);
/// From the end of a run's coordinator to the result in its directory.
constexpr Duration kResultTakes = std::chrono::seconds(20);
constexpr std::int64_t kForwardedPort = 8723;
constexpr std::int64_t kMostPort = 65535;

struct PageCommandOptions {
  std::string run;
  std::string via;
  std::int64_t port = 0;
};

/// The run that is meant: one that this machine remembers, or a directory.
struct Meant {
  std::string directory;
  std::optional<RunState> state;
};

/// Whether this program can read what the directory holds: as its first line says.
Result<void> can_read(const std::string& directory) {
  bool any = false;
  const Result<void> read = for_each_metric(directory, [&any](const Json&) -> Result<void> {
    any = true;
    return Error{Errc::cancelled, "that is enough"};
  });
  return any ? Result<void>() : read;
}

Result<Meant> meant_by(const std::string& word) {
  const Result<RunStates> states = RunStates::of_user();
  std::error_code ignored;
  if (!word.empty() && fs::is_directory(word, ignored)) {
    STERNA_TRY(can_read(word));
    Meant meant{absolute_directory(word), std::nullopt};
    for (const RunState& state : states ? states->all() : std::vector<RunState>()) {
      if (state.run_directory == meant.directory) meant.state = state;
    }
    return meant;
  }
  if (!states) return states.error();
  STERNA_ASSIGN(RunState state, states->find(word));
  return Meant{state.run_directory, state};
}

/// Starts the page of `run` there, the only one where it is empty, and brings its port here.
Result<std::string> forwarded_page(const Elsewhere& there, const std::string& run,
                                   std::int64_t port) {
  if (!run.empty() && !plain_for_shell(run)) {
    return Error{Errc::invalid_argument, "\"" + run + "\" cannot stand in a line for a shell"};
  }
  if (!plain_for_shell(there.work)) {
    return Error{Errc::invalid_argument,
                 "host.work \"" + there.work + "\" cannot stand in a line for a shell"};
  }
  return fmt::format(
      "ssh -t -L {0}:127.0.0.1:{0} {1} '$(ls -t {2}/bundles/*/bin/sterna | head -n 1) page {3}"
      "--port {0}'",
      port == 0 ? kForwardedPort : port, shell_word(there.ssh), there.work,
      run.empty() ? "" : run + " ");
}

int print_forwarded(const Elsewhere& there, const std::string& run, std::int64_t port,
                    const Console& console) {
  const Result<std::string> line = forwarded_page(there, run, port);
  return line ? console.result(*line + "\n") : console.report(line.error());
}

/// The logs of processes on other hosts, which are not in the run's directory before its end.
class FarLogs {
 public:
  FarLogs(std::string directory, PageServer& page)
      : directory_(std::move(directory)), page_(page) {}

  /// What was added since the last call, as far as it is told at once.
  void read(RunVisitor& visitor, const Overview& overview) {
    constexpr int kPieces = 4;  // of each log
    for (const ProcessStatus& member : overview.members) {
      const std::string name = member.identity.name + ".log";
      std::error_code ignored;
      Log& log = logs_[member.identity.name];
      if (log.mute || fs::exists(directory_ + "/logs/" + name, ignored)) continue;
      std::vector<std::string> lines;
      for (int i = 0; i < kPieces; ++i) {
        const Result<FilePiece> piece = visitor.read_file({member.process, name, log.offset});
        log.mute = !piece;  // or it would hold the others up again and again
        if (!piece || piece->bytes.empty()) break;
        log.offset += piece->bytes.size();
        for (std::string& line : log.splitter.take(text_of(piece->bytes.view()))) {
          lines.push_back(std::move(line));
        }
      }
      if (!lines.empty()) page_.log(member.identity.name, lines);
    }
  }

 private:
  struct Log {
    std::uint64_t offset = 0;
    LineSplitter splitter = LineSplitter();
    bool mute = false;
  };
  std::string directory_;
  PageServer& page_;
  std::map<std::string, Log> logs_;
};

class Shown {
 public:
  Shown(RealMachine& machine, Meant meant, PageServer& page)
      : machine_(machine),
        meant_(std::move(meant)),
        page_(page),
        logs_(meant_.directory, page),
        interrupt_(machine.loop(), SIGINT, [this] { interrupt(); }),
        terminate_(machine.loop(), SIGTERM, [this] { interrupt(); }) {}

  /// Until the user has seen enough.
  void run() {
    if (meant_.state && meant_.state->ended.empty()) follow();
    if (!interrupted_) {
      wait_for_result();
      const PastRun past = past_run(meant_.directory);
      if (past.exit) {
        page_.end(past.status, *past.exit, past.words);
      } else {
        page_.update(past.status);
      }
    }
    machine_.loop().run_until([this] { return interrupted_; }, kNever);
  }

 private:
  void interrupt() {
    interrupted_ = true;
    if (visitor_ != nullptr) visitor_->interrupt();
  }

  /// While its coordinator answers.
  void follow() {
    Result<std::unique_ptr<RunVisitor>> visitor =
        RunVisitor::visit(machine_, *meant_.state, kVisitPatience);
    if (!visitor) return;
    visitor_ = visitor->get();
    while (!interrupted_) {
      const Result<Overview> overview = visitor_->look();
      if (!overview) break;
      followed_ = true;
      page_.update(status_of(*meant_.state, *overview));
      logs_.read(*visitor_, *overview);
      if (!visitor_->pause(kLookInterval)) break;
    }
    visitor_ = nullptr;
  }

  /// Of a run that was seen to end.
  void wait_for_result() {
    if (!followed_) return;
    constexpr Duration kPause = std::chrono::milliseconds(100);
    const Time until = machine_.loop().now() + kResultTakes;
    while (!interrupted_ && machine_.loop().now() < until && !past_run(meant_.directory).exit) {
      machine_.loop().run_until([this] { return interrupted_; }, machine_.loop().now() + kPause);
    }
  }

  RealMachine& machine_;
  Meant meant_;
  PageServer& page_;
  FarLogs logs_;
  RunVisitor* visitor_ = nullptr;
  bool followed_ = false;
  bool interrupted_ = false;
  SignalWatch interrupt_;
  SignalWatch terminate_;
};

int page(const PageCommandOptions& options, const Console& console) {
  if (!options.via.empty()) {
    return print_forwarded({options.via}, options.run, options.port, console);
  }
  const Result<Meant> meant = meant_by(options.run);
  if (!meant) return console.report(meant.error());
  if (meant->state) {
    if (const std::optional<Elsewhere> head = head_elsewhere(*meant->state)) {
      console.say(fmt::format("{} is kept by {}; this line shows its page here:", meant->state->id,
                              meant->state->head));
      return print_forwarded(*head, meant->state->id, options.port, console);
    }
  }
  const auto server = PageServer::start(
      {.run_directory = meant->directory, .port = static_cast<unsigned>(options.port)});
  if (!server) return console.report(server.error());
  if (console.result((*server)->url() + "\n") != kExitDone) return kExitFailed;
  console.say("open this address; Ctrl-C ends the page, and nothing else");
  console.say("for a browser on another machine, there: " + forwarding_line((*server)->port()));
  RealMachine machine;
  Shown(machine, *meant, **server).run();
  return kExitDone;
}

}  // namespace

void say_where_its_page_is(const RunState& state, const Console& console) {
  if (const std::optional<Elsewhere> head = head_elsewhere(state)) {
    const Result<std::string> line = forwarded_page(*head, state.id, 0);
    console.say(line ? "the run's page, here: " + *line : line.error().message);
  }
}

Command page_command() {
  const auto o = std::make_shared<PageCommandOptions>();
  return {.name = "page",
          .help = "A run in a browser on this machine, also when it is over",
          .arguments = {{.name = "RUN",
                         .into = &o->run,
                         .help = "Its id, its name or its directory; default: the only one"},
                        {.name = "--port",
                         .into = &o->port,
                         .help = "Listen there; default: any that is free",
                         .type = "PORT",
                         .range = {{0, kMostPort}}},
                        {.name = "--via",
                         .into = &o->via,
                         .help = "Print the line that shows the page of a run on that host here",
                         .type = "HOST"}},
          .run = [o](const Context& context) { return page(*o, context.console); },
          .notes = "Who knows the address may look; it is of this machine alone."};
}

}  // namespace sterna::launcher
