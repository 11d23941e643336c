// sterna run FILE: a job in the foreground.
#include <fmt/format.h>

#include <csignal>
#include <filesystem>

#include "launcher/cluster_file/placement_view.h"
#include "launcher/commands/page.h"
#include "launcher/commands/start.h"
#include "launcher/hosts/host_plan.h"
#include "launcher/hosts/placer.h"
#include "launcher/job/resume.h"
#include "launcher/run/whole_run.h"
#include "launcher/view/original_log.h"

namespace sterna::launcher {
namespace {

int print_end(const StartOptions& options, int exit, const std::string& last_words,
              const std::string& json, const Console& console) {
  if (exit == kExitDone && !options.json) {
    if (console.print_result(last_words + "\n") == Printed::failed) return kExitFailed;
  } else {
    console.say(last_words);
  }
  if (!options.json || json.empty()) return exit;
  const int told = console.result(json + "\n");
  return exit == kExitDone ? told : exit;
}

/// The run of a head that is another machine.
int run_elsewhere(RealMachine& machine, const StartOptions& options, const ClusterFile& file,
                  const Program& program, const Bundles& bundles, const Console& console) {
  const SteadyClock clock;
  std::unique_ptr<RunView> view = make_run_view(options.json ? console.err : console.out, clock);
  OwnerClient client(machine, owner_options(options, file, program, bundles, *view, console));
  const Result<RunState> started = client.start();
  if (!started && !client.over()) return before_the_run(started.error(), console);
  const Result<RunState> kept = started ? keep_here(*started) : started;
  if (started && !kept) console.say(kept.error().message);
  if (started && options.page) say_where_its_page_is(kept ? *kept : *started, console);
  const OwnerClient::Over over = client.wait();
  if (const Result<RunStates> states = RunStates::of_user(); kept && states) {
    states->remove(kept->id);
  }
  view.reset();
  return print_end(options, over.exit, over.last_words, over.result_json, console);
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

/// In the directory that it has.
void begin_again(WholeRunOptions& whole, const std::string& run_dir) {
  whole.begun = true;
  whole.run_dir = run_dir;
  whole.file = begun_again(whole.file, run_dir);
}

/// Into the queue that this job came from.
void go_back(RealMachine& machine, const JobQueue& queue, const Console& console) {
  const Result<void> gone = queue.put_back(machine, queue.own_job());
  console.say(gone ? fmt::format("it goes back into {}'s queue", queue.name())
                   : gone.error().message);
}

int run(const StartOptions& options, const Context& context) {
  const Console& console = context.console;
  const SteadyClock clock;
  WholeRunOptions whole;
  whole.console = console;
  whole.began = clock.now();
  Result<ClusterFile> file = read_cluster_file(options.given.file, options.given.overrides);
  if (!file) return console.report(file.error());
  for (const std::string& line : doubtful_lines(*file)) console.say(line);
  if (options.again().value_or(0) > 0) {
    Result<void> can = check_again(*file);
    if (can && head_is_remote(*file)) {
      can = Error{Errc::invalid_argument,
                  fmt::format("--again: {} keeps the run, and this process cannot start it again "
                              "there: use `sterna up --again`, or leave cluster.head out",
                              file->cluster.head)};
    }
    if (!can) return console.report(can.error());
  }
  RealMachine machine;
  const Placer& placer = placer_of(*file);
  file = placer.with_hosts(machine, std::move(file).value());
  if (!file) return before_the_run(file.error(), console);
  std::shared_ptr<void> watch;
  if (placer.queue()) watch = placer.queue()->watch(machine.loop(), [] { ::raise(SIGTERM); });
  Result<Program> program = check_program(machine, context.registry, *file);
  if (!program) return before_the_run(program.error(), console);
  const Result<Bundles> bundles = bundles_for(*file);
  if (!bundles) return before_the_run(bundles.error(), console);
  if (head_is_remote(*file))
    return run_elsewhere(machine, options, *file, *program, *bundles, console);
  whole.program = std::move(program).value();
  whole.bundle = bundles->nodes;
  whole.file = *file;
  whole.file_path = options.given.file;
  if (const auto submitted = submitted_run(placer.queue())) {
    whole.file_path = submitted->file;
    whole.detached = true;
    whole.resume = [queue = placer.queue()](const std::string& directory) {
      return queue->submit_again(directory);
    };
  }
  whole.data = options.data;
  whole.run_dir = options.run_dir;
  std::error_code ignored;
  if (options.again() && std::filesystem::exists(options.run_dir, ignored)) {
    begin_again(whole, options.run_dir);
  }
  whole.page = options.page;
  // With --json the last line of standard output is the result, so the view goes to the other one.
  whole.make_view = [&]() -> std::unique_ptr<RunView> {
    std::FILE* out = options.json ? console.err : console.out;
    if (file->log.style == kOwnLog) return make_run_view(out, clock);
    return on_writer(
        out, [&](TextSink& sink) { return make_original_log(file->log.style, sink, date_here); });
  };
  const std::uint64_t again = options.again().value_or(0);
  const JobQueue* queue = placer.queue();
  std::uint64_t made = queue == nullptr ? 0 : queue->times_again();
  whole.comes_again = made < again;
  Result<WholeRunEnd> end = whole_run(machine, context.registry, whole);
  if (queue != nullptr) {
    if (end && end->result.exit == kExitGoesOn && made < again) go_back(machine, *queue, console);
  } else {
    while (end && end->result.exit == kExitGoesOn && !end->told_to_end && made < again) {
      ++made;
      console.say(end->last_words);
      console.say(fmt::format("started again, {} of {} times", made, again));
      begin_again(whole, end->result.run);
      end = whole_run(machine, context.registry, whole);
    }
  }
  if (!end) return before_the_run(end.error(), console);
  return print_end(options, end->result.exit, end->last_words, to_json(end->result), console);
}

}  // namespace

Command run_command() {
  const auto o = std::make_shared<StartOptions>();
  return {"run",
          "Train in the foreground; Ctrl-C stops everything",
          with_file(o->given,
                    {{"--data", &o->data, "The folder of the data set", "DIR"},
                     {"--run-dir", &o->run_dir,
                      "Where logs, metrics and weights go; must not exist, but where the run goes "
                      "on from a checkpoint",
                      "DIR"},
                     again_argument(*o),
                     {"--page", &o->page, "Show it in a browser, too, on this machine"},
                     {"--json", &o->json, "Print the result as one line of JSON at the end"}},
                    "The cluster file, e.g. configs/lenet_mnist.toml"),
          [o](const Context& context) { return run(*o, context); },
          {},
          {},
          {"sterna run configs/lenet_mnist.toml",
           "sterna run my.toml --set job.steps=500 --set actor.worker.count=4 --data ~/mnist",
           "sterna run my.toml --json | tail -n 1 > result.json"}};
}

}  // namespace sterna::launcher
