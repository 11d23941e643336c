#include "launcher/run/whole_run.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <optional>

#include "actors/reader/data_folder.h"
#include "input/place/class_names.h"
#include "input/place/data_set.h"
#include "launcher/hosts/host_plan.h"
#include "launcher/hosts/mended_checkpoint.h"
#include "launcher/hosts/placer.h"
#include "launcher/page/page_server.h"
#include "launcher/record/event_log.h"
#include "launcher/record/metrics_file.h"
#include "launcher/record/run_directory.h"
#include "launcher/run/job_plan.h"
#include "launcher/run/lost_hosts.h"
#include "launcher/run/restarts.h"
#include "launcher/run/resume.h"
#include "launcher/run/run_data.h"
#include "launcher/run/run_ending.h"
#include "launcher/run/run_init.h"
#include "launcher/scrape/metrics_server.h"
#include "launcher/summary/event_file.h"
#include "launcher/text/json_line.h"
#include "launcher/text/text_format.h"
#include "launcher/view/status_json.h"
#include "runtime/base/file.h"
#include "runtime/loop/signal_watch.h"

namespace sterna::launcher {

namespace {

/// What the labels of what is trained are called, where this machine has data that say so.
Result<void> keep_class_names(const RunDirectory& directory, const ClusterFile& file,
                              const input::DataLocation& data) {
  std::error_code ignored;
  if (!file.trains() || !std::filesystem::exists(data.dir, ignored)) return {};
  STERNA_ASSIGN(const auto names,
                input::class_names(data.dir, actors::data_options(file.data, file.job.seed)));
  if (!names || names->names.empty()) return {};
  return input::write_labels(directory.labels_path(), *names);
}

void keep_confusion(const RunDirectory& directory, const std::optional<Confusion>& confusion,
                    const Console& console) {
  if (!confusion) return;
  const Result<void> written = write_atomically(directory.confusion_path(), to_csv(*confusion));
  if (!written) console.say(written.error().message);
}

void keep_status(RunDirectory& directory, const RunStatus& status, const Console& console) {
  const Result<void> written = directory.write_status(status);
  if (!written) console.say(written.error().message);
}

/// Null: nobody asked for it.
Result<std::unique_ptr<PageServer>> page_of(const WholeRunOptions& options,
                                            const RunDirectory& directory) {
  if (!options.page) return std::unique_ptr<PageServer>();
  STERNA_ASSIGN(auto page, PageServer::start({.run_directory = directory.path()}));
  options.console.say("the run's page is " + page->url());
  options.console.say("for a browser on another machine, there: " + forwarding_line(page->port()));
  return page;
}

/// None for a host without ssh that is another machine: it cannot be asked, but for what its queue
/// says.
std::optional<StateHost> state_of(const ClusterFile& file, const HostSection& host) {
  const bool remote = is_remote(file, host);
  if (remote && host.ssh.empty() && placer_of(file).queue() == nullptr) return std::nullopt;
  return StateHost{host.name, remote ? host.ssh : "", host.work};
}

RunState state_of(const WholeRunOptions& options, const Cluster& cluster,
                  const RunDirectory& directory, std::vector<OperatorKeys> operators) {
  RunState state;
  state.id = std::filesystem::path(directory.path()).filename().string();
  state.name = options.file.cluster.name;
  state.run = cluster.run();
  state.file = std::filesystem::absolute(options.file_path).lexically_normal().string();
  state.run_directory = std::filesystem::absolute(directory.path()).lexically_normal().string();
  state.head = head_is_remote(options.file) ? options.file.cluster.head : "";
  state.placer = options.file.cluster.placer;
  const JobQueue* queue = placer_of(options.file).queue();
  if (queue != nullptr) state.slurm_job = queue->own_job();
  state.detached = options.detached;
  if (options.supervisor > 0) state.supervisor = Keeper::of(options.supervisor);
  state.began = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  state.schema_hash = cluster.schema_hash();
  state.network = cluster.options().network;
  state.coordinator = cluster.coordinator();
  state.operators = std::move(operators);
  for (const HostSection& host : options.file.hosts) {
    if (const auto one = state_of(options.file, host); one && !host.spare) {
      state.hosts.push_back(*one);
    }
  }
  return state;
}

/// What this machine remembers of the run while it goes on.
class Remembered {
 public:
  explicit Remembered(const Console& console) : console_(console) {}
  ~Remembered() {
    if (states_) states_->remove(state_.id);
  }
  /// A run that nobody watched leaves word of how it ended. One that is started again at once
  /// (`again`) has not: whoever does that finds it by what is remembered.
  void ended(const WholeRunEnd& end, bool again) {
    if (!states_ || !state_.detached) return;
    const bool nobody_is_left = !state_.supervisor.machine.empty() && state_.supervisor.is_gone();
    if (again && !nobody_is_left) return states_.reset();
    state_.resume = end.result.resume;
    state_.operators.clear();
    state_.ended = end.last_words;
    state_.exit = end.result.exit;
    if (states_->write(state_)) states_.reset();
  }
  /// `head` is this machine's name among the run's hosts.
  void write(RunState state, const std::string& head) {
    for (StateHost& host : state.hosts) {
      if (host.name == head) host.ssh.clear();
    }
    state.head.clear();
    state.keeper = Keeper::this_process();
    const Result<RunStates> states = RunStates::of_user();
    Result<void> written = states ? states->write(state) : Result<void>(states.error());
    if (!written) {
      console_.say(written.error().message + "; `sterna status` will not find this run");
      return;
    }
    states_ = *states;
    state_ = state;
  }
  void coordinator_is_at(const Contact& contact) {
    state_.coordinator = contact;
    write_again();
  }
  void has_host(const StateHost& host) {
    if (std::ranges::find(state_.hosts, host.name, &StateHost::name) != state_.hosts.end()) return;
    state_.hosts.push_back(host);
    write_again();
  }

 private:
  void write_again() {
    if (!states_) return;
    if (const Result<void> written = states_->write(state_); !written)
      console_.say(written.error().message + "; `sterna status` will not find this run");
  }

  const Console& console_;
  std::optional<RunStates> states_;
  RunState state_;
};

/// The lines of a run's metrics, and who gets them.
class Metrics {
 public:
  void add(std::unique_ptr<MetricsFile> file) { files_.push_back(std::move(file)); }
  void append(const std::string& line) {
    for (const auto& file : files_) file->append(line);
  }
  void look() {
    for (const auto& file : files_) file->look();
  }
  /// Closes all of them; the first error.
  Result<void> close() {
    Result<void> closed;
    for (const auto& file : files_) {
      if (Result<void> one = file->close(); closed && !one) closed = std::move(one);
    }
    return closed;
  }

 private:
  std::vector<std::unique_ptr<MetricsFile>> files_;
};

/// A result that cannot be kept makes a failure of a run that was none.
void keep(RunDirectory& directory, Metrics& metrics, RunResult& result, const Console& console) {
  Result<void> kept = directory.write_result(result);
  if (const Result<void> closed = metrics.close(); kept && !closed) kept = closed;
  if (kept) return;
  if (result.exit != kExitDone) {
    console.say(kept.error().message);
    return;
  }
  result.exit = kExitFailed;
  result.cause = kept.error().message;
}

/// Says to those who look at the run what the screen shows, twice a second at most.
class Reports {
 public:
  /// Null: there is none to say it to.
  void set_cluster(Cluster* cluster) { cluster_ = cluster; }
  void update(const RunStatus& status) {
    if (cluster_ == nullptr) return;
    const Time now = cluster_->loop().now();
    if (last_ && now - *last_ < kInterval) return;
    last_ = now;
    cluster_->report(copy_bytes(status_json(status)));
  }

 private:
  static constexpr Duration kInterval = std::chrono::milliseconds(500);
  Cluster* cluster_ = nullptr;
  std::optional<Time> last_;
};

/// Puts the actors of hosts that do not answer any more on the others. False where they cannot be:
/// then the outcome's cause says why.
bool move_from_lost(RealMachine& machine, JobOutcome& outcome, JobOptions& job) {
  job.file = with_added(std::move(job.file), outcome.added_hosts);
  std::vector<std::string> gone = outcome.drained_hosts;
  const bool may_be_gone = !outcome.lost_hosts.empty() && job.file.checkpoint.on();
  if (may_be_gone && job.file.cluster.lost_host != "wait") {
    // Between two jobs nobody else hears signals.
    const auto told = [&] { outcome.told_while_stopping = true; };
    const SignalWatch interrupt(machine.loop(), SIGINT, told);
    const SignalWatch terminate(machine.loop(), SIGTERM, told);
    std::ranges::copy(hosts_without_answer(machine, job.file, outcome.lost_hosts,
                                           [&] { return outcome.told_while_stopping; }),
                      std::back_inserter(gone));
    if (outcome.told_while_stopping) return false;
  }
  if (gone.empty()) return true;
  Result<ClusterFile> left = without_hosts(job.file, gone);
  if (!left) {
    outcome.record.result.cause +=
        "; its actors have no place on the hosts that are left: " + left.error().message;
    return false;
  }
  job.file = std::move(left).value();
  job.notice(fmt::format("going on without {}", fmt::join(gone, " and ")));
  return true;
}

/// What the head's disk has lost of the checkpoint that the job would go on from.
void mend_before_restart(RealMachine& machine, JobOutcome& outcome, const JobOptions& job) {
  if (!outcome.lost || job.file.checkpoint.copies == 0) return;
  const auto told = [&] { outcome.told_while_stopping = true; };
  const SignalWatch interrupt(machine.loop(), SIGINT, told);
  const SignalWatch terminate(machine.loop(), SIGTERM, told);
  mend_newest(machine, job.file, job.checkpoints, true, job.notice,
              [&] { return outcome.told_while_stopping; });
}

}  // namespace

Result<WholeRunEnd> whole_run(RealMachine& machine, const Registry& registry,
                              const WholeRunOptions& options) {
  const SteadyClock clock;
  const ClusterFile& given = options.file;
  Result<input::DataLocation> data = needs_data_here(given)
                                         ? find_run_data(options.data, given, options.console)
                                         : Result<input::DataLocation>(data_elsewhere(given));
  if (!data) return std::move(data).error();
  STERNA_ASSIGN(const ClusterFile counted, in_steps(given, *data));
  const ClusterFile file = with_absolute_init(counted);
  STERNA_ASSIGN(const std::vector<std::string> taken, look_at_init(file, *data));
  for (const std::string& line : taken) options.console.say(line);
  // What does not go together is bad input, of which nothing has to be started to hear.
  if (file.trains()) STERNA_TRY(job_of(file, *data));

  if (file.trains() && file.checkpoint.resume.given) {
    mend_newest(machine, file, folder_to_resume(file, options.run_dir), true,
                [&](const std::string& line) { options.console.say(line); });
  }
  STERNA_ASSIGN(const auto from, checkpoint_to_resume(file, options.run_dir));
  if (from != nullptr) {
    for (const std::string& line : passed_over(file, *from)) options.console.say(line);
    options.console.say(fmt::format("going on from step {}, {}",
                                    thousands(static_cast<std::int64_t>(from->manifest.step)),
                                    from->folder));
  }
  std::unique_ptr<MetricsServer> scraped;
  if (!file.metrics.prometheus.empty()) {
    STERNA_ASSIGN(scraped, MetricsServer::start(file.metrics));
    options.console.say("metrics at " + scraped->url());
  }
  RunDirectoryOptions where;
  where.config = file.cluster.name;
  where.explicit_path = options.run_dir;
  where.goes_on = goes_on_in_place(file) || options.begun;
  where.parent = options.run_parent;
  where.now = std::chrono::system_clock::now();
  STERNA_ASSIGN(RunDirectory directory, RunDirectory::create(where));
  Result<std::unique_ptr<PageServer>> page_or = page_of(options, directory);
  if (!page_or) {
    directory.discard();
    return std::move(page_or).error();
  }
  const std::unique_ptr<PageServer> page = std::move(page_or).value();
  // The run again, from this file alone: with the data that it is given now.
  ClusterFile resolved = file;
  if (!file.checkpoint.folder.empty()) {
    resolved.checkpoint.folder = std::filesystem::absolute(expand_home(file.checkpoint.folder));
  }
  resolved.data.name = data->name;
  if (!data->dir.empty()) resolved.data.dir = std::filesystem::absolute(data->folder()).string();
  STERNA_TRY(directory.write_resolved(resolved));
  STERNA_TRY(keep_class_names(directory, file, *data));

  const std::vector<OperatorKeys> operators = issue_operators();
  Remembered remembered(options.console);
  Reports reports;
  std::unique_ptr<RunView> view;
  const auto say = [&](const std::string& line) {
    view != nullptr ? view->say(line) : options.console.say(line);
  };
  Metrics metrics;
  metrics.add(std::make_unique<MetricsFile>(directory.take_metrics(), say));
  MetricsFile* events_only = nullptr;  // for what only TensorBoard shows
  if (file.summary.tensorboard) {
    STERNA_ASSIGN(EventFile events, EventFile::create(directory.path(), in_unix_seconds(where.now),
                                                      launcher::resolved(resolved)));
    auto lines = std::make_unique<MetricsFile>(std::make_unique<EventFile>(std::move(events)), say);
    events_only = lines.get();
    metrics.add(std::move(lines));
  }
  EventLog events(directory.take_events(), say,
                  [] { return in_unix_seconds(std::chrono::system_clock::now()); });
  events.append({.kind = "began",
                 .step = from ? static_cast<std::int64_t>(from->manifest.step) : 0,
                 .cause = from ? "from " + from->folder : ""});
  if (!directory.made()) {
    if (from == nullptr) say(directory.path() + " has no checkpoint: it begins at step 0");
    const auto step = from ? static_cast<std::int64_t>(from->manifest.step) : std::int64_t{0};
    metrics.append(to_json(Restart{.step = step, .cause = "the run was begun again"},
                           in_unix_seconds(where.now)));
  }
  const std::string place = std::filesystem::absolute(directory.path()).lexically_normal();
  const std::string resume = options.resume
                                 ? options.resume(place)
                                 : resume_command(options.detached ? "up" : "run", place);
  JobOptions job;
  job.file = file;
  job.data = *data;
  job.began = options.began;
  job.run = options.run;
  job.begun = options.begun;
  job.program = options.program;
  job.run_directory = directory.path();
  job.from = from;
  job.checkpoints = std::filesystem::absolute(file.checkpoint.folder.empty()
                                                  ? directory.checkpoints_path()
                                                  : expand_home(file.checkpoint.folder))
                        .string();
  job.resolved = launcher::resolved(resolved);
  job.weights = std::filesystem::absolute(directory.weights_path()).string();
  job.log_directory = std::filesystem::absolute(directory.logs_path()).string();
  const std::string name = std::filesystem::path(directory.path()).filename().string();
  job.id = fmt::format("{}-{:08x}", name, static_cast<std::uint32_t>(clock.now().ns));
  job.make_placer = options.make_placer;
  if (!job.make_placer) {
    job.make_placer = [&](auto progress, const auto& interrupted) {
      const auto folder = std::filesystem::absolute(directory.path()).lexically_normal();
      return placer_of(file).nodes(
          machine, job.file,
          {options.bundle, folder.string(), std::move(progress),
           [&](std::string_view line) { options.console.say(line); }, interrupted});
    };
  }
  job.operators = contacts_of(operators);
  job.started = [&](Cluster& cluster) {
    reports.set_cluster(&cluster);
    RunState state = state_of(options, cluster, directory, operators);
    if (file.checkpoint.on()) state.resume = resume;
    state.checkpoints = job.checkpoints;
    remembered.write(state, file.cluster.head);
    if (options.started && job.restarts.empty()) options.started(state);
  };
  job.coordinator_again = [&](const Contact& contact) { remembered.coordinator_is_at(contact); };
  job.host_added = [&](const std::string& name) {
    const auto host = std::ranges::find(file.hosts, name, &HostSection::name);
    if (host == file.hosts.end()) return;
    if (const auto one = state_of(file, *host)) remembered.has_host(*one);
  };
  job.codecs_chosen = [&](const GradientSection& gradient) {
    resolved.gradient = gradient;
    const Result<void> written = directory.write_resolved(resolved);
    if (!written) options.console.say(written.error().message);
  };
  job.checkpoint_missed = [&](const std::string& line) {
    metrics.append(json_line({{"kind", "missed_checkpoint"}, {"why", line}}));
    events.append({.kind = "missed_checkpoint", .cause = line});
    view->say(line);
  };
  job.notice = [&](const std::string& line) { view->say(line); };
  job.event = [&](Event event) { events.append(std::move(event)); };
  job.actor_restarts = [&](const ActorRestart& one) { metrics.append(to_json(one)); };
  job.running = [&] {
    if (options.running && job.restarts.empty()) options.running();
  };
  job.hooks.step = [&](const StepMetrics& step) { metrics.append(to_json(step)); };
  job.hooks.loss = [&](const LossMetrics& one) { metrics.append(to_json(one)); };
  job.hooks.tensor = [&](const TensorMetrics& one) { metrics.append(to_json(one)); };
  job.hooks.evaluation = [&](const EvaluationResult& one) { metrics.append(to_json(one)); };
  if (events_only != nullptr) {
    job.hooks.histogram = [events_only](const HistogramMetrics& one) {
      events_only->append(to_json(one));
    };
    job.hooks.picture = [events_only](const PictureMetrics& one) {
      events_only->append(to_json(one));
    };
  }

  job.faults_over = std::make_shared<PlannedFaults::Over>(
      faults_suffered(file.faults, directory.path(), from != nullptr ? from->manifest.step : 0));

  view = options.make_view();
  Restarts restarts;
  JobOutcome outcome;
  for (bool again = true; again;) {
    outcome = run_job(machine, registry, job, [&](const RunRecord& record) {
      view->update(record.status);
      metrics.look();
      events.look();
      if (scraped) scraped->update(record.status);
      if (page) page->update(record.status);
      reports.update(record.status);
    });
    reports.set_cluster(nullptr);
    job.file.gradient = resolved.gradient;  // what codec = "auto" chose stays chosen
    mend_before_restart(machine, outcome, job);
    again = move_from_lost(machine, outcome, job) && restarts.after(outcome, job);
    // What metrics.jsonl has of later steps is done again.
    if (again) {
      const double time = in_unix_seconds(std::chrono::system_clock::now());
      metrics.append(to_json(job.restarts.back(), time));
      const Restart& last = job.restarts.back();
      events.append({.kind = "restart",
                     .step = last.step,
                     .cause = last.cause,
                     .steps_again = last.steps_again});
      if (job.from != nullptr) {
        for (const std::string& line : passed_over(job.file, *job.from)) say(line);
      }
    }
  }
  restarts.complete(outcome);
  RunResult& result = outcome.record.result;
  tell_how_it_goes_on(outcome, job, restarts.stuck(), resume);
  if (page) page->end(outcome.record.status, result.exit, last_words(options, outcome));
  view->finish(outcome.record.status);
  view.reset();

  WholeRunEnd end;
  for (const std::string& line : outcome.left_behind) options.console.say(line);
  if (outcome.stop.survivors != 0) {
    options.console.say(fmt::format(
        "killed {} of the run's processes that its node had left behind", outcome.stop.survivors));
  }
  const bool kept = outcome.started || result.exit != kExitFailed || !job.restarts.empty();
  if (!kept) {
    // There was nobody to run yet: the cause is all that is worth keeping.
    directory.discard();
    end.last_words = result.cause;
  } else {
    keep_confusion(directory, outcome.record.confusion, options.console);
    keep_status(directory, outcome.record.status, options.console);
    events.append({.kind = "ended",
                   .step = result.steps,
                   .cause = result.exit == kExitDone ? "done" : result.cause,
                   .seconds = result.seconds});
    if (const Result<void> closed = events.close(); !closed)
      options.console.say(closed.error().message);
    keep(directory, metrics, result, options.console);
    end.last_words = last_words(options, outcome);
  }
  end.result = result;
  end.stop = outcome.stop;
  end.told_to_end = outcome.told_to_end || outcome.told_while_stopping;
  if (kept) remembered.ended(end, options.comes_again && result.exit == kExitGoesOn);
  if (page) page->say_goodbye();
  return end;
}

}  // namespace sterna::launcher
