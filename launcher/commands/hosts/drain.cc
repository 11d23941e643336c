// sterna drain: a host is given back in the middle of a run; what is there goes on on the others.
#include <fmt/format.h>

#include <csignal>

#include "launcher/commands/visit.h"
#include "launcher/past/overview.h"
#include "launcher/text/json_line.h"
#include "runtime/loop/signal_watch.h"

namespace sterna::launcher {
namespace {

struct DrainOptions : VisitOptions {
  std::string host;
  std::string within = "30s";
};

int drain(DrainOptions options, const Console& console) {
  const Result<Duration> within = within_of(options.within);
  if (!within) return console.report(within.error());
  options.changes = true;
  options.more = {options.host, "--within", options.within};
  return with_visitor("drain", options, console, [&](const Visit& visit) {
    const SignalWatch interrupt(visit.machine.loop(), SIGINT, [&] { visit.visitor.interrupt(); });
    const Result<Moved> drained = visit.visitor.drain(options.host, *within);
    if (!drained) {
      Error error = drained.error();
      if (error.code == Errc::not_found) error.message += other_hosts(visit.state, options.host);
      return console.report(error);
    }
    if (options.json) {
      return console.result(json_line({{"host", options.host}, {"moved", drained->moved}}) + "\n");
    }
    for (const std::string& one : drained->moved) console.say("moved " + one);
    console.say(fmt::format("\"{}\" has none of the run's actors any more", options.host));
    return kExitDone;
  });
}

}  // namespace

Command drain_command() {
  const auto o = std::make_shared<DrainOptions>();
  return {"drain", "Move the actors of one host to the others, and give it back",
          visit_arguments(
              *o, {named_run_argument(o->run), host_argument(o->host), within_argument(o->within)}),
          [o](const Context& context) { return drain(*o, context.console); }};
}

}  // namespace sterna::launcher
