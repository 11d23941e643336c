#include "launcher/run/whole_run.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "actors/reader/data_folder.h"
#include "input/place/class_names.h"
#include "input/place/data_set.h"
#include "launcher/hosts/host_plan.h"
#include "launcher/hosts/mended_checkpoint.h"
#include "launcher/hosts/placer.h"
#include "launcher/job/job_plan.h"
#include "launcher/job/resume.h"
#include "launcher/page/page_server.h"
#include "launcher/past/remembered_run.h"
#include "launcher/record/event_log.h"
#include "launcher/record/metrics_file.h"
#include "launcher/record/run_directory.h"
#include "launcher/run/lost_hosts.h"
#include "launcher/run/restarts.h"
#include "launcher/run/run_data.h"
#include "launcher/run/run_ending.h"
#include "launcher/run/run_init.h"
#include "launcher/scrape/metrics_server.h"
#include "launcher/summary/event_file.h"
#include "launcher/text/directory_path.h"
#include "launcher/text/json_line.h"
#include "launcher/text/text_format.h"
#include "launcher/view/status_json.h"
#include "runtime/base/file.h"
#include "runtime/loop/end_signals.h"
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
  // Where nothing names the classes, there is no such file.
  const auto names = input::read_labels(directory.labels_path());
  const Result<void> written = write_atomically(
      directory.confusion_path(), to_csv(*confusion, names ? *names : input::ClassLabels()));
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

RunState state_of(const WholeRunOptions& options, const Cluster& cluster,
                  const RunDirectory& directory, std::vector<OperatorKeys> operators) {
  RunState state;
  state.id = directory_name(directory.path());
  state.name = options.file.cluster.name;
  state.run = cluster.run();
  state.file = std::filesystem::absolute(options.file_path).lexically_normal().string();
  state.run_directory = absolute_directory(directory.path());
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
  state.hosts = state_hosts(options.file);
  return state;
}

/// What cannot be kept makes a failure of a run that was none.
void note_unkept(const Result<void>& kept, RunResult& result, const Console& console) {
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
  mend_newest(machine, job.file, job.checkpoints, only_of(job.file, job.identity), job.notice,
              [&] { return outcome.told_while_stopping; });
}

/// One whole run. What it has comes to be in the order in which it lies here.
class WholeRun {
 public:
  WholeRun(RealMachine& machine, const Registry& registry, const WholeRunOptions& options)
      : machine_(machine),
        registry_(registry),
        options_(options),
        remembered_(options.console),
        operators_(issue_operators()) {}

  /// All that may be wrong with what is given, and the run's directory. Starts nothing.
  Result<void> prepare() {
    STERNA_TRY(look_at_what_is_given());
    STERNA_TRY(find_where_it_begins());
    STERNA_TRY(look_at_first_weights());
    STERNA_TRY(make_directory());
    Result<void> ready = furnish_directory();
    if (ready) ready = open_records();
    if (!ready) {
      directory_->discard();
      return ready;
    }
    plan_job();
    plan_what_is_told();
    return {};
  }

  WholeRunEnd run() && {
    train();
    return leave();
  }

 private:
  const Console& console() const { return options_.console; }
  /// On the screen, whatever that shows by now.
  void say(const std::string& line) { view_ != nullptr ? view_->say(line) : console().say(line); }
  std::int64_t first_step() const {
    return from_ ? static_cast<std::int64_t>(from_->manifest.step) : 0;
  }
  std::string absolute_directory() const {
    return launcher::absolute_directory(directory_->path());
  }

  Result<void> look_at_what_is_given() {
    const ClusterFile& given = options_.file;
    STERNA_TRY(check_data_flag(options_.data, given));
    // Digits may have to be drawn, and a disk to be read for them.
    STERNA_TRY(RunDirectory::check(directory_for(given)));
    STERNA_ASSIGN(data_, needs_data_here(given)
                             ? find_run_data(options_.data, given, console())
                             : Result<input::DataLocation>(data_elsewhere(given)));
    STERNA_ASSIGN(const ClusterFile counted, in_steps(given, data_));
    file_ = with_absolute_init(counted, console());
    // What does not go together is bad input, of which nothing has to be started to hear.
    if (!file_.trains()) return {};
    STERNA_ASSIGN(const actors::JobConfig job, job_of(file_, data_));
    const std::string hint = picture_size_hint(job);
    if (!hint.empty()) console().say(hint);
    return {};
  }

  /// A run that goes on has its own: those of others, which may be gone by now, it does not need.
  Result<void> look_at_first_weights() const {
    if (from_ != nullptr) return {};
    STERNA_ASSIGN(const std::vector<std::string> taken, look_at_init(file_, data_));
    for (const std::string& line : taken) console().say(line);
    return {};
  }

  RunDirectoryOptions directory_for(const ClusterFile& file) const {
    RunDirectoryOptions where;
    where.config = file.cluster.name;
    where.explicit_path = options_.run_dir;
    where.goes_on = goes_on_in_place(file) || options_.begun;
    where.parent = options_.run_parent;
    where.now = now_;
    return where;
  }

  Result<void> find_where_it_begins() {
    if (file_.trains() && file_.checkpoint.resume.given) {
      mend_newest(machine_, file_, folder_to_resume(file_, options_.run_dir),
                  run_to_resume(file_, options_.run_dir),
                  [&](const std::string& line) { console().say(line); });
    }
    STERNA_ASSIGN(from_, checkpoint_to_resume(file_, options_.run_dir));
    if (directory_for(file_).goes_on) {
      STERNA_TRY(check_may_write_into(options_.run_dir, file_, from_.get()));
    }
    return from_ != nullptr ? check_same_net(*from_, file_, data_) : Result<void>();
  }

  Result<void> make_directory() {
    if (!file_.metrics.prometheus.empty()) {
      STERNA_ASSIGN(scraped_, MetricsServer::start(file_.metrics));
      console().say("metrics at " + scraped_->url());
    }
    now_ = std::chrono::system_clock::now();
    STERNA_ASSIGN(directory_, RunDirectory::create(directory_for(file_)));
    return {};
  }

  /// What of it is there before the job begins. In one that was there before, what describes the
  /// run stays as it is until then.
  Result<void> furnish_directory() {
    STERNA_ASSIGN(page_, page_of(options_, *directory_));
    STERNA_ASSIGN(checkpoint_folder_, take_checkpoint_folder(file_));
    // The run again, from this file alone: with the data that it is given now.
    resolved_ = file_;
    if (!file_.checkpoint.folder.empty()) {
      resolved_.checkpoint.folder = std::filesystem::absolute(expand_home(file_.checkpoint.folder));
    }
    resolved_.data.name = data_.name;
    if (!data_.dir.empty()) {
      resolved_.data.dir = std::filesystem::absolute(data_.folder()).string();
    }
    if (directory_->made()) STERNA_TRY(directory_->write_resolved(resolved_));
    STERNA_TRY(keep_class_names(*directory_, file_, data_));
    tell_where_it_begins();
    return {};
  }

  /// Once nobody else has the directory.
  void tell_where_it_begins() {
    if (from_ != nullptr) {
      passed_over_ = passed_over(file_, *from_);
      for (const std::string& line : passed_over_) console().say(line);
      console().say(
          fmt::format("going on from step {}, {}", thousands(first_step()), from_->folder));
      const std::vector<std::string> changes = changes_since(*from_, resolved_);
      if (!changes.empty()) {
        console().say(printable(
            fmt::format("other than in that checkpoint's job: {}", fmt::join(changes, ", "))));
      }
    } else if (!directory_->made()) {
      console().say(directory_->path() + " has no checkpoint: it begins at step 0");
    }
  }

  Result<void> open_records() {
    const auto say_it = [this](const std::string& line) { say(line); };
    metrics_.add(
        std::make_unique<MetricsFile>(directory_->take_metrics(), say_it, machine_.loop()));
    if (file_.summary.tensorboard) {
      STERNA_ASSIGN(EventFile events, EventFile::create(directory_->path(), in_unix_seconds(now_),
                                                        launcher::resolved(resolved_)));
      auto lines = std::make_unique<MetricsFile>(std::make_unique<EventFile>(std::move(events)),
                                                 say_it, machine_.loop());
      for_tensorboard_ = lines.get();
      metrics_.add(std::move(lines));
    }
    events_.emplace(directory_->take_events(), say_it, machine_.loop(),
                    [] { return in_unix_seconds(std::chrono::system_clock::now()); });
    events_->append(
        {.kind = "began", .step = first_step(), .cause = from_ ? "from " + from_->folder : ""});
    note_passed_over(first_step());
    return {};
  }

  /// The job has begun, and what the run before left in this directory is not its end any more.
  Result<void> take_over_directory() {
    if (std::exchange(has_begun_, true) || directory_->made()) return {};
    STERNA_TRY(directory_->write_resolved(resolved_));
    directory_->forget_result();
    metrics_.append(to_json(Restart{.step = first_step(), .cause = "the run was begun again"},
                            in_unix_seconds(now_)));
    return {};
  }

  /// The checkpoints that are damaged, for whose sake it goes on from an earlier step.
  void note_passed_over(std::int64_t step) {
    for (const std::string& line : passed_over_) {
      events_->append({.kind = "passed_over", .step = step, .cause = line});
    }
  }

  void plan_job() {
    resume_ = options_.resume
                  ? options_.resume(absolute_directory())
                  : resume_command(options_.detached ? "up" : "run", absolute_directory());
    job_.file = file_;
    job_.data = data_;
    job_.began = options_.began;
    job_.run = options_.run;
    job_.begun = options_.begun;
    job_.program = options_.program;
    job_.run_directory = directory_->path();
    job_.from = from_;
    job_.checkpoints = std::filesystem::absolute(file_.checkpoint.folder.empty()
                                                     ? directory_->checkpoints_path()
                                                     : expand_home(file_.checkpoint.folder))
                           .string();
    job_.identity = directory_->identity();
    job_.resolved = launcher::resolved(resolved_);
    job_.weights = std::filesystem::absolute(directory_->weights_path()).string();
    job_.log_directory = std::filesystem::absolute(directory_->logs_path()).string();
    job_.id = fmt::format("{}-{:08x}", directory_name(directory_->path()),
                          static_cast<std::uint32_t>(SteadyClock().now().ns));
    job_.make_placer = options_.make_placer;
    if (!job_.make_placer) {
      job_.make_placer = [this](auto progress, const auto& interrupted) {
        return placer_of(file_).nodes(
            machine_, job_.file,
            {options_.bundle, absolute_directory(), std::move(progress),
             [this](std::string_view line) { console().say(line); }, interrupted});
      };
    }
    job_.operators = contacts_of(operators_);
    job_.faults_over = std::make_shared<PlannedFaults::Over>(faults_suffered(
        file_.faults, directory_->path(), static_cast<std::uint64_t>(first_step())));
  }

  /// Whom the job tells what.
  void plan_what_is_told() {
    job_.started = [this](Cluster& cluster) { return started(cluster); };
    job_.coordinator_again = [this](const Contact& contact) {
      remembered_.coordinator_is_at(contact);
    };
    job_.host_added = [this](const std::string& name) {
      const auto host = std::ranges::find(file_.hosts, name, &HostSection::name);
      if (host == file_.hosts.end()) return;
      if (const auto one = state_host(file_, *host)) remembered_.has_host(*one);
    };
    job_.codecs_chosen = [this](const GradientSection& gradient) {
      resolved_.gradient = gradient;
      const Result<void> written = directory_->write_resolved(resolved_);
      if (!written) console().say(written.error().message);
    };
    job_.checkpoint_missed = [this](const std::string& line) {
      metrics_.append(json_line({{"kind", "missed_checkpoint"}, {"why", line}}));
      events_->append({.kind = "missed_checkpoint", .step = step_, .cause = line});
      say(line);
    };
    job_.told_before = [this] { return end_signals_->first(); };
    job_.notice = [this](const std::string& line) { say(line); };
    job_.event = [this](Event event) { events_->append(std::move(event)); };
    job_.actor_restarts = [this](const ActorRestart& one) { metrics_.append(to_json(one)); };
    job_.running = [this] {
      if (options_.running && job_.restarts.empty()) options_.running();
    };
    RunObserver::Hooks& hooks = job_.hooks;
    hooks.step = [this](const StepMetrics& step) { metrics_.append(to_json(step)); };
    hooks.loss = [this](const LossMetrics& one) { metrics_.append(to_json(one)); };
    hooks.tensor = [this](const TensorMetrics& one) { metrics_.append(to_json(one)); };
    hooks.evaluation = [this](const EvaluationResult& one) {
      metrics_.append(to_json(one));
      tell_left_out(one);
    };
    if (for_tensorboard_ == nullptr) return;
    hooks.histogram = [this](const HistogramMetrics& one) {
      for_tensorboard_->append(to_json(one));
    };
    hooks.picture = [this](const PictureMetrics& one) { for_tensorboard_->append(to_json(one)); };
  }

  /// Each time that it is another number: in between, fewer examples are evaluated than at the end.
  void tell_left_out(const EvaluationResult& one) {
    if (std::exchange(left_out_[one.subset], one.left_out_examples) == one.left_out_examples) {
      return;
    }
    if (one.left_out_examples == 0) return;
    say(fmt::format(
        "step {}: {} of {} {} examples {} damaged and left out; the evaluator's log "
        "names them",
        thousands(one.step), thousands(static_cast<std::int64_t>(one.left_out_examples)),
        thousands(one.examples + static_cast<std::int64_t>(one.left_out_examples)), one.subset,
        one.left_out_examples == 1 ? "is" : "are"));
  }

  Result<void> started(Cluster& cluster) {
    RunState state = state_of(options_, cluster, *directory_, operators_);
    if (file_.checkpoint.on()) state.resume = resume_;
    state.checkpoints = job_.checkpoints;
    Result<std::string> id = remembered_.write(state, file_.cluster.head);
    if (!id && !may_go_unremembered()) return std::move(id).error();
    if (!id) say(id.error().message);
    if (id) state.id = *id;
    STERNA_TRY(take_over_directory());
    reports_.set_cluster(&cluster);
    if (options_.started && job_.restarts.empty()) options_.started(state);
    return {};
  }

  /// What nobody watches must be found again (launcher/past/start_turn.h). A queue's run has been
  /// remembered since it was submitted, and one that goes on is not ended for it.
  bool may_go_unremembered() const {
    return !options_.detached || has_begun_ || options_.begun ||
           placer_of(file_).queue() != nullptr;
  }

  /// The job, and once more as often as it goes on after a loss.
  void train() {
    end_signals_.emplace(machine_.loop());
    view_ = options_.make_view();
    for (bool again = true; again;) {
      outcome_ = run_job(machine_, registry_, job_, [this](const RunRecord& r) { show(r); });
      reports_.set_cluster(nullptr);
      job_.file.gradient = resolved_.gradient;  // what codec = "auto" chose stays chosen
      mend_before_restart(machine_, outcome_, job_);
      again = move_from_lost(machine_, outcome_, job_) && restarts_.after(outcome_, job_);
      if (again) tell_of_restart(job_.restarts.back());
    }
    restarts_.complete(outcome_);
    outcome_.record.status.first_step = first_step();  // of all of it, not of the last job
  }

  void show(const RunRecord& record) {
    step_ = record.status.step;
    metrics_.look();
    events_->look();
    // Whether the run has, or goes on from a checkpoint, is not known yet.
    if (record.status.phase == "failed") return;
    if (job_.restarts.empty()) return show(record.status);
    show(restarts_.whole(record.status));
  }

  void show(const RunStatus& status) {
    view_->update(status);
    if (scraped_) scraped_->update(status);
    if (page_) page_->update(status);
    reports_.update(status);
  }

  /// What metrics.jsonl has of later steps is done again.
  void tell_of_restart(const Restart& last) {
    metrics_.append(to_json(last, in_unix_seconds(std::chrono::system_clock::now())));
    events_->append({.kind = "restart",
                     .step = last.step,
                     .cause = last.cause,
                     .steps_again = last.steps_again});
    if (job_.from == nullptr) return;
    passed_over_ = passed_over(job_.file, *job_.from);
    for (const std::string& line : passed_over_) say(line);
    note_passed_over(last.step);
  }

  WholeRunEnd leave() {
    RunResult& result = outcome_.record.result;
    const RunStatus& status = outcome_.record.status;
    tell_how_it_goes_on(outcome_, job_, restarts_.stuck(), resume_);
    if (scraped_) scraped_->update(status);
    if (page_) page_->end(status, result.exit, last_words(options_, outcome_));
    view_->finish(status);
    view_.reset();
    end_signals_.reset();
    for (const std::string& line : outcome_.left_behind) console().say(line);
    if (outcome_.stop.survivors != 0) {
      console().say(fmt::format("killed {} of the run's processes that its node had left behind",
                                outcome_.stop.survivors));
    }
    WholeRunEnd end;
    const bool ran = outcome_.started || result.exit != kExitFailed || !job_.restarts.empty();
    const bool kept = ran || !directory_->made();
    const bool may_be_tried_again = !ran && !directory_->made() && from_ != nullptr;
    if (may_be_tried_again && result.resume.empty() && own_checkpoint(outcome_, job_)) {
      result.resume = resume_;  // once what is in its way is put right
    }
    if (kept) {
      keep_all();
    } else {
      // There was nobody to run yet: the cause is all that is worth keeping.
      directory_->discard();
    }
    end.last_words = ran ? last_words(options_, outcome_) : result.cause;
    end.result = result;
    end.stop = outcome_.stop;
    end.told_to_end = outcome_.told_to_end || outcome_.told_while_stopping;
    if (kept) {
      remembered_.ended(result.exit, end.last_words, result.resume,
                        options_.comes_again && result.exit == kExitGoesOn);
    }
    if (page_) page_->say_goodbye();
    return end;
  }

  void keep_all() {
    RunResult& result = outcome_.record.result;
    // Of one that did not get to begin in it, what the directory says is as true as before.
    const bool says_more = has_begun_ || !directory_->has_result();
    if (says_more) {
      keep_confusion(*directory_, outcome_.record.confusion, console());
      keep_status(*directory_, outcome_.record.status, console());
    }
    events_->append({.kind = "ended",
                     .step = result.steps,
                     .cause = result.exit == kExitDone ? "done" : result.cause,
                     .seconds = result.seconds});
    if (const Result<void> closed = events_->close(); !closed) {
      console().say(closed.error().message);
    }
    note_unkept(metrics_.close(), result, console());
    result.lost_metrics = metrics_.lost();
    if (says_more) note_unkept(directory_->write_result(result), result, console());
  }

  RealMachine& machine_;
  const Registry& registry_;
  const WholeRunOptions& options_;
  input::DataLocation data_;
  ClusterFile file_;  ///< in steps, and with where its weights are
  std::shared_ptr<const actors::SavedCheckpoint> from_;  ///< null: it begins at step 0
  std::vector<std::string> passed_over_ = {};            ///< newer ones, and why
  std::unique_ptr<MetricsServer> scraped_;               ///< null: nobody asked for it
  std::chrono::system_clock::time_point now_;            ///< when the directory was made
  std::optional<RunDirectory> directory_;
  std::optional<input::FolderLock> checkpoint_folder_;  ///< where the file names one
  std::unique_ptr<PageServer> page_;                    ///< null: nobody asked for it
  ClusterFile resolved_;
  RememberedRun remembered_;
  const std::vector<OperatorKeys> operators_;
  Reports reports_;
  /// As long as there is a view, which puts the terminal in order at its end.
  std::optional<EndSignals> end_signals_;
  std::unique_ptr<RunView> view_;  ///< while the job goes on
  MetricsFiles metrics_;
  MetricsFile* for_tensorboard_ = nullptr;  ///< one of them: what only TensorBoard shows
  std::optional<EventLog> events_;
  std::string resume_;      ///< the command that goes on with it
  bool has_begun_ = false;  ///< the job has: what is in the directory is this run's
  JobOptions job_;
  std::int64_t step_ = 0;                          ///< that was shown last
  std::map<std::string, std::uint64_t> left_out_;  ///< by subset: of its last evaluation
  Restarts restarts_;
  JobOutcome outcome_;
};

}  // namespace

Result<WholeRunEnd> whole_run(RealMachine& machine, const Registry& registry,
                              const WholeRunOptions& options) {
  WholeRun whole(machine, registry, options);
  STERNA_TRY(whole.prepare());
  return std::move(whole).run();
}

}  // namespace sterna::launcher
