// sterna watch: a run as it goes on, live, until it ends or the user has seen enough.
#include <fmt/format.h>

#include <csignal>

#include "launcher/commands/visit.h"
#include "launcher/past/overview.h"
#include "launcher/view/live_view.h"
#include "runtime/loop/signal_watch.h"

namespace sterna::launcher {
namespace {

constexpr Duration kWatchInterval = std::chrono::milliseconds(500);

int watch(const Visit& visit, const VisitOptions& options, const Console& console) {
  RunVisitor& visitor = visit.visitor;
  const SignalWatch interrupt(visit.machine.loop(), SIGINT, [&] { visitor.interrupt(); });
  const SteadyClock clock;
  std::unique_ptr<RunView> view =
      options.json ? nullptr : make_run_view(console.out, clock, options.view);
  RunStatus last;
  while (true) {
    const Result<Overview> overview = visitor.look();
    if (!overview) break;
    last = status_of(visit.state, *overview);
    if (view) {
      view->update(last);
    } else if (!console.print_result(overview_json(visit.state, *overview) + "\n")) {
      return kExitFailed;
    }
    if (!visitor.pause(kWatchInterval) || visitor.interrupted()) break;
  }
  if (view) view->finish(last);
  view.reset();
  if (visitor.interrupted()) return kExitDone;  // the run goes on
  // It has ended; its owner leaves word of how.
  const Result<RunState> after = visit.states.find(visit.state.id);
  if (!after) {
    console.say(fmt::format("{} has ended; its directory is {}", visit.state.id,
                            visit.state.run_directory));
    return kExitDone;
  }
  if (after->ended.empty()) {
    return without_answer(visit.machine, visit.states, *after, "status", options, {}, console);
  }
  console.say(after->ended);
  return after->exit;
}

}  // namespace

Command watch_command() {
  const auto o = std::make_shared<VisitOptions>();
  return {"watch", "The same, live, with the accuracy",
          visit_arguments(*o, {run_argument(o->run),
                               {.name = "--plain",
                                .into = &o->view.plain,
                                .help = "Lines one below the other, for screen readers and logs"},
                               {.name = "--hosts",
                                .into = &o->view.by_host,
                                .help = "A row for each host in place of one for each actor"}}),
          [o](const Context& context) {
            return with_visitor("watch", *o, context.console, [&](const Visit& visit) {
              return watch(visit, *o, context.console);
            });
          }};
}

}  // namespace sterna::launcher
