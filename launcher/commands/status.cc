// sterna status, sterna watch and sterna list: looking at runs that go on.
#include <fmt/format.h>

#include <csignal>
#include <cstdio>

#include "launcher/commands/commands.h"
#include "launcher/past/elsewhere.h"
#include "launcher/past/overview.h"
#include "launcher/past/queued_run.h"
#include "launcher/past/run_visitor.h"
#include "launcher/text/console.h"
#include "launcher/text/json_line.h"
#include "launcher/text/text_format.h"
#include "launcher/view/live_view.h"
#include "launcher/view/status_json.h"
#include "runtime/loop/signal_watch.h"

namespace sterna::launcher {
namespace {

constexpr Duration kPatience = std::chrono::seconds(5);
constexpr Duration kWatchInterval = std::chrono::milliseconds(500);

std::vector<std::string> words_for(const char* command, const VisitOptions& options) {
  std::vector<std::string> words = {command};
  if (options.json) words.emplace_back("--json");
  if (!options.run.empty()) words.push_back(options.run);
  return words;
}

/// Of a run whose coordinator cannot be asked from here.
int status_of_queued(RealMachine& machine, const RunState& state, bool json) {
  const Result<QueuedJob> job = queued_job(machine, state);
  if (json) {
    auto line = Json::parse(state_json_line(state));
    line[state.placer + "_job"] = state.slurm_job;
    line[state.placer + "_state"] = job ? Json(job->state) : nullptr;
    line[state.placer + "_nodes"] = job ? Json(job->nodes) : nullptr;
    if (!print_result(json_line(line) + "\n")) return exit_failed;
  } else if (!print_result(fmt::format("{}: {}\n", state.id, words_of(job)))) {
    return exit_failed;
  }
  return job ? exit_done : exit_failed;
}

/// Over: says so; elsewhere: asks the head, which may know more.
int without_answer(RealMachine& machine, const RunStates& states, const RunState& remembered,
                   const char* command, const VisitOptions& options, const Error& error) {
  const RunState state = with_queues_end(machine, states, remembered);
  if (!state.ended.empty()) {
    if (options.json) return print_result(state_json_line(state) + "\n") ? exit_done : exit_failed;
    say(fmt::format("{} has ended: {}", state.id, state.ended));
    return state.exit;
  }
  if (queue_of(state) != nullptr) return status_of_queued(machine, state, options.json);
  if (const std::optional<Elsewhere> head = head_elsewhere(state)) {
    VisitOptions there = options;
    there.run = state.id;
    return run_via(*head, words_for(command, there));
  }
  say(fmt::format("{}; `sterna down {}` makes sure that nothing of it is left", error.message,
                  state.id));
  return exit_failed;
}

}  // namespace

namespace {

/// What the codec saved: all workers' gradients and parameters as floats, and as they were sent.
std::string codec_line(const RunStatus& status) {
  if (status.coded_bytes_up == 0 || status.coded_bytes_down == 0) return "";
  return fmt::format("gradients {} as {} up, parameters {} as {} down\n",
                     bytes_text(status.raw_bytes_up), bytes_text(status.coded_bytes_up),
                     bytes_text(status.raw_bytes_down), bytes_text(status.coded_bytes_down));
}

}  // namespace

int status_command(const VisitOptions& options) {
  if (!options.via.empty()) return run_via({options.via}, words_for("status", options));
  const Result<RunStates> states = RunStates::of_user();
  if (!states) return report(states.error());
  const Result<RunState> state = states->find(options.run);
  if (!state) return report(state.error());
  RealMachine machine;
  const Result<std::unique_ptr<RunVisitor>> visitor =
      state->ended.empty() ? RunVisitor::visit(machine, *state, kPatience)
                           : Result<std::unique_ptr<RunVisitor>>(Error{Errc::unavailable, "ended"});
  if (!visitor) return without_answer(machine, *states, *state, "status", options, visitor.error());
  const Result<Overview> overview = (*visitor)->look();
  if (!overview) return report(overview.error());
  if (options.json) {
    return print_result(overview_json(*state, *overview) + "\n") ? exit_done : exit_failed;
  }
  RunStatus status = status_of(*state, *overview);
  status.actors.clear();  // the table below knows all processes
  constexpr std::size_t kWidth = 100;
  constexpr std::size_t kHeight = 24;
  std::string text;
  for (const std::string& line : render(status, {kWidth, kHeight, false, true}))
    text += line + "\n";
  text += codec_line(status) + "\n";
  for (const std::string& line : member_table(*overview)) text += line + "\n";
  return print_result(text) ? exit_done : exit_failed;
}

int watch_command(const VisitOptions& options) {
  if (!options.via.empty()) return run_via({options.via}, words_for("watch", options));
  const Result<RunStates> states = RunStates::of_user();
  if (!states) return report(states.error());
  const Result<RunState> state = states->find(options.run);
  if (!state) return report(state.error());
  RealMachine machine;
  Result<std::unique_ptr<RunVisitor>> visitor =
      state->ended.empty() ? RunVisitor::visit(machine, *state, kPatience)
                           : Result<std::unique_ptr<RunVisitor>>(Error{Errc::unavailable, "ended"});
  if (!visitor) return without_answer(machine, *states, *state, "watch", options, visitor.error());
  const SignalWatch interrupt(machine.loop(), SIGINT, [&] { (*visitor)->interrupt(); });
  const SteadyClock clock;
  std::unique_ptr<RunView> view = options.json ? nullptr : make_run_view(stdout, clock);
  RunStatus last;
  while (true) {
    const Result<Overview> overview = (*visitor)->look();
    if (!overview) break;
    last = status_of(*state, *overview);
    if (view) {
      view->update(last);
    } else if (!print_result(overview_json(*state, *overview) + "\n")) {
      return exit_failed;
    }
    if (!(*visitor)->pause(kWatchInterval) || (*visitor)->interrupted()) break;
  }
  if (view) view->finish(last);
  view.reset();
  if ((*visitor)->interrupted()) return exit_done;  // the run goes on
  // It has ended; its owner leaves word of how.
  const Result<RunState> after = states->find(state->id);
  if (after && after->ended.empty())
    return without_answer(machine, *states, *after, "status", options, {});
  if (!after || after->ended.empty()) {
    say(fmt::format("{} has ended; its directory is {}", state->id, state->run_directory));
    return exit_done;
  }
  say(after->ended);
  return after->exit;
}

int list_command(const VisitOptions& options) {
  if (!options.via.empty()) return run_via({options.via}, words_for("list", options));
  const Result<RunStates> states = RunStates::of_user();
  if (!states) return report(states.error());
  std::string text;
  RealMachine machine;
  for (const RunState& remembered : states->all()) {
    const RunState state = with_queues_end(machine, *states, remembered);
    std::string word = state.ended.empty() ? "" : "ended: " + state.ended;
    Json told = {{"phase", state.ended.empty() ? "does not answer" : "ended"}};
    if (word.empty()) {
      constexpr Duration kShort = std::chrono::seconds(2);
      const auto visitor = RunVisitor::visit(machine, state, kShort);
      const Result<Overview> overview =
          visitor ? (*visitor)->look() : Result<Overview>(visitor.error());
      if (overview) {
        const RunStatus status = status_of(state, *overview);
        word = status.phase;
        if (status.steps > 0) word += fmt::format(", step {} of {}", status.step, status.steps);
        told = {{"phase", status.phase}, {"step", status.step}, {"steps", status.steps}};
      } else if (queue_of(state) != nullptr) {
        word = words_of(queued_job(machine, state));
      } else {
        word = "does not answer";
      }
    }
    if (options.json) {
      Json line = Json::parse(state_json_line(state));
      line.update(told);
      text += json_line(line) + "\n";
    } else {
      const std::string where =
          state.hosts.empty()
              ? fmt::format("{:<7}", state.placer)
              : fmt::format("{} host{}", state.hosts.size(), state.hosts.size() == 1 ? " " : "s");
      text += fmt::format("{}  {}  {}\n", state.id, where, word);
    }
  }
  if (text.empty() && !options.json) say("no run is known here");
  return print_result(text) ? exit_done : exit_failed;
}

}  // namespace sterna::launcher
