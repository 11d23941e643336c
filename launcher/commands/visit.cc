#include "launcher/commands/visit.h"

#include <fmt/format.h>

#include "launcher/commands/record/directory_end.h"
#include "launcher/past/elsewhere.h"
#include "launcher/past/queued_run.h"
#include "launcher/record/run_directory.h"
#include "launcher/text/json_line.h"
#include "runtime/base/duration_text.h"

namespace sterna::launcher {
namespace {

/// Of a run whose coordinator cannot be asked from here.
int status_of_queued(RealMachine& machine, const RunState& state, bool json,
                     const Console& console) {
  const Result<QueuedJob> job = queued_job(machine, state);
  std::string text = fmt::format("{}: {}\n", state.id, words_of(job));
  if (json) {
    Json line = Json::parse(state_json_line(state));
    line[state.placer + "_job"] = state.slurm_job;
    line[state.placer + "_state"] = job ? Json(job->state) : nullptr;
    line[state.placer + "_nodes"] = job ? Json(job->nodes) : nullptr;
    text = json_line(line) + "\n";
  }
  const int exit = console.result(text);
  return job ? exit : kExitFailed;
}

}  // namespace

Argument run_argument(std::string& run) {
  return {"RUN", &run, "Its id, name or directory; default: the only one"};
}

std::vector<Argument> visit_arguments(VisitOptions& options, std::vector<Argument> own) {
  own.push_back({"--via", &options.via, "Ask on that host, over ssh", "HOST"});
  own.push_back({"--json", &options.json, "Print JSON, a line each"});
  return own;
}

Argument named_run_argument(std::string& run) {
  return {.name = "RUN",
          .into = &run,
          .help = "Its id, name or directory, or how either of the first begins",
          .required = true};
}

Argument host_argument(std::string& host) {
  return {.name = "HOST",
          .into = &host,
          .help = "The host, as the run's file calls it",
          .required = true};
}

Argument within_argument(std::string& text) {
  return {.name = "--within",
          .into = &text,
          .help = "How long that may take",
          .type = "TIME",
          .shows_default = true};
}

Result<Duration> within_of(const std::string& text) {
  const std::optional<Duration> within = parse_duration(text);
  if (within && *within > Duration::zero()) return *within;
  return Error{Errc::invalid_argument,
               fmt::format("--within {}: say how long, as in 30s or 2m", text)};
}

std::vector<std::string> words_for(const std::string& command, const VisitOptions& options) {
  std::vector<std::string> words = {command};
  if (options.json) words.emplace_back("--json");
  if (options.view.plain) words.emplace_back("--plain");
  if (options.view.by_host) words.emplace_back("--hosts");
  if (!options.run.empty()) words.push_back(options.run);
  words.insert(words.end(), options.more.begin(), options.more.end());
  return words;
}

namespace {

constexpr const char* kIsOver = "has ended (`sterna status` says how)";

/// Of a run that is over, or waits, and was to be changed.
int nothing_changed(const std::string& command, const std::string& run, const std::string& why,
                    const Console& console) {
  return console.report(
      {Errc::unavailable,
       fmt::format("{} {}, and so `sterna {}` has done nothing", run, why, command)});
}

/// Of a run that nobody remembers, whose directory is here: what that says. None where it is no
/// run's.
std::optional<int> told_by_directory(const std::string& command, const VisitOptions& options,
                                     const Console& console) {
  std::string directory = options.run;
  Result<DirectoryEnd> end = directory_end(directory);
  // Where runs are that were given no directory.
  const bool is_name = directory.find('/') == std::string::npos;
  if (end && end->phase == DirectoryEnd::Phase::no_run && is_name) {
    directory = fmt::format("{}/{}", kRunsFolder, options.run);
    end = directory_end(directory);
  }
  if (!end) return console.report(end.error());
  if (end->is_over() && options.changes) {
    return nothing_changed(command, directory, kIsOver, console);
  }
  if (end->is_over() && options.json) return console.result(end->json + "\n");
  if (end->is_over()) {
    console.say(end->told_of(directory));
    return end->exit;
  }
  if (end->phase == DirectoryEnd::Phase::no_run) return std::nullopt;
  return console.report(
      {Errc::not_found,
       fmt::format("a run goes on in {}, and nothing is remembered of it here: it begins or ends "
                   "at this moment, or another user or machine keeps it",
                   directory)});
}

void say_resume(const std::string& resume, const Console& console) {
  if (!resume.empty()) console.say("it goes on from its newest checkpoint with\n" + resume);
}

}  // namespace

int without_answer(RealMachine& machine, const RunStates& states, const RunState& remembered,
                   const std::string& command, const VisitOptions& options, const Error& error,
                   const Console& console) {
  const RunState state = with_queues_end(machine, states, remembered, console);
  if (!state.ended.empty() && options.changes) {
    return nothing_changed(command, state.id, kIsOver, console);
  }
  if (!state.ended.empty()) {
    if (options.json) return console.result(state_json_line(state) + "\n");
    console.say(fmt::format("{} has ended: {}", state.id, state.ended));
    // Whoever was killed left no last words.
    const std::string resume = resume_of(state);
    if (state.ended.find(resume) == std::string::npos) say_resume(resume, console);
    return state.exit;
  }
  if (queue_of(state) != nullptr && options.changes) {
    const std::string why = "does not answer: " + words_of(queued_job(machine, state));
    return nothing_changed(command, state.id, why, console);
  }
  if (queue_of(state) != nullptr) return status_of_queued(machine, state, options.json, console);
  if (const std::optional<Elsewhere> head = head_elsewhere(state)) {
    VisitOptions there = options;
    there.run = state.id;
    return run_via(*head, words_for(command, there), console);
  }
  if (comes_again(state)) {
    console.say(fmt::format("{}: what kept it has ended, and it is started again", state.id));
    return kExitFailed;
  }
  console.say(fmt::format("{}; `sterna down {}` makes sure that nothing of it is left",
                          error.message, state.id));
  say_resume(resume_of(state), console);
  return kExitFailed;
}

int with_visitor(const std::string& command, const VisitOptions& options, const Console& console,
                 const std::function<int(const Visit&)>& then) {
  if (!options.via.empty()) return run_via({options.via}, words_for(command, options), console);
  const Result<RunStates> states = RunStates::of_user();
  if (!states) return console.report(states.error());
  const Result<RunState> state = states->find(options.run);
  if (!state && state.error().code == Errc::not_found && !options.run.empty()) {
    const auto exit = told_by_directory(command, options, console);
    if (exit) return *exit;
  }
  if (!state) return console.report(state.error());
  RealMachine machine;
  const Result<std::unique_ptr<RunVisitor>> visitor =
      state->ended.empty() ? RunVisitor::visit(machine, *state, kVisitPatience)
                           : Result<std::unique_ptr<RunVisitor>>(Error{Errc::unavailable, "ended"});
  if (visitor) return then({machine, *states, *state, **visitor});
  return without_answer(machine, *states, *state, command, options, visitor.error(), console);
}

}  // namespace sterna::launcher
