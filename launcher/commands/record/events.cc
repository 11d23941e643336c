// sterna events: what happened to a run beside training.
#include <fmt/format.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "launcher/commands/command.h"
#include "launcher/past/run_state.h"
#include "launcher/record/event.h"
#include "launcher/record/run_directory.h"
#include "launcher/text/growing_file.h"
#include "runtime/loop/signal_watch.h"
#include "runtime/loop/uv_loop.h"

namespace sterna::launcher {
namespace {

constexpr Duration kLookAgain = std::chrono::milliseconds(200);

struct EventsOptions {
  std::string run;
  bool follow = false;
  bool json = false;
};

int events(const EventsOptions& options, const Console& console) {
  const Result<std::string> run = run_directory_of(options.run);
  if (!run) return console.report(run.error());
  const std::string path = *run + "/" + std::string(kEventsFile);
  if (std::error_code ignored; !std::filesystem::exists(path, ignored)) {
    return console.report(
        {Errc::not_found, "no events of " + options.run + ": there is no " + path});
  }
  GrowingFile file(path);
  UvLoop loop;
  bool interrupted = false;
  const SignalWatch interrupt(loop, SIGINT, [&] { interrupted = true; });
  bool ended = false;
  std::uint64_t number = 0;
  while (true) {
    std::string text;
    for (const std::string& line : file.lines()) {
      const Result<Event> event = parse_event(line);
      ++number;
      if (!event) {
        return console.report(Error(event.error()).in(fmt::format("{}:{}", path, number)));
      }
      ended = event->kind == "ended";
      text += (options.json ? line : to_text(*event)) + "\n";
    }
    const Printed printed = console.print_result(text);
    if (printed != Printed::written || !console.is_read()) return exit_of(printed);
    if (file.has_more()) continue;
    if (!options.follow || ended || interrupted) return kExitDone;
    loop.run_until([&] { return interrupted; }, loop.now() + kLookAgain);
  }
}

}  // namespace

Command events_command() {
  const auto options = std::make_shared<EventsOptions>();
  return {
      .name = "events",
      .help = "What happened to a run: deaths, restarts, lost connections",
      .arguments = {{.name = "RUN",
                     .into = &options->run,
                     .help = "A run directory, or the name of a run that this machine remembers",
                     .required = true},
                    {.name = "-f,--follow",
                     .into = &options->follow,
                     .help = "And what happens from now on, until the run ends"},
                    {.name = "--json",
                     .into = &options->json,
                     .help = "The lines as they are in events.jsonl"}},
      .run = [options](const Context& context) { return events(*options, context.console); },
      .examples = {"sterna events runs/a", "sterna events runs/a -f"}};
}

}  // namespace sterna::launcher
