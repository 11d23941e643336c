// sterna run FILE and sterna up FILE: the same job, in the foreground or left to itself.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <ctime>
#include <filesystem>

#include "launcher/cluster_file/cluster_file.h"
#include "launcher/commands/commands.h"
#include "launcher/hosts/bundle_archive.h"
#include "launcher/hosts/host_plan.h"
#include "launcher/hosts/placer.h"
#include "launcher/owner/owner_client.h"
#include "launcher/past/queued_run.h"
#include "launcher/past/run_visitor.h"
#include "launcher/run/whole_run.h"
#include "launcher/text/console.h"
#include "runtime/base/random.h"

namespace sterna::launcher {

namespace {

/// Whatever stops a run before it begins is to be put right first.
int before_the_run(const Error& error) {
  report(error);
  return exit_bad_input;
}

/// What is shipped to the hosts; nothing where all is on this machine.
struct Bundles {
  RemoteBundle nodes;
  RemoteBundle own;
};

Result<Bundles> bundles_for(const ClusterFile& file) {
  Bundles bundles;
  if (!has_remote_hosts(file) || !placer_of(file).ships()) return bundles;
  STERNA_ASSIGN(bundles.nodes, archived_bundle(file.program.path));
  bundles.own = bundles.nodes;
  if (head_is_remote(file) && !file.program.path.empty()) {
    STERNA_ASSIGN(bundles.own, archived_bundle(""));
  }
  return bundles;
}

OwnerClientOptions owner_options(const RunOptions& options, const ClusterFile& file,
                                 const Program& program, const Bundles& bundles, RunView& view) {
  OwnerClientOptions client;
  client.file = file;
  client.nodes = bundles.nodes;
  client.own = bundles.own;
  client.order.file_path = std::filesystem::absolute(options.file).lexically_normal().string();
  client.order.data = options.data;
  client.order.run_dir = options.run_dir;
  const bool elsewhere = head_is_remote(file);
  client.order.run_parent = elsewhere ? head_of(file)->work + "/runs" : "runs";
  client.order.run = SystemRandom().next() | 1;
  client.order.schema_hash = program.schema_hash;
  // On a head that is another machine it lies in the bundle that was shipped there.
  client.order.program = program.path;
  if (elsewhere && !program.path.empty()) {
    client.order.program = fmt::format("{}/bundles/{}/bin/{}", head_of(file)->work,
                                       bundles.nodes.hash, bundles.nodes.program);
  }
  client.progress = [](std::string_view line) { say(line); };
  client.status = [&view](const RunStatus& status) { view.update(status); };
  return client;
}

int print_end(const RunOptions& options, int exit, const std::string& last_words,
              const std::string& json) {
  if (exit == exit_done && !options.json) {
    if (!print_result(last_words + "\n")) return exit_failed;
  } else {
    say(last_words);
  }
  if (options.json && !json.empty() && !print_result(json + "\n") && exit == exit_done) {
    return exit_failed;
  }
  return exit;
}

/// The head has a copy of its own; each of the two uses identities that the other does not.
void keep_here(RunState state) {
  state.operators.resize(state.operators.size() / 2);
  const Result<RunStates> states = RunStates::of_user();
  const Result<void> kept = states ? states->write(state) : Result<void>(states.error());
  if (!kept) say(kept.error().message);
}

/// The run of a head that is another machine.
int run_elsewhere(RealMachine& machine, const RunOptions& options, const ClusterFile& file,
                  const Program& program, const Bundles& bundles) {
  const SteadyClock clock;
  std::unique_ptr<RunView> view = make_run_view(options.json ? stderr : stdout, clock);
  OwnerClient client(machine, owner_options(options, file, program, bundles, *view));
  const Result<RunState> started = client.start();
  if (!started && !client.over()) return before_the_run(started.error());
  if (started) keep_here(*started);
  const OwnerClient::Over over = client.wait();
  if (const Result<RunStates> states = RunStates::of_user(); started && states) {
    states->remove(started->id);
  }
  view.reset();
  return print_end(options, over.exit, over.last_words, over.result_json);
}

/// The run of this file that goes on already.
std::optional<RunState> already_up(RealMachine& machine, const std::string& file) {
  const Result<RunStates> states = RunStates::of_user();
  if (!states) return std::nullopt;
  const std::string path = std::filesystem::absolute(file).lexically_normal().string();
  for (const RunState& state : states->all()) {
    if (state.file != path || !state.ended.empty() || !state.detached) continue;
    constexpr Duration kPatience = std::chrono::seconds(2);
    if (RunVisitor::visit(machine, state, kPatience)) return state;
    if (const auto job = queued_job(machine, state); job && !job->over) return state;
  }
  return std::nullopt;
}

/// What is remembered of the submission of the job that this is, where the home is shared.
std::optional<RunState> submitted_run(const JobQueue* queue) {
  const std::string job = queue == nullptr ? "" : queue->own_job();
  const Result<RunStates> states = RunStates::of_user();
  if (job.empty() || !states) return std::nullopt;
  for (const RunState& state : states->all()) {
    if (state.slurm_job == job && state.detached && state.ended.empty()) return state;
  }
  return std::nullopt;
}

/// What a user of a detached run on this machine should know.
std::string sleep_warning(const ClusterFile& file) {
  if (head_is_remote(file)) return "";
  return "it is kept by this machine and ends if it sleeps; with cluster.head on another host it "
         "would not";
}

/// `sterna up` where a queue keeps the run.
int submit(RealMachine& machine, const JobQueue& queue, const RunOptions& options,
           const ClusterFile& file) {
  const Result<RunStates> states = RunStates::of_user();
  if (!states) return report(states.error());
  const Result<Submitted> job = queue.submit(machine, file, {options.data, options.run_dir});
  if (!job) return report(job.error());
  RunState state;
  state.id = std::filesystem::path(job->run_directory).filename().string();
  state.name = file.cluster.name;
  state.file = std::filesystem::absolute(options.file).lexically_normal().string();
  state.run_directory = job->run_directory;
  state.placer = file.cluster.placer;
  state.slurm_job = job->job;
  state.detached = true;
  state.began = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  if (const Result<void> kept = states->write(state); !kept) {
    say(kept.error().message);
    say("end it with " + job->undo);
    return exit_failed;
  }
  say(
      fmt::format("{0} is submitted as {1}; `sterna status {0}` asks after it, `sterna down {0}` "
                  "cancels it; it writes to {2}",
                  state.id, job->words, job->output));
  return !options.json || print_result(state_json_line(state) + "\n") ? exit_done : exit_failed;
}

}  // namespace

int run_command(const RunOptions& options, const Registry& registry) {
  const SteadyClock clock;
  WholeRunOptions whole;
  whole.began = clock.now();
  Result<ClusterFile> file = read_cluster_file(options.file, options.overrides);
  if (!file) return report(file.error());
  RealMachine machine;
  const Placer& placer = placer_of(*file);
  file = placer.with_hosts(machine, std::move(file).value());
  if (!file) return before_the_run(file.error());
  std::shared_ptr<void> watch;
  if (placer.queue()) watch = placer.queue()->watch(machine.loop(), [] { ::raise(SIGTERM); });
  Result<Program> program = check_program(machine, registry, *file);
  if (!program) return before_the_run(program.error());
  const Result<Bundles> bundles = bundles_for(*file);
  if (!bundles) return before_the_run(bundles.error());
  if (head_is_remote(*file)) return run_elsewhere(machine, options, *file, *program, *bundles);
  whole.program = std::move(program).value();
  whole.bundle = bundles->nodes;
  whole.file = *file;
  whole.file_path = options.file;
  if (const auto submitted = submitted_run(placer.queue())) {
    whole.file_path = submitted->file;
    whole.detached = true;
  }
  whole.data = options.data;
  whole.run_dir = options.run_dir;
  // With --json the last line of standard output is the result, so the view goes to the other one.
  whole.make_view = [&] { return make_run_view(options.json ? stderr : stdout, clock); };
  const Result<WholeRunEnd> end = whole_run(machine, registry, whole);
  if (!end) return before_the_run(end.error());
  return print_end(options, end->result.exit, end->last_words, to_json(end->result));
}

int up_command(const RunOptions& options, const Registry& registry) {
  const SteadyClock clock;
  const Result<ClusterFile> file = read_cluster_file(options.file, options.overrides);
  if (!file) return report(file.error());
  RealMachine machine;
  if (const auto state = already_up(machine, options.file)) {
    say(fmt::format("{} is already up; `sterna watch {}` shows it, `sterna down {}` ends it",
                    state->id, state->id, state->id));
    return !options.json || print_result(state_json_line(*state) + "\n") ? exit_done : exit_failed;
  }
  const Result<Program> program = check_program(machine, registry, *file);
  if (!program) return before_the_run(program.error());
  if (const JobQueue* queue = placer_of(*file).queue()) {
    return submit(machine, *queue, options, *file);
  }
  const Result<Bundles> bundles = bundles_for(*file);
  if (!bundles) return before_the_run(bundles.error());

  std::unique_ptr<RunView> view = make_run_view(stderr, clock);
  OwnerClientOptions how = owner_options(options, *file, *program, *bundles, *view);
  how.order.detached = true;
  OwnerClient client(machine, std::move(how));
  Result<RunState> state = client.start();
  if (state) {
    if (Result<void> left = client.detach(); !left) state = left.error();
  }
  view.reset();
  if (!state) {
    say(state.error().message);
    return client.over() && client.over()->exit != 0 ? client.over()->exit : exit_failed;
  }
  if (head_is_remote(*file)) keep_here(*state);
  say(
      fmt::format("{} is up: {} actors on {} host{}; `sterna watch {}` shows it, `sterna down {}` "
                  "ends it",
                  state->id, file->actors.size(), file->hosts.size(),
                  file->hosts.size() == 1 ? "" : "s", state->id, state->id));
  if (const std::string warning = sleep_warning(*file); !warning.empty()) say(warning);
  return !options.json || print_result(state_json_line(*state) + "\n") ? exit_done : exit_failed;
}

}  // namespace sterna::launcher
