#include "launcher/job/job_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "actors/checkpoint/keeper.h"
#include "actors/codecs/codec.h"
#include "actors/job/args.h"
#include "actors/reader/data_folder.h"
#include "actors/worker/ranks/net_memory.h"
#include "input/augment/family.h"
#include "input/place/class_names.h"
#include "input/place/data_set.h"
#include "input/place/data_shard.h"
#include "kernels/optimizer/schedule.h"
#include "launcher/cluster_file/placement.h"
#include "launcher/hosts/host_plan.h"
#include "launcher/view/status_json.h"
#include "nets/describe_net.h"
#include "runtime/host/usable_cores.h"

namespace sterna::launcher {

namespace {

std::vector<actors::WorkerRanks> workers_of(const ClusterFile& file) {
  std::vector<actors::WorkerRanks> workers;
  for (const ActorPlan& actor : file.actors) {
    if (actor.role != Role::kWorker) continue;
    workers.push_back({actor.name, static_cast<std::uint32_t>(actor.first_rank),
                       static_cast<std::uint32_t>(actor.ranks)});
  }
  return workers;
}

}  // namespace

bool counts_epochs(const ClusterFile& file) {
  const auto schedule = kernels::find_schedule(file.optimizer.schedule);
  return file.job.epochs > 0 || file.log.style == kSchlagLog ||
         file.gradient.floating_grad_epoch > 0 || (schedule && schedule->counts_epochs);
}

Result<ClusterFile> in_steps(const ClusterFile& file, const input::DataLocation& data,
                             const actors::SavedCheckpoint* from) {
  if (file.job.epochs == 0) return file;
  STERNA_ASSIGN(const input::SourceFacts facts,
                input::training_facts(data.dir, actors::data_options(file.data, file.job.seed)));
  const std::uint64_t per_step = actors::examples_per_version(
      file.scheme, file.job.batch, static_cast<std::uint32_t>(file.ranks()));
  const double examples = file.job.epochs * static_cast<double>(facts.count);
  const auto steps_of = [&](double these) {
    return std::ceil(these / static_cast<double>(per_step));
  };
  double steps = steps_of(examples);
  if (from != nullptr && from->manifest.position != from->manifest.step * per_step) {
    const double left = examples - static_cast<double>(from->manifest.position);
    steps = static_cast<double>(from->manifest.step) + steps_of(std::max(0.0, left));
  }
  if (steps > actors::kMostSteps) {
    return Error{Errc::invalid_argument,
                 fmt::format("job.epochs = {} are {} steps of this data set, and at most {} fit",
                             file.job.epochs, steps, actors::kMostSteps)};
  }
  ClusterFile counted = file;
  counted.job.epochs = 0;
  counted.job.steps = static_cast<std::uint64_t>(steps);
  return counted;
}

namespace {

/// The shape that the family makes of the set's pictures, with the side and channels that the file
/// asks for.
input::PictureShape seen_by_the_net(const actors::DataSection& data, const input::DataSet& set) {
  const bool own = data.preprocess != actors::kAutoPreprocess;
  const input::Family* family = input::find_family(own ? data.preprocess : set.family);
  assert(family != nullptr);
  input::PictureShape shape = family->shape(set.shape);
  if (data.size > 0) shape.rows = shape.columns = data.size;
  if (data.channels > 0) shape.channels = data.channels;
  return shape;
}

/// Whether some server without a partner is to come again, and workers can give it all it had:
/// statistics are the servers' alone, and what lies on a device is not copied from there.
bool servers_come_again(const ClusterFile& file, const nets::NetDescription& net) {
  const bool some = std::ranges::any_of(file.actors, [](const ActorPlan& actor) {
    return actor.role == Role::kParameterServer && actor.partner.empty() &&
           actor.restarts.times > 0;
  });
  return some &&
         std::ranges::none_of(
             net.parameters,
             [](const nets::ParameterSpec& one) { return one.role == nets::Role::statistic; }) &&
         std::ranges::none_of(file.actors, [](const ActorPlan& actor) {
           return actor.role == Role::kWorker && actor.backend != "cpu";
         });
}

}  // namespace

Result<void> check_class_count(const ClusterFile& file, const input::DataSet& set) {
  const std::uint32_t classes = file.data.classes;
  if (classes == 0 || classes >= set.classes) return {};
  return Error{Errc::invalid_argument,
               fmt::format("data.classes = {}, and {} has {}", classes, set.name, set.classes)};
}

Result<actors::JobConfig> job_of(const ClusterFile& given, const input::DataLocation& data) {
  STERNA_ASSIGN(const ClusterFile file, in_steps(given, data));
  actors::JobConfig job;
  job.section() = file.job;
  static_cast<actors::JobSections&>(job) = file;
  job.data.name = data.name;
  job.data.dir = data.folder().string();
  const input::DataSet* set = input::find_data_set(data.name);
  assert(set != nullptr);
  job.picture = seen_by_the_net(job.data, *set);
  job.classes = job.data.classes > 0 ? job.data.classes : set->classes;
  STERNA_TRY(check_class_count(file, *set));
  std::error_code ignored;
  const bool elsewhere = !std::filesystem::exists(data.dir, ignored) && !input::lies_nowhere(*set);
  if (job.classes == 0 && elsewhere) {
    return Error{
        Errc::invalid_argument,
        fmt::format("the data lie on other hosts, and a data set of the form \"{}\" does not "
                    "say how many classes it has: set data.classes",
                    set->name)};
  }
  if (job.classes == 0) {
    STERNA_ASSIGN(const input::SourceFacts facts,
                  input::training_facts(data.dir, actors::data_options(job.data, job.seed)));
    job.classes = facts.classes;
  }
  // Until it is chosen.
  if (job.gradient.codec == actors::kAutoCodec) {
    job.gradient.codec = actors::codec_of(actors::Codec::FP32).name;
  }
  job.deadlines = file.deadlines;
  job.ranks = static_cast<std::uint32_t>(file.ranks());
  if (job.gradient.host == actors::HostRule::average) {
    job.averaged_ranks = workers_of(file).front().ranks;
  }
  job.shards = static_cast<std::uint32_t>(file.shards());
  job.restarts_workers = std::ranges::any_of(file.actors, [](const ActorPlan& actor) {
    return actor.role == Role::kWorker && actor.restarts.times > 0;
  });
  if (!job.net.empty()) {  // without one somebody only looks at the data
    const Result<nets::NetDescription> net = nets::describe_net(actors::net_options(job));
    if (!net) return Error(net.error()).in("job.net");
    job.restarts_servers = servers_come_again(file, *net);
  }
  if (const Complaint complaint = actors::too_large_a_batch(job)) {
    return Error{Errc::invalid_argument, *complaint};
  }
  if (counts_epochs(file)) {
    STERNA_ASSIGN(const input::SourceFacts facts,
                  input::training_facts(data.dir, actors::data_options(job.data, job.seed)));
    job.examples = facts.count;
  }
  return job;
}

std::string picture_size_hint(const actors::JobConfig& job) {
  const nets::ZooNet* net = nets::find_net(job.net);
  const input::DataSet* set = input::find_data_set(job.data.name);
  const bool open = job.data.size == 0 && job.data.preprocess == actors::kAutoPreprocess;
  const bool any_size = set != nullptr && set->shape.rows == 0;
  if (net == nullptr || !open || !any_size) return "";
  // A toy's numbers are no picture.
  if (net->usual.rows == 1 || net->usual.rows >= job.picture.rows) return "";
  return fmt::format(
      "pictures become {0} x {0}, and {1} was made for {2} x {2}: data.size = {2} trains faster",
      job.picture.rows, job.net, net->usual.rows);
}

Result<actors::ModelNote> note_of_job(const actors::JobConfig& job,
                                      const input::DataLocation& data) {
  const input::DataSet* set = input::find_data_set(data.name);
  assert(set != nullptr);
  const bool own = job.data.preprocess != actors::kAutoPreprocess;
  input::ClassLabels labels;
  if (std::error_code ignored; std::filesystem::exists(data.dir, ignored)) {
    STERNA_ASSIGN(auto names,
                  input::class_names(data.dir, actors::data_options(job.data, job.seed)));
    labels = std::move(names).value_or(input::ClassLabels{});
  }
  return actors::note_of(job, 0, own ? std::string_view(job.data.preprocess) : set->family, labels);
}

namespace {

/// Where an actor's host has the data: its own folder, or the job's, which of another machine may
/// be none: then the actor looks for it there.
actors::JobConfig job_at(const HostSection& host, bool elsewhere, const ClusterFile& file,
                         const actors::JobConfig& job) {
  actors::JobConfig own = job;
  if (!host.data.empty()) {
    own.data.dir = host.data;
  } else if (elsewhere) {
    own.data.dir = file.data.dir;
  }
  // Where no folder is named that all share, the keeper fetches the parts of other machines.
  if (elsewhere && file.checkpoint.folder.empty()) own.checkpoint.folder.clear();
  return own;
}

/// What the actors are started with, each on any host.
class Specs {
 public:
  Specs(const ClusterFile& file, const actors::JobConfig& job, const std::string& weights)
      : file_(file),
        job_(job),
        weights_(weights),
        servers_(file.names_of_servers()),
        replicas_(replicas_of(file)),
        readers_(file.names_of(Role::kInputReader)),
        evaluators_(file.names_of(Role::kEvaluator)),
        keeper_(job.checkpoint.on() || job.resumes ? actors::kKeeperName : ""),
        devices_given_(std::ranges::any_of(
            file.hosts, [](const HostSection& host) { return host.gpus > 0; })) {}

  Result<ActorSpec> of(const ActorPlan& actor) const {
    ActorSpec spec;
    spec.name = actor.name;
    spec.type = actor.type.empty() ? std::string(facts_of(actor.role).name) : actor.type;
    spec.memory_limit = actor.memory;
    spec.args_are_json = !actor.type.empty();
    STERNA_ASSIGN(ActorPlace here, at(actor, actor.host));
    spec.host = std::move(here.host);
    spec.args = std::move(here.args);
    spec.compute_threads = here.compute_threads;
    spec.environment = std::move(here.environment);
    const bool worker = actor.role == Role::kWorker;
    if (worker && job_.exchanges_within()) spec.type = actors::kServingWorkerType;
    if (worker && !job_.workers_come_again()) return spec;
    const bool server = actor.role == Role::kParameterServer;
    if (server && actor.partner.empty() && !job_.servers_come_again()) return spec;
    spec.restart = actor.restarts;
    if (spec.restart.times == 0 || file_.cluster.lost_host == "wait") return spec;
    if (worker && file_.cluster.lost_host == "quorum") return spec;
    // What a rank alone has lies on its host; it may be lost with that where the file says so.
    spec.needs_kept = worker && job_.gradient.error_feedback && !job_.gradient.zeroes_residuals();
    // Who is drained leaves with all others of its host: they must not be who has its state.
    if (server && actor.partner.empty()) return spec;
    for (const std::string& name : other_hosts(file_, actor)) {
      STERNA_ASSIGN(ActorPlace place, at(actor, name));
      spec.elsewhere.push_back(std::move(place));
    }
    return spec;
  }

 private:
  Result<ActorPlace> at(const ActorPlan& actor, const std::string& host_name) const {
    ActorPlace place;
    place.host = host_name;
    // Each once: to CUDA a device that is named twice is none.
    std::vector<std::int64_t> visible;
    for (const std::int64_t device : actor.devices) {
      if (std::ranges::count(visible, device) == 0) visible.push_back(device);
    }
    if (devices_given_) {
      place.environment = {fmt::format("CUDA_VISIBLE_DEVICES={}", fmt::join(visible, ","))};
      // CUDA's own order is the fastest card first; the file's numbers are those of nvidia-smi.
      if (!visible.empty()) place.environment.emplace_back("CUDA_DEVICE_ORDER=PCI_BUS_ID");
    }
    if (!actor.type.empty()) {
      place.args = copy_bytes(actor.args_json.empty() ? "{}" : actor.args_json);
      return place;
    }
    const auto host = std::ranges::find(file_.hosts, host_name, &HostSection::name);
    if (host == file_.hosts.end()) {
      return Error{Errc::invalid_argument, actor.name + " has no host"};
    }
    const bool elsewhere = is_remote(file_, *host) && &*host != head_of(file_);
    const actors::JobConfig job = job_at(*host, elsewhere, file_, job_);
    // Parts of checkpoints are written beside the computing.
    const std::uint32_t writes = job_.checkpoint.on() ? 1 : 0;
    switch (actor.role) {
      case Role::kParameterServer: {
        const std::string& shard = actor.replica ? actor.partner : actor.name;
        const auto index = std::ranges::find(servers_, shard) - servers_.begin();
        place.args = pack(actors::ServerArgs{
            job, static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(servers_.size()),
            workers_of(file_), evaluators_.empty() ? "" : evaluators_.front(), keeper_,
            kObserverName, actor.partner, actor.replica});
        place.compute_threads = 1 + writes;
        return place;
      }
      case Role::kWorker: {
        actors::WorkerArgs args;
        args.job = job;
        args.first_rank = static_cast<std::uint32_t>(actor.first_rank);
        args.ranks = static_cast<std::uint32_t>(actor.ranks);
        if (!job_.exchanges_within()) args.servers = servers_;
        if (!evaluators_.empty() && job_.exchanges_within()) args.evaluator = evaluators_.front();
        args.readers = readers_;
        args.observer = kObserverName;
        args.keeper = keeper_;
        args.replicas = replicas_;
        args.backend = actor.backend;
        for (const std::int64_t device : actor.devices) {
          // It sees no others, or all that the driver shows.
          const auto shown = std::ranges::find(visible, device) - visible.begin();
          args.devices.push_back(static_cast<std::uint32_t>(devices_given_ ? shown : device));
        }
        place.args = pack(args);
        // A compute thread per net: their passes run side by side. How many cores another host has
        // is for its worker to find out.
        const auto beside =
            std::max(usable_cores(), static_cast<std::uint32_t>(actor.devices.size()));
        place.compute_threads =
            (elsewhere ? args.ranks : actors::replicas_of(job_, args.ranks, beside)) +
            (job_.exchanges_within()                                 ? 1 + writes  // as a server
             : job_.ranks_have_state() || job_.checkpoint.copies > 0 ? writes
                                                                     : 0);
        // One more for each device, which takes the next images there beside a pass.
        if (args.backend == "cuda") {
          place.compute_threads += std::max(1U, static_cast<std::uint32_t>(args.devices.size()));
        }
        return place;
      }
      case Role::kInputReader:
        place.args = pack(actors::ReaderArgs{.job = job,
                                             .workers = workers_of(file_),
                                             .shard = static_cast<std::uint32_t>(actor.shard),
                                             .observer = kObserverName});
        place.compute_threads = job.data.threads;
        return place;
      case Role::kEvaluator: {
        actors::EvaluatorArgs args;
        args.job = job;
        args.servers = servers_;
        args.observer = kObserverName;
        args.replicas = replicas_;
        args.backend = actor.backend;
        // Elsewhere it lies in the run's folder, from where the launcher fetches it.
        args.weights = elsewhere && !weights_.empty() ? kRemoteWeights : weights_;
        place.args = pack(args);
        return place;
      }
      case Role::kNone:
        break;
    }
    return Error{Errc::invalid_argument, actor.name + " has neither role nor type"};
  }

  const ClusterFile& file_;
  const actors::JobConfig& job_;
  const std::string& weights_;
  /// Of the servers, in their order; none where not all have one.
  static std::vector<std::string> replicas_of(const ClusterFile& file) {
    std::vector<std::string> replicas;
    for (const ActorPlan& actor : file.actors) {
      if (actor.replica) replicas.push_back(actor.name);
    }
    return replicas;
  }

  std::vector<std::string> servers_;
  std::vector<std::string> replicas_;
  std::vector<std::string> readers_;
  std::vector<std::string> evaluators_;
  std::string keeper_;
  bool devices_given_;
};

}  // namespace

Result<std::vector<ActorSpec>> specs_of(const ClusterFile& file, const actors::JobConfig& job,
                                        const std::string& weights) {
  const Specs specs(file, job, weights);
  std::vector<ActorSpec> all;
  for (const ActorPlan& actor : file.actors) {
    STERNA_ASSIGN(ActorSpec spec, specs.of(actor));
    all.push_back(std::move(spec));
  }
  return all;
}

}  // namespace sterna::launcher
