// sterna up FILE: starts a run on its hosts and leaves it to itself, or to a queue.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "launcher/cluster_file/placement_view.h"
#include "launcher/commands/start.h"
#include "launcher/hosts/host_plan.h"
#include "launcher/job/job_plan.h"
#include "launcher/job/resume.h"
#include "launcher/past/queued_run.h"
#include "launcher/past/run_visitor.h"
#include "launcher/past/start_turn.h"
#include "launcher/record/run_directory.h"
#include "launcher/text/directory_path.h"
#include "launcher/text/machine_name.h"

namespace sterna::launcher {
namespace {

/// The run of this file that goes on already.
std::optional<RunState> already_up(RealMachine& machine, const RunStates& states,
                                   const std::string& path) {
  for (const RunState& state : states.all()) {
    if (state.file != path || !state.ended.empty() || !state.detached) continue;
    // Whoever keeps it here may be too busy to answer.
    const bool kept_here = state.keeper.machine == machine_name() && !state.keeper.is_gone();
    if (kept_here || comes_again(state)) return state;
    constexpr Duration kPatience = std::chrono::seconds(2);
    if (RunVisitor::visit(machine, state, kPatience)) return state;
    if (const auto job = queued_job(machine, state); job && !job->over) return state;
  }
  return std::nullopt;
}

/// The given options that a run that goes on already does not hear of.
std::vector<std::string> without_effect(const StartOptions& options, const RunState& state) {
  std::vector<std::string> idle;
  if (!options.given.overrides.empty()) idle.emplace_back("--set");
  if (!options.data.empty()) idle.emplace_back("--data");
  if (!options.run_dir.empty() && state.head.empty() &&
      absolute_directory(options.run_dir) != state.run_directory) {
    idle.emplace_back("--run-dir");
  }
  if (options.again() && state.supervisor.machine.empty()) idle.emplace_back("--again");
  return idle;
}

/// What a user of a detached run on this machine should know.
std::string sleep_warning(const ClusterFile& file) {
  if (head_is_remote(file)) return "";
  return "it is kept by this machine and ends if it sleeps; with cluster.head on another host it "
         "would not";
}

/// What the job itself would refuse, hours later. Where only the nodes see the directory, that is
/// left to it.
Result<void> check_directory(const StartOptions& options, ClusterFile file) {
  RunDirectoryOptions where;
  where.config = file.cluster.name;
  where.explicit_path = options.run_dir;
  const bool goes_on = file.trains() && file.checkpoint.on();
  where.goes_on = goes_on || goes_on_in_place(file);
  STERNA_TRY(RunDirectory::check(where));
  std::error_code ignored;
  if (!std::filesystem::is_directory(options.run_dir, ignored)) return {};
  if (goes_on) file = begun_again(std::move(file), options.run_dir);
  if (counts_epochs(file)) file.job.steps = UINT64_MAX;  // how many they are, its data say
  STERNA_ASSIGN(const auto from, checkpoint_to_resume(file, options.run_dir));
  return check_may_write_into(options.run_dir, file, from.get());
}

/// `sterna up` where a queue keeps the run.
int submit(RealMachine& machine, const JobQueue& queue, const StartOptions& options,
           const ClusterFile& file, const RunStates& states, const Console& console) {
  if (const Result<void> can = check_directory(options, file); !can) {
    return before_the_run(can.error(), console);
  }
  const Result<Submitted> job =
      queue.submit(machine, file, {options.data, options.run_dir, options.again()});
  if (!job) return console.report(job.error());
  RunState state;
  state.name = file.cluster.name;
  state.file = std::filesystem::absolute(options.given.file).lexically_normal().string();
  state.run_directory = job->run_directory;
  state.placer = file.cluster.placer;
  state.slurm_job = job->job;
  state.detached = true;
  state.began = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  Result<RunState> kept = states.begin(state);
  if (!kept) {
    console.say(kept.error().message);
    console.say("end it with " + job->undo);
    return kExitFailed;
  }
  state = std::move(kept).value();
  console.say(
      fmt::format("{0} is submitted as {1}; `sterna status {0}` asks after it, `sterna down {0}` "
                  "cancels it; it writes to {2}",
                  state.id, job->words, job->output));
  return options.json ? console.result(state_json_line(state) + "\n") : kExitDone;
}

/// Where the owner cannot start what the launcher started, it is of no use that it lives again.
Result<void> check_owner_reaches(const ClusterFile& file) {
  if (!head_is_remote(file)) return {};
  for (const HostSection& host : file.hosts) {
    if (host.name == file.cluster.head || !is_remote(file, host)) continue;
    return Error{
        Errc::invalid_argument,
        fmt::format("--again: {} is reached from this machine alone, and the run is kept on "
                    "{}: leave cluster.head out",
                    host.name, file.cluster.head)};
  }
  return {};
}

int up(const StartOptions& options, const Context& context) {
  const Console& console = context.console;
  const SteadyClock clock;
  const Result<ClusterFile> file = read_cluster_file(options.given.file, options.given.overrides);
  if (!file) return console.report(file.error());
  for (const std::string& line : doubtful_lines(*file)) console.say(line);
  if (options.again().value_or(0) > 0) {
    Result<void> can = check_again(*file);
    if (can && placer_of(*file).queue() == nullptr) can = check_owner_reaches(*file);
    if (!can) return console.report(can.error());
  }
  const std::string path =
      std::filesystem::absolute(options.given.file).lexically_normal().string();
  const Result<RunStates> states = RunStates::of_user();
  if (!states) return console.report(states.error());
  // Until the run's state is written.
  const Result<StartTurn> turn = StartTurn::take(*states, path, [&] {
    console.say("another `sterna up` starts a run of this file: waiting for it");
  });
  if (!turn) return console.report(turn.error());
  RealMachine machine;
  if (const auto state = already_up(machine, *states, path)) {
    console.say(
        fmt::format("{} is already up; `sterna watch {}` shows it, `sterna down {}` ends it",
                    state->id, state->id, state->id));
    if (const std::vector<std::string> idle = without_effect(options, *state); !idle.empty()) {
      console.say(fmt::format("it goes on as it was started, in {}{}: {} {} nothing of it",
                              state->head.empty() ? "" : state->head + ":", state->run_directory,
                              fmt::join(idle, " and "), idle.size() == 1 ? "changes" : "change"));
    }
    return options.json ? console.result(state_json_line(*state) + "\n") : kExitDone;
  }
  const Result<Program> program = check_program(machine, context.registry, *file);
  if (!program) return before_the_run(program.error(), console);
  if (const JobQueue* queue = placer_of(*file).queue()) {
    return submit(machine, *queue, options, *file, *states, console);
  }
  const Result<Bundles> bundles = bundles_for(*file);
  if (!bundles) return before_the_run(bundles.error(), console);

  std::unique_ptr<RunView> view = make_run_view(console.err, clock);
  OwnerClientOptions how = owner_options(options, *file, *program, *bundles, *view, console);
  how.order.detached = true;
  OwnerClient client(machine, std::move(how));
  Result<RunState> state = client.start();
  if (state && head_is_remote(*file)) state = keep_here(std::move(state).value());
  if (state) {
    if (const Result<void> left = client.detach(); !left) {
      if (head_is_remote(*file)) states->remove(state->id);
      state = left.error();
    }
  }
  view.reset();
  if (!state) {
    console.say(state.error().message);
    return client.over() && client.over()->exit != 0 ? client.over()->exit : kExitFailed;
  }
  const auto hosts = std::ranges::count(file->hosts, false, &HostSection::spare);
  console.say(fmt::format(
      "{} is up: {} actors on {} host{}; `sterna watch {}` shows it, `sterna down {}` "
      "ends it",
      state->id, file->actors.size(), hosts, hosts == 1 ? "" : "s", state->id, state->id));
  if (const std::uint64_t again = options.again().value_or(0); again > 0) {
    console.say(fmt::format("it is started again up to {} time{} where it loses whoever keeps it",
                            again, again == 1 ? "" : "s"));
  }
  if (const std::string warning = sleep_warning(*file); !warning.empty()) console.say(warning);
  return options.json ? console.result(state_json_line(*state) + "\n") : kExitDone;
}

}  // namespace

Command up_command() {
  const auto o = std::make_shared<StartOptions>();
  o->command = "up";
  return {"up", "Start a run on its hosts and leave it to itself",
          with_file(o->given,
                    {{"--data", &o->data, "The folder of the data set", "DIR"},
                     {"--run-dir", &o->run_dir,
                      "Where logs, metrics and weights go, on the head; must not exist", "DIR"},
                     again_argument(*o),
                     {"--json", &o->json, "Print the run as one line of JSON"}}),
          [o](const Context& context) { return up(*o, context); }};
}

}  // namespace sterna::launcher
