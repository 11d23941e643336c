// sterna move: an actor goes on on another host of its run.
#include <fmt/format.h>

#include <csignal>

#include "launcher/commands/visit.h"
#include "launcher/text/json_line.h"
#include "runtime/loop/signal_watch.h"

namespace sterna::launcher {
namespace {

struct MoveOptions : VisitOptions {
  std::string actor;
  std::string host;
  std::string within = "30s";
};

int move(MoveOptions options, const Console& console) {
  const Result<Duration> within = within_of(options.within);
  if (!within) return console.report(within.error());
  options.changes = true;
  options.more = {options.actor, options.host, "--within", options.within};
  return with_visitor("move", options, console, [&](const Visit& visit) {
    const SignalWatch interrupt(visit.machine.loop(), SIGINT, [&] { visit.visitor.interrupt(); });
    const Result<Moved> moved = visit.visitor.move(options.actor, options.host, *within);
    if (!moved) return console.report(moved.error());
    if (options.json) return console.result(json_line({{"moved", moved->moved}}) + "\n");
    for (const std::string& one : moved->moved) console.say("moved " + one);
    return kExitDone;
  });
}

}  // namespace

Command move_command() {
  const auto o = std::make_shared<MoveOptions>();
  return {"move", "Move an actor of a run to another of its hosts",
          visit_arguments(*o, {named_run_argument(o->run),
                               {.name = "ACTOR",
                                .into = &o->actor,
                                .help = "The actor's name, as `sterna status` has it",
                                .required = true},
                               host_argument(o->host),
                               within_argument(o->within)}),
          [o](const Context& context) { return move(*o, context.console); }};
}

}  // namespace sterna::launcher
