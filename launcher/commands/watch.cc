// sterna watch: a run as it goes on, live, until it ends or the user has seen enough.
#include <fmt/format.h>

#include <csignal>
#include <optional>

#include "launcher/commands/record/directory_end.h"
#include "launcher/commands/visit.h"
#include "launcher/past/overview.h"
#include "launcher/view/live_view.h"
#include "runtime/loop/signal_watch.h"

namespace sterna::launcher {
namespace {

constexpr Duration kWatchInterval = std::chrono::milliseconds(500);
/// Logs of other hosts are fetched first.
constexpr Duration kLeavesWordWithin = std::chrono::seconds(10);
constexpr Duration kLookAgain = std::chrono::milliseconds(100);

/// What is remembered of it by now; none where it is forgotten.
std::optional<RunState> remembered(const Visit& visit) {
  const Result<RunState> now = visit.states.find(visit.state.id);
  if (!now || now->id != visit.state.id) return std::nullopt;  // another may begin so
  return *now;
}

/// Of a run whose coordinator is gone. Whoever keeps it says a moment later how it has ended: of
/// one that is left to itself it is remembered, else it stands in the run's directory.
int tell_end(const Visit& visit, const VisitOptions& options, const Console& console) {
  const Loop& loop = visit.machine.loop();
  const Time until = loop.now() + kLeavesWordWithin;
  while (true) {
    const std::optional<RunState> now = remembered(visit);
    if (now && !now->ended.empty()) {
      console.say(now->ended);
      return now->exit;
    }
    const bool is_here = visit.state.head.empty();
    if (!now && is_here) {
      const Result<DirectoryEnd> end = directory_end(visit.state.run_directory);
      if (end && end->is_over()) {
        console.say(end->told_of(visit.state.id));
        return end->exit;
      }
    }
    if (visit.visitor.interrupted()) return kExitDone;
    const bool waits = is_here && !(now && now->keeper.is_gone());
    if (!waits || loop.now() >= until) {
      if (now) {
        const Error why{Errc::unavailable,
                        visit.state.id + (now->keeper.is_gone() ? ": whoever kept it is gone"
                                                                : ": it has not said its end yet")};
        return without_answer(visit.machine, visit.states, *now, "status", options, why, console);
      }
      console.say(fmt::format("{} has ended; its directory is {}", visit.state.id,
                              visit.state.run_directory));
      return kExitFailed;
    }
    visit.machine.loop().run_until([&] { return visit.visitor.interrupted(); },
                                   loop.now() + kLookAgain);
  }
}

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
    Printed printed = Printed::written;
    if (view) {
      view->update(last);
      printed = console.printed(view->failed());
    } else {
      printed = console.print_result(overview_json(visit.state, *overview) + "\n");
    }
    if (printed != Printed::written || !console.is_read()) return exit_of(printed);
    if (!visitor.pause(kWatchInterval) || visitor.interrupted()) break;
  }
  if (view) view->finish(last);
  view.reset();
  if (visitor.interrupted()) return kExitDone;  // the run goes on
  return tell_end(visit, options, console);
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
