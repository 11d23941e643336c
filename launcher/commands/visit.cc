#include "launcher/commands/visit.h"

#include <fmt/format.h>

#include "input/files/folder_lock.h"
#include "launcher/past/elsewhere.h"
#include "launcher/past/queued_run.h"
#include "launcher/text/json_line.h"
#include "launcher/text/text_format.h"
#include "launcher/text/whole_number.h"
#include "runtime/base/duration_text.h"
#include "runtime/base/file.h"

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
  return console.print_result(text) && job ? kExitDone : kExitFailed;
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

/// Of a run that nobody remembers, whose directory is here: how it ended. None where it has not.
std::optional<int> end_in_directory(const std::string& directory, bool json,
                                    const Console& console) {
  const Result<std::string> text = read_file(directory + "/result.json");
  const Json result = text ? Json::parse(*text, nullptr, false) : Json();
  const std::optional<double> exit =
      result.is_object() ? json_number_of(result, "exit") : std::nullopt;
  if (!exit) return std::nullopt;
  // One that goes on in it has not said its end yet.
  if (!input::FolderLock::take(directory)) return std::nullopt;
  if (json) return console.result(json_line(result) + "\n");
  const auto code = static_cast<int>(whole_number(*exit, 0, 255));
  const std::optional<double> steps = json_number_of(result, "steps");
  console.say(fmt::format(
      "{} has ended{}: {}", directory,
      steps ? " at step " + thousands(whole_number(*steps, 0, kLastStep)) : std::string(),
      code == kExitDone ? "done" : json_text_of(result, "cause", "")));
  if (const std::string resume = json_text_of(result, "resume", ""); !resume.empty()) {
    console.say("it goes on from its newest checkpoint with\n" + resume);
  }
  return code;
}

}  // namespace

int without_answer(RealMachine& machine, const RunStates& states, const RunState& remembered,
                   const std::string& command, const VisitOptions& options, const Error& error,
                   const Console& console) {
  const RunState state = with_queues_end(machine, states, remembered, console);
  if (!state.ended.empty()) {
    if (options.json) return console.result(state_json_line(state) + "\n");
    console.say(fmt::format("{} has ended: {}", state.id, state.ended));
    return state.exit;
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
  if (const std::string resume = resume_of(state); !resume.empty()) {
    console.say("it goes on from its newest checkpoint with\n" + resume);
  }
  return kExitFailed;
}

int with_visitor(const std::string& command, const VisitOptions& options, const Console& console,
                 const std::function<int(const Visit&)>& then) {
  if (!options.via.empty()) return run_via({options.via}, words_for(command, options), console);
  const Result<RunStates> states = RunStates::of_user();
  if (!states) return console.report(states.error());
  const Result<RunState> state = states->find(options.run);
  if (!state && state.error().code == Errc::not_found && !options.run.empty()) {
    const auto exit = end_in_directory(options.run, options.json, console);
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
