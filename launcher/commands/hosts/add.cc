// sterna add: a host that a run does not have is one of its hosts from now on.
#include <fmt/format.h>

#include <csignal>

#include "launcher/commands/visit.h"
#include "launcher/past/overview.h"
#include "launcher/text/json_line.h"
#include "runtime/loop/signal_watch.h"

namespace sterna::launcher {
namespace {

struct AddOptions : VisitOptions {
  std::string host;
  std::string within = "30s";
};

int add(AddOptions options, const Console& console) {
  const Result<Duration> within = within_of(options.within);
  if (!within) return console.report(within.error());
  options.changes = true;
  options.more = {options.host, "--within", options.within};
  return with_visitor("add", options, console, [&](const Visit& visit) {
    const SignalWatch interrupt(visit.machine.loop(), SIGINT, [&] { visit.visitor.interrupt(); });
    if (visit.state.placer == "join") {
      console.say(
          fmt::format("bring {0} the file {1}/join/{0} once it is there, and run there: "
                      "sterna join FILE",
                      options.host, visit.state.run_directory));
    }
    const Result<Overview> before = visit.visitor.look();
    if (!before) return console.report(before.error());
    const Result<void> added = visit.visitor.add_host(options.host, *within);
    if (!added) return console.report(added.error());
    if (options.json) {
      return console.result(json_line({{"host", options.host}}) + "\n");
    }
    if (has_host(*before, options.host)) {
      console.say(fmt::format("\"{}\" is one of the run's hosts already, and stays", options.host));
      return kExitDone;
    }
    console.say(
        fmt::format("\"{}\" is one of the run's hosts now: actors go there where theirs is "
                    "lost or drained, or by `sterna move`",
                    options.host));
    return kExitDone;
  });
}

}  // namespace

Command add_command() {
  const auto o = std::make_shared<AddOptions>();
  return {"add", "Make a host one of a run's hosts: a spare one, or one that was drained or lost",
          visit_arguments(
              *o, {named_run_argument(o->run), host_argument(o->host), within_argument(o->within)}),
          [o](const Context& context) { return add(*o, context.console); }};
}

}  // namespace sterna::launcher
