#include "launcher/job/run_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "actors/checkpoint/keeper.h"
#include "actors/parameters/update_rule.h"
#include "launcher/hosts/host_plan.h"
#include "launcher/hosts/placer.h"
#include "launcher/job/end_orders.h"
#include "launcher/job/job_plan.h"
#include "launcher/job/job_record.h"
#include "launcher/job/log_reader.h"
#include "launcher/job/program_run.h"
#include "launcher/job/resume.h"
#include "launcher/job/run_files_back.h"
#include "launcher/job/run_news.h"
#include "launcher/probe/codec_choice.h"
#include "launcher/probe/codec_probe.h"
#include "launcher/record/actor_places.h"
#include "launcher/record/ranks_left.h"
#include "launcher/record/run_observer.h"
#include "launcher/record/state_holders.h"
#include "launcher/text/console.h"
#include "launcher/text/text_format.h"
#include "runtime/base/duration_text.h"
#include "runtime/cluster/process_control.h"
#include "runtime/host/real_machine.h"

namespace sterna::launcher {

namespace {

/// What the hosts have of a run that failed or was interrupted is waited for so long.
constexpr Duration kFilesTake = std::chrono::seconds(10);

/// One job while it runs.
class Job final : private RunObserver::Listener {
 public:
  Job(RealMachine& machine, const Registry& registry, const JobOptions& options,
      JobListener& listener)
      : options_(options),
        listener_(listener),
        machine_(machine),
        registry_(registry),
        orders_(machine_.loop(), machine_.loop(),
                {.interrupted =
                     [this] {
                       if (cluster_) cluster_->interrupt();
                     },
                 .ends_by_itself = [this] { return ends_by_itself(); },
                 .say = [this](std::string_view line) { news_.logged(line); }}) {
    machine_.set_log([this](std::string_view line) { news_.logged(line); });
    outcome_.record = blank_record(options);
  }
  ~Job() override { machine_.set_log(log_to_stderr); }

  JobOutcome run() {
    const Result<void> trained = train();
    outcome_.ended = machine_.loop().now();
    const JobQueue* queue = placer_of(options_.file).queue();
    if (!trained && queue != nullptr) hear_whether_all_were_told_to_end(queue->signals_take());
    RunRecord& record = outcome_.record;
    if (record.first_step_seen) {
      record.result.seconds_to_first_step = in_seconds(*record.first_step_seen - options_.began);
    }
    read_last_lines();
    faults_.reset();
    outcome_.interrupted = orders_.interrupted();
    outcome_.told_to_end = orders_.told_to_end() && orders_.interrupted();
    stopping_ = true;
    record.status.phase = "stopping";
    record.status.cause = cause_so_far(trained);
    changed();
    if (cluster_) {
      if (outcome_.started) bring_files_back(trained.ok());
      // A job that is done has nothing to finish; one that failed may still write its last words.
      outcome_.stop =
          cluster_->stop(orders_.without_grace() ? Duration::zero() : options_.file.cluster.grace);
    }
    outcome_.told_while_stopping = orders_.any() && !outcome_.interrupted;
    // By now the first cause is known; what was heard first may have been its consequence.
    const auto failure = cluster_ ? cluster_->failure() : std::nullopt;
    const bool loss =
        failure && (is_loss(*failure) || (outcome_.started && is_lost_with_ssh(*failure)));
    // What was there before does not come up again; which host that is they are asked themselves.
    const bool told = orders_.any();
    const bool gone = !outcome_.started && !options_.restarts.empty() && !told;
    outcome_.lost = !trained && (loss || gone);
    if (outcome_.lost && gone) {
      for (const HostSection& host : options_.file.hosts) outcome_.lost_hosts.push_back(host.name);
    }
    if (outcome_.lost && cluster_) {
      if (!gone) outcome_.lost_hosts = cluster_->lost_hosts();
      outcome_.drained_hosts = cluster_->drained_hosts();
      outcome_.added_hosts = cluster_->added_hosts();
    }
    finish(trained);
    changed();
    return std::move(outcome_);
  }

 private:
  void changed() override { listener_.changed(outcome_.record); }
  void step(const StepMetrics& metrics) override {
    StepMetrics whole = metrics;
    // They count steps done.
    whole.learning_rate = rate_(static_cast<std::uint64_t>(metrics.step - 1));
    listener_.step(whole);
  }
  void loss(const LossMetrics& metrics) override { listener_.loss(metrics); }
  void tensor(const TensorMetrics& metrics) override { listener_.tensor(metrics); }
  void histogram(const HistogramMetrics& metrics) override { listener_.histogram(metrics); }
  void picture(const PictureMetrics& metrics) override { listener_.picture(metrics); }
  void evaluation(const EvaluationResult& one) override {
    listener_.evaluation(one);
    const bool main = one.subset == actors::main_subset(options_.file.evaluation) &&
                      (one.of == "averages") == options_.file.evaluates_averages();
    if (!main) return;
    const auto version = static_cast<std::uint64_t>(one.step);
    const actors::MeasuredPrecision precision{one.precision_at_1,
                                              static_cast<std::uint64_t>(one.examples)};
    if (kept_->measured) kept_->measured(version, precision);
  }
  void actor_whole(const PeerIdentity& actor) override {
    if (holders_->whole(actor)) news_.refilled(actor);
  }
  void residuals_lost(const actors::ResidualsLost& lost) override { news_.residuals_lost(lost); }

  void bring_files_back(bool finished) {
    const Time until = machine_.loop().now() + kFilesTake;
    const auto give_up = [&] {
      return orders_.without_grace() || (!finished && machine_.loop().now() >= until);
    };
    FilesBack back = fetch_files(node_files_of(*cluster_), options_, finished, give_up);
    outcome_.left_behind = std::move(back.left);
    outcome_.weights_left = std::move(back.weights_left);
  }

  Result<void> train() {
    if (options_.told_before) orders_.hear_earlier(options_.told_before());
    if (orders_.interrupted()) return Error{Errc::cancelled, "interrupted"};
    Cluster::Events events;
    events.progress = [this](std::string_view what) { news_.logged(what); };
    events.down = [this](const ProcessDown& down) { is_down(down); };
    if (ranks_left_.left() > 0) {
      events.goes_on_without = [this](ProcessDown& down) { return goes_on_without(down); };
    }
    events.status = [this](const StatusReport& report) {
      update_actors(outcome_.record.status, report);
      count_time();
      count_waits(outcome_.record, machine_.loop().now());
      changed();
    };
    events.end_wanted = [this](const std::string& cause) {
      ended_by_ = cause;
      orders_.interrupt();
    };
    events.restarts = [this](const ProcessRestarts& restarts) { comes_again(restarts); };
    events.link_trouble = [this](const LinkTrouble& trouble) { news_.link_trouble(trouble); };
    events.link_pace = [this](const LinkPace& pace) { news_.link_pace(pace); };
    events.coordinator = [this](const Contact& contact) { listener_.coordinator_again(contact); };
    events.host_added = [this](const std::string& host) { news_.host_added(host); };
    events.fault_injected = [this](const FaultInjected& fault) { news_.injected(fault); };
    changed();

    actors::JobConfig job;
    if (options_.file.trains()) {
      STERNA_ASSIGN(job, planned(options_.file));
    }
    STERNA_ASSIGN(std::vector<ActorSpec> specs, specs_of(options_.file, job, options_.weights));
    STERNA_ASSIGN(ClusterOptions how,
                  cluster_options_of(options_.file, options_.log_directory, options_.id));
    how.run = options_.run;
    how.operators = options_.operators;
    how.schema_hash = options_.program.schema_hash;
    if (!options_.program.path.empty()) machine_.spawner().set_program(options_.program.path);
    if (options_.make_placer) {
      STERNA_ASSIGN(placer_,
                    options_.make_placer([this](std::string_view line) { news_.logged(line); },
                                         [this] { return orders_.interrupted(); }));
    }
    cluster_.emplace(machine_, registry_, std::move(how), placer_.get());
    cluster_->set_events(std::move(events));
    STERNA_TRY(cluster_->start());
    if (options_.file.chaos.allow) cluster_->allow_faults();
    STERNA_TRY(listener_.started(*cluster_));
    outcome_.started = true;
    if (options_.file.trains() && options_.file.gradient.codec == actors::kAutoCodec) {
      STERNA_ASSIGN(job, with_codecs_chosen(job));
      STERNA_ASSIGN(specs, specs_of(options_.file, job, options_.weights));
    }
    if (options_.file.trains()) {
      STERNA_TRY(observe(job));
      plan_faults();
      STERNA_TRY(keep_checkpoints(job));
    }
    if (!options_.file.trains() && !options_.log_directory.empty()) read_logs();
    STERNA_ASSIGN(const auto started, cluster_->start_actors(specs));
    for (std::size_t i = 0; i < started.size(); ++i) {
      ActorStatus& actor = outcome_.record.status.actors[i];
      actor.pid = started[i].pid;
      if (actor.state == "starting") actor.state = "running";  // it may have ended already
    }
    if (!options_.file.trains()) outcome_.record.status.phase = "running";
    changed();
    listener_.running();
    trains_ = true;
    cluster_->run_until(
        [&] {
          notice_a_stop();
          if (logs_) logs_->turn();
          if (faults_) faults_->turn(outcome_.record.status.step);
          return done() || cluster_->failure() || cluster_->interrupted() || orders_.told_to_end();
        },
        kNever);
    if (orders_.told_to_end()) keep_before_the_end();
    trains_ = false;
    if (cluster_->interrupted()) return Error{Errc::cancelled, "interrupted"};
    if (cluster_->failure())
      return Error{Errc::actor_down, death_in_words(options_.file, *cluster_->failure())};
    return {};
  }

  /// The job with the codecs that suit the links and the processors that it has.
  Result<actors::JobConfig> with_codecs_chosen(const actors::JobConfig& job) {
    STERNA_ASSIGN(const std::vector<ChoosableTensor> tensors,
                  choosable_tensors(options_.file, job.images()));
    std::map<std::string, std::string> chosen;
    if (tensors.empty()) {
      news_.logged("codec auto: other keys choose for every tensor");
    } else {
      news_.logged("measuring the links and the codecs");
      Result<ExchangeCosts> costs = probe_exchange(*cluster_, options_.file, job, ended_);
      if (!costs) return std::move(costs).error().in("codec auto");
      chosen = choose_codecs(tensors, *costs);
      outcome_.record.status.codecs = choice_line(chosen, costs->link);
      news_.logged("codec auto: " + outcome_.record.status.codecs);
    }
    ClusterFile file = options_.file;
    file.gradient = with_choice(file.gradient, chosen);
    listener_.codecs_chosen(file.gradient);
    return planned(file);
  }

  /// The job, with where it begins.
  Result<actors::JobConfig> planned(const ClusterFile& file) const {
    STERNA_ASSIGN(actors::JobConfig job, job_of(file, options_.data));
    job.checkpoint.folder = options_.checkpoints;
    return going_on_from(options_.from.get(), std::move(job));
  }

  /// Makes checkpoints of the parts that the actors write, and gives them what they go on from.
  Result<void> keep_checkpoints(const actors::JobConfig& job) {
    if (!job.checkpoint.on() && !job.resumes) return {};
    STERNA_ASSIGN(actors::KeeperSetup setup,
                  keeper_setup_of(options_.file, job, options_.data, options_.from.get(),
                                  options_.checkpoints));
    setup.resolved = options_.resolved;
    setup.run = options_.identity;
    setup.shared = !options_.file.checkpoint.folder.empty();
    if (options_.file.checkpoint.folder.empty()) {
      setup.node_of = [this](const std::string& actor) { return places_.node_elsewhere(actor); };
    }
    if (job.checkpoint.copies > 0) {
      setup.copy_places = [this] { return places_.copy_places(); };
      setup.say_no_copy = [this](const std::string& line) {
        news_.copy_missed(line, kept_->copies_missed);
      };
    }
    setup.record = kept_;
    setup.say = [this](const std::string& line) {
      news_.checkpoint_missed(line, kept_->said.size());
    };
    setup.committed = [this](const actors::SavedCheckpoint& saved) {
      outcome_.record.status.checkpoint_step = static_cast<std::int64_t>(saved.manifest.step);
      outcome_.record.result.checkpoint = saved.folder;
      changed();
    };
    const auto keeper = cluster_->process().spawn<actors::CheckpointKeeper>(std::move(setup));
    return cluster_->publish(actors::kKeeperName, keeper);
  }

  /// Who told it to end gives some seconds.
  void keep_before_the_end() {
    if (done() || cluster_->failure() || cluster_->interrupted()) return;
    news_.logged("told to end: a checkpoint first");
    cluster_->ends_soon();
    kept_->keep_soon();
    const auto is_kept = [this] { return kept_->soon > 0 && kept_->last >= kept_->soon; };
    cluster_->run_until(
        [&] { return is_kept() || done() || cluster_->failure() || cluster_->interrupted(); },
        machine_.loop().now() + options_.file.cluster.grace);
    if (!done() && !orders_.interrupted()) orders_.interrupt();
  }

  /// Whether the checkpoint of the end is there, where there is to be one, and says how good it is.
  bool kept() const { return !options_.file.checkpoint.on() || (kept_->over && !kept_->writes); }

  /// Hears from the workers and the evaluator.
  Result<void> observe(const actors::JobConfig& job) {
    if (counts_epochs(options_.file)) {
      outcome_.record.status.batches_of_epoch = static_cast<std::int64_t>(job.examples / job.batch);
    }
    holders_.emplace(options_.file, job.servers_come_again());
    STERNA_ASSIGN(rate_, actors::learning_rate_of(job));
    RunObserver::Listener& listener = *this;
    const auto observer =
        cluster_->process().spawn<RunObserver>(outcome_.record, options_.file, job, listener);
    STERNA_TRY(cluster_->publish(kObserverName, observer));
    return {};
  }

  void plan_faults() {
    if (options_.file.faults.empty()) return;
    faults_.emplace(
        options_.file.faults,
        options_.faults_over ? options_.faults_over : std::make_shared<PlannedFaults::Over>(),
        [this](InjectFault fault) { return cluster_->inject(std::move(fault)); },
        [this](const std::string& line) { news_.logged(line); });
  }

  void read_logs() {
    logs_.emplace(
        machine_.loop(), logs_of(options_.file, *cluster_),
        [this](const ReadFile& question) {
          return cluster_->process().ask(agent_of<Coordinator>(kCoordinatorProcess), question,
                                         kControlDeadline);
        },
        [this](std::string_view line) { news_.logged(line); });
  }

  /// What the actors logged last, for who looks at the screen; the logs have it anyway.
  void read_last_lines() {
    constexpr Duration kPatience = std::chrono::seconds(1);
    if (!logs_) return;
    cluster_->run_until([&] { return logs_->is_through() || orders_.interrupted(); },
                        machine_.loop().now() + kPatience);
    logs_.reset();
  }

  void is_down(const ProcessDown& down) {
    const std::string& name = down.identity.name;
    if (down.wanted) ended_.insert(name);
    news_.ended(down, stopping_);
    if (down.wanted && down.cause != kHostDrained && !options_.file.trains() && !stopping_) {
      const std::string line = name + " has ended";
      logs_ ? logs_->say_at_end_of(name, line) : news_.logged(line);
    }
    changed();
  }

  bool goes_on_without(ProcessDown& down) {
    const std::string& name = down.identity.name;
    if (!ranks_left_.goes_on_without(down)) return false;
    if (outcome_.record.workers_lost.contains(name)) return true;
    news_.goes_on_without(down, ranks_left_.in_words());
    if (kept_->do_without) kept_->do_without(name);
    return true;
  }

  void comes_again(const ProcessRestarts& restarts) {
    const ProcessDown& down = restarts.down;
    if (const std::string other = holders_ ? holders_->lost(down.identity) : ""; !other.empty()) {
      ProcessDown both = down;
      both.cause += fmt::format(", before {} had the parameters again", other);
      both.consequence = false;  // of its host's end it need not have been one
      return cluster_->give_up(both);
    }
    if (restarts.host != down.host) places_.moves(down.identity.name, restarts.host);
    news_.comes_again(restarts);
  }

  /// From the first step; before it, and where there are none, from the command. It ends with what
  /// the run is for: stopping its processes takes seconds that train nothing. What the run had
  /// trained before it was begun again counts already (restarts.h).
  void count_time() {
    RunRecord& record = outcome_.record;
    const Time now = stopping_ ? outcome_.ended : machine_.loop().now();
    const Time began = options_.restarts.empty() ? options_.began : now;
    record.status.elapsed_seconds = in_seconds(now - record.first_step_began.value_or(began));
  }

  /// A training job is done with its last evaluation; any other when all its actors have ended, or
  /// those that its file names.
  bool done() const {
    const ClusterFile& file = options_.file;
    if (!file.trains()) {
      const std::vector<std::string>& awaited = outcome_.record.result.awaited;
      return std::all_of(awaited.begin(), awaited.end(),
                         [&](const std::string& name) { return ended_.contains(name); });
    }
    if (!kept()) return false;
    if (file.count(Role::kEvaluator) > 0) return outcome_.record.finished;
    const std::vector<std::string> workers = file.names_of(Role::kWorker);
    return all_done(outcome_.record, {workers.begin(), workers.end()});
  }

  /// Why it ends, where it does before its time.
  std::string cause_so_far(const Result<void>& trained) const {
    if (outcome_.interrupted && orders_.told_to_end() && options_.file.checkpoint.on()) {
      return "told to end by SIGTERM";
    }
    if (outcome_.interrupted) return ended_by_.empty() ? "interrupted" : ended_by_;
    if (trained) return "";
    // The first death says more than the failures that follow from it.
    return cluster_ && cluster_->failure() ? death_in_words(options_.file, *cluster_->failure())
                                           : trained.error().message;
  }

  void finish(const Result<void>& trained) {
    JobEnd end;
    end.weights_left = outcome_.weights_left;
    if (outcome_.interrupted || !trained) {
      end.kind = outcome_.interrupted ? JobEnd::Kind::kInterrupted : JobEnd::Kind::kFailed;
      end.cause = cause_so_far(trained);
    }
    if (end.kind == JobEnd::Kind::kFailed) {
      if (stopped_for_ > Duration::zero()) {
        end.cause = fmt::format(
            "sterna itself was stopped for {:.1f} s, longer than cluster.silence ({}), so its "
            "processes gave it up: {}",
            in_seconds(stopped_for_), duration_text(options_.file.cluster.silence), end.cause);
      }
      if (cluster_) end.consequences = consequences();
    }
    count_time();
    close_record(outcome_.record, options_.file, end);
  }

  /// The deaths behind the first, as many as anybody reads.
  std::vector<std::string> consequences() const {
    constexpr std::size_t kShown = 5;
    std::vector<std::string> words;
    for (const ProcessDown& down : cluster_->deaths()) {
      if (down.process == cluster_->failure()->process) continue;
      if (words.size() == kShown) break;
      words.push_back(death_in_words(options_.file, down));
    }
    return words;
  }

  /// The ends of others may come before the signal that is for all.
  void hear_whether_all_were_told_to_end(Duration signals_take) {
    machine_.loop().run_until([this] { return orders_.interrupted(); },
                              machine_.loop().now() + signals_take);
  }

  /// The loop turns at every heartbeat, unless this process was stopped, or the machine slept.
  void notice_a_stop() {
    const Time now = machine_.loop().now();
    if (last_turn_ && now - *last_turn_ > options_.file.cluster.silence) {
      stopped_for_ = now - *last_turn_;
    }
    last_turn_ = now;
  }

  /// A job that makes checkpoints ends with one, once all its actors run.
  bool ends_by_itself() const { return trains_ && !stopping_ && kept_->keep_soon != nullptr; }

  const JobOptions& options_;
  JobListener& listener_;
  kernels::LearningRate rate_;  ///< of a training job, from its start on
  RanksLeft ranks_left_{options_.file};
  std::optional<StateHolders> holders_;  // of a training job, from its start on
  JobOutcome outcome_;
  RunNews news_{options_.file, outcome_.record, listener_};
  ActorPlaces places_{options_.file, [this](const std::string& host) {
                        return cluster_->process_of(node_name(host));
                      }};
  bool trains_ = false;  ///< all actors run, and are waited for
  bool stopping_ = false;
  std::set<std::string> ended_;  ///< actors that have stopped by themselves
  std::string ended_by_;         ///< an operator's words
  std::optional<Time> last_turn_;
  Duration stopped_for_{};
  RealMachine& machine_;
  const Registry& registry_;
  std::unique_ptr<Spawner> placer_;  ///< outlives the cluster
  std::optional<Cluster> cluster_;
  std::shared_ptr<actors::KeeperRecord> kept_ = std::make_shared<actors::KeeperRecord>();
  std::optional<PlannedFaults> faults_;
  std::optional<LogReader> logs_;  ///< of a program's actors, while they run
  EndOrders orders_;
};

}  // namespace

JobOutcome run_job(RealMachine& machine, const Registry& registry, const JobOptions& options,
                   JobListener& listener) {
  return Job(machine, registry, options, listener).run();
}

}  // namespace sterna::launcher
