// sterna list: the runs that this user started here.
#include <fmt/format.h>

#include "launcher/commands/visit.h"
#include "launcher/past/elsewhere.h"
#include "launcher/past/overview.h"
#include "launcher/past/queued_run.h"
#include "launcher/text/json_line.h"
#include "launcher/text/text_format.h"

namespace sterna::launcher {
namespace {

/// Several lines as one: "...; it goes on from its newest checkpoint with sterna up ...".
std::string in_a_line(std::string text) {
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', end)) {
    const bool goes_on = std::string_view(text).substr(0, end).ends_with(" with");
    text.replace(end, 1, goes_on ? " " : "; ");
  }
  return printable(text);
}

/// A run in a word for people, and as what a program reads.
std::pair<std::string, Json> told_of(RealMachine& machine, const RunState& state) {
  const std::string resume = resume_of(state);
  const std::string goes_on = resume.empty() ? "" : "; it goes on with " + resume;
  if (!state.ended.empty()) {
    const bool said = state.ended.find(resume) != std::string::npos;
    return {"ended: " + in_a_line(state.ended) + (said ? "" : goes_on), {{"phase", "ended"}}};
  }
  if (is_abandoned(state)) {
    return {"whoever kept it is gone; `sterna down` forgets it" + goes_on,
            {{"phase", "abandoned"}}};
  }
  if (comes_again(state)) {
    return {"what kept it has ended, and it is started again", {{"phase", "restarting"}}};
  }
  constexpr Duration kShort = std::chrono::seconds(2);
  const auto visitor = RunVisitor::visit(machine, state, kShort);
  if (const auto overview = visitor ? (*visitor)->look() : Result<Overview>(visitor.error())) {
    const RunStatus status = status_of(state, *overview);
    std::string word = status.phase;
    if (status.steps > 0) word += fmt::format(", step {} of {}", status.step, status.steps);
    return {word, {{"phase", status.phase}, {"step", status.step}, {"steps", status.steps}}};
  }
  std::string word = "does not answer";
  if (queue_of(state) != nullptr) word = words_of(queued_job(machine, state));
  if (head_elsewhere(state)) {
    word += fmt::format("; `sterna status {}` asks {}", state.id, state.head);
  }
  return {word, {{"phase", "does not answer"}}};
}

int list(const VisitOptions& options, const Console& console) {
  if (!options.via.empty()) return run_via({options.via}, words_for("list", options), console);
  const Result<RunStates> states = RunStates::of_user();
  if (!states) return console.report(states.error());
  std::string text;
  RealMachine machine;
  for (const RunState& remembered : states->all()) {
    const RunState state = with_queues_end(machine, *states, remembered, console);
    const auto [word, told] = told_of(machine, state);
    if (options.json) {
      Json line = Json::parse(state_json_line(state));
      line.update(told);
      text += json_line(line) + "\n";
      continue;
    }
    const std::string where =
        state.hosts.empty()
            ? fmt::format("{:<7}", state.placer)
            : fmt::format("{} host{}", state.hosts.size(), state.hosts.size() == 1 ? " " : "s");
    text += fmt::format("{}  {}  {}\n", state.id, where, word);
  }
  if (text.empty() && !options.json) console.say("no run is known here");
  return console.result(text);
}

}  // namespace

Command list_command() {
  const auto o = std::make_shared<VisitOptions>();
  return {
      .name = "list",
      .help = "The runs that this user started here",
      .arguments = visit_arguments(*o, {}),
      .run = [o](const Context& context) { return list(*o, context.console); },
      .notes = fmt::format("Of those that `sterna up` started and that are over it has the last "
                           "{}, each with how it\nended; `sterna down` ends the others.",
                           kEndedKept)};
}

}  // namespace sterna::launcher
