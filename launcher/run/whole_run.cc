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
#include "launcher/job/resume.h"
#include "launcher/past/remembered_run.h"
#include "launcher/record/run_directory.h"
#include "launcher/run/lost_hosts.h"
#include "launcher/run/restarts.h"
#include "launcher/run/run_audience.h"
#include "launcher/run/run_beginning.h"
#include "launcher/run/run_ending.h"
#include "launcher/run/run_files.h"
#include "launcher/text/directory_path.h"
#include "launcher/text/text_format.h"
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

/// Puts the actors of hosts that do not answer any more on the others. False where they cannot be:
/// then the outcome's cause says why.
bool move_from_lost(RealMachine& machine, JobOutcome& outcome, JobOptions& job,
                    const std::function<void(const std::string& line)>& say) {
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
  say(fmt::format("going on without {}", fmt::join(gone, " and ")));
  return true;
}

/// What the head's disk has lost of the checkpoint that the job would go on from.
void mend_before_restart(RealMachine& machine, JobOutcome& outcome, const JobOptions& job,
                         const std::function<void(const std::string& line)>& say) {
  if (!outcome.lost || job.file.checkpoint.copies == 0) return;
  const auto told = [&] { outcome.told_while_stopping = true; };
  const SignalWatch interrupt(machine.loop(), SIGINT, told);
  const SignalWatch terminate(machine.loop(), SIGTERM, told);
  mend_newest(machine, job.file, job.checkpoints, only_of(job.file, job.identity), say,
              [&] { return outcome.told_while_stopping; });
}

/// One whole run. What it has comes to be in the order in which it lies here.
class WholeRun final : private JobListener {
 public:
  WholeRun(RealMachine& machine, const Registry& registry, const WholeRunOptions& options)
      : machine_(machine),
        registry_(registry),
        options_(options),
        remembered_(options.console),
        operators_(issue_operators()) {}

  /// All that may be wrong with what is given, and the run's directory. Starts nothing.
  Result<void> prepare() {
    STERNA_ASSIGN(begins_, look_at_beginning(machine_, options_));
    STERNA_TRY(audience_.open_scrape(begins_.file));
    now_ = std::chrono::system_clock::now();
    STERNA_ASSIGN(directory_, RunDirectory::create(directory_for(options_, begins_.file, now_)));
    Result<void> ready = furnish_directory();
    if (ready) ready = open_files();
    if (!ready) {
      directory_->discard();
      return ready;
    }
    plan_job();
    return {};
  }

  WholeRunEnd run() && {
    train();
    return leave();
  }

 private:
  const Console& console() const { return options_.console; }
  std::string absolute_directory() const {
    return launcher::absolute_directory(directory_->path());
  }

  /// What of it is there before the job begins. In one that was there before, what describes the
  /// run stays as it is until then.
  Result<void> furnish_directory() {
    const ClusterFile& file = begins_.file;
    STERNA_TRY(audience_.open_page(directory_->path()));
    STERNA_ASSIGN(checkpoint_folder_, take_checkpoint_folder(file));
    // The run again, from this file alone: with the data that it is given now.
    resolved_ = file;
    if (!file.checkpoint.folder.empty()) {
      resolved_.checkpoint.folder = std::filesystem::absolute(expand_home(file.checkpoint.folder));
    }
    resolved_.data.name = begins_.data.name;
    if (!begins_.data.dir.empty()) {
      resolved_.data.dir = std::filesystem::absolute(begins_.data.folder()).string();
    }
    if (directory_->made()) STERNA_TRY(directory_->write_resolved(resolved_));
    STERNA_TRY(keep_class_names(*directory_, file, begins_.data));
    tell_where_it_begins();
    return {};
  }

  /// Once nobody else has the directory.
  void tell_where_it_begins() {
    if (begins_.from != nullptr) {
      passed_over_ = passed_over(begins_.file, *begins_.from);
      for (const std::string& line : passed_over_) console().say(line);
      console().say(fmt::format("going on from step {}, {}", thousands(begins_.first_step()),
                                begins_.from->folder));
      const std::vector<std::string> changes = changes_since(*begins_.from, resolved_);
      if (!changes.empty()) {
        console().say(printable(
            fmt::format("other than in that checkpoint's job: {}", fmt::join(changes, ", "))));
      }
    } else if (!directory_->made()) {
      console().say(directory_->path() + " has no checkpoint: it begins at step 0");
    }
  }

  Result<void> open_files() {
    const auto say = [this](const std::string& line) { audience_.say(line); };
    STERNA_ASSIGN(files_, RunFiles::open(*directory_, resolved_, say, machine_.loop(), now_));
    files_->began(begins_.first_step(), begins_.from ? "from " + begins_.from->folder : "");
    files_->passed_over(passed_over_, begins_.first_step());
    return {};
  }

  /// The job has begun, and what the run before left in this directory is not its end any more.
  Result<void> take_over_directory() {
    if (std::exchange(has_begun_, true) || directory_->made()) return {};
    STERNA_TRY(directory_->write_resolved(resolved_));
    directory_->forget_result();
    files_->begun_again(begins_.first_step(), now_);
    return {};
  }

  void plan_job() {
    const ClusterFile& file = begins_.file;
    resume_ = options_.resume
                  ? options_.resume(absolute_directory())
                  : resume_command(options_.detached ? "up" : "run", absolute_directory());
    job_.file = file;
    job_.data = begins_.data;
    job_.began = options_.began;
    job_.run = options_.run;
    job_.begun = options_.begun;
    job_.program = options_.program;
    job_.run_directory = directory_->path();
    job_.from = begins_.from;
    job_.checkpoints = std::filesystem::absolute(file.checkpoint.folder.empty()
                                                     ? directory_->checkpoints_path()
                                                     : expand_home(file.checkpoint.folder))
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
        return placer_of(begins_.file)
            .nodes(machine_, job_.file,
                   {options_.bundle, absolute_directory(), std::move(progress),
                    [this](std::string_view line) { console().say(line); }, interrupted});
      };
    }
    job_.operators = contacts_of(operators_);
    job_.faults_over = std::make_shared<PlannedFaults::Over>(faults_suffered(
        file.faults, directory_->path(), static_cast<std::uint64_t>(begins_.first_step())));
    job_.told_before = [this] { return end_signals_->first(); };
  }

  Result<void> started(Cluster& cluster) override {
    RunState state = state_of(options_, cluster, *directory_, operators_);
    if (begins_.file.checkpoint.on()) state.resume = resume_;
    state.checkpoints = job_.checkpoints;
    Result<std::string> id = remembered_.write(state, begins_.file.cluster.head);
    if (!id && !may_go_unremembered()) return std::move(id).error();
    if (!id) audience_.say(id.error().message);
    if (id) state.id = *id;
    STERNA_TRY(take_over_directory());
    audience_.set_cluster(&cluster);
    if (options_.started && job_.restarts.empty()) options_.started(state);
    return {};
  }

  /// What nobody watches must be found again (launcher/past/start_turn.h). A queue's run has been
  /// remembered since it was submitted, and one that goes on is not ended for it.
  bool may_go_unremembered() const {
    return !options_.detached || has_begun_ || options_.begun ||
           placer_of(begins_.file).queue() != nullptr;
  }

  void running() override {
    if (options_.running && job_.restarts.empty()) options_.running();
  }
  void coordinator_again(const Contact& contact) override {
    remembered_.coordinator_is_at(contact);
  }
  void host_added(const std::string& name) override {
    const auto host = std::ranges::find(begins_.file.hosts, name, &HostSection::name);
    if (host == begins_.file.hosts.end()) return;
    if (const auto one = state_host(begins_.file, *host)) remembered_.has_host(*one);
  }
  void codecs_chosen(const GradientSection& gradient) override {
    resolved_.gradient = gradient;
    const Result<void> written = directory_->write_resolved(resolved_);
    if (!written) console().say(written.error().message);
  }
  void changed(const RunRecord& record) override {
    files_->changed(record);
    // Whether the run has failed, or goes on from a checkpoint, is not known yet.
    if (record.status.phase == "failed") return;
    audience_.show(job_.restarts.empty() ? record.status : restarts_.whole(record.status));
  }
  void notice(const std::string& line) override { audience_.say(line); }
  void checkpoint_missed(const std::string& line) override {
    files_->checkpoint_missed(line);
    audience_.say(line);
  }
  void event(const Event& event) override { files_->event(event); }
  void actor_restarts(const ActorRestart& restart) override { files_->actor_restarts(restart); }
  void step(const StepMetrics& metrics) override { files_->step(metrics); }
  void loss(const LossMetrics& metrics) override { files_->loss(metrics); }
  void tensor(const TensorMetrics& metrics) override { files_->tensor(metrics); }
  void histogram(const HistogramMetrics& metrics) override { files_->histogram(metrics); }
  void picture(const PictureMetrics& metrics) override { files_->picture(metrics); }
  void evaluation(const EvaluationResult& result) override {
    files_->evaluation(result);
    tell_left_out(result);
  }

  /// Each time that it is another number: in between, fewer examples are evaluated than at the end.
  void tell_left_out(const EvaluationResult& one) {
    if (std::exchange(left_out_[one.subset], one.left_out_examples) == one.left_out_examples) {
      return;
    }
    if (one.left_out_examples == 0) return;
    audience_.say(fmt::format(
        "step {}: {} of {} {} examples {} damaged and left out; the evaluator's log "
        "names them",
        thousands(one.step), thousands(static_cast<std::int64_t>(one.left_out_examples)),
        thousands(one.examples + static_cast<std::int64_t>(one.left_out_examples)), one.subset,
        one.left_out_examples == 1 ? "is" : "are"));
  }

  /// The job, and once more as often as it goes on after a loss.
  void train() {
    const auto say = [this](const std::string& line) { audience_.say(line); };
    JobListener& listener = *this;
    end_signals_.emplace(machine_.loop());
    audience_.open_screen();
    for (bool again = true; again;) {
      outcome_ = run_job(machine_, registry_, job_, listener);
      audience_.set_cluster(nullptr);
      job_.file.gradient = resolved_.gradient;  // what codec = "auto" chose stays chosen
      mend_before_restart(machine_, outcome_, job_, say);
      again = move_from_lost(machine_, outcome_, job_, say) && restarts_.after(outcome_, job_);
      if (again) tell_of_restart(job_.restarts.back());
    }
    restarts_.complete(outcome_);
    outcome_.record.status.first_step = begins_.first_step();  // of all of it, not of the last job
  }

  /// What metrics.jsonl has of later steps is done again.
  void tell_of_restart(const Restart& last) {
    files_->restarts(last);
    if (job_.from == nullptr) return;
    passed_over_ = passed_over(job_.file, *job_.from);
    for (const std::string& line : passed_over_) audience_.say(line);
    files_->passed_over(passed_over_, last.step);
  }

  WholeRunEnd leave() {
    RunResult& result = outcome_.record.result;
    tell_how_it_goes_on(outcome_, job_, restarts_.stuck(), resume_);
    audience_.end(outcome_.record.status, result.exit, last_words(options_, outcome_));
    end_signals_.reset();
    for (const std::string& line : outcome_.left_behind) console().say(line);
    if (outcome_.stop.survivors != 0) {
      console().say(fmt::format("killed {} of the run's processes that its node had left behind",
                                outcome_.stop.survivors));
    }
    WholeRunEnd end;
    const bool ran = outcome_.started || result.exit != kExitFailed || !job_.restarts.empty();
    const bool kept = ran || !directory_->made();
    const bool may_be_tried_again = !ran && !directory_->made() && begins_.from != nullptr;
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
    audience_.say_goodbye();
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
    files_->ended(result);
    if (const Result<void> closed = files_->close_events(); !closed) {
      console().say(closed.error().message);
    }
    note_unkept(files_->close_metrics(), result, console());
    result.lost_metrics = files_->lost_metrics();
    if (says_more) note_unkept(directory_->write_result(result), result, console());
  }

  RealMachine& machine_;
  const Registry& registry_;
  const WholeRunOptions& options_;
  RunBeginning begins_;
  std::vector<std::string> passed_over_ = {};  ///< checkpoints newer than that, and why
  RunAudience audience_{options_};
  std::chrono::system_clock::time_point now_;  ///< when the directory was made
  std::optional<RunDirectory> directory_;
  std::optional<input::FolderLock> checkpoint_folder_;  ///< where the file names one
  ClusterFile resolved_;
  RememberedRun remembered_;
  const std::vector<OperatorKeys> operators_;
  std::unique_ptr<RunFiles> files_;
  /// As long as there is a screen, which puts the terminal in order at its end.
  std::optional<EndSignals> end_signals_;
  std::string resume_;      ///< the command that goes on with it
  bool has_begun_ = false;  ///< the job has: what is in the directory is this run's
  JobOptions job_;
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
