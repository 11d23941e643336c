#include "launcher/run/job_plan.h"

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
#include "actors/worker/net_memory.h"
#include "input/augment/family.h"
#include "input/place/class_names.h"
#include "input/place/data_set.h"
#include "input/place/data_shard.h"
#include "kernels/optimizer/schedule.h"
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

Result<ClusterFile> in_steps(const ClusterFile& file, const input::DataLocation& data) {
  if (file.job.epochs == 0) return file;
  STERNA_ASSIGN(const input::SourceFacts facts,
                input::training_facts(data.dir, actors::data_options(file.data, file.job.seed)));
  const auto per_step = static_cast<double>(actors::examples_per_version(
      file.scheme, file.job.batch, static_cast<std::uint32_t>(file.ranks())));
  const double steps = std::ceil(file.job.epochs * static_cast<double>(facts.count) / per_step);
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

}  // namespace

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
  if (set->classes > 0 && job.classes < set->classes) {
    return Error{Errc::invalid_argument, fmt::format("data.classes = {}, and {} has {}",
                                                     job.classes, set->name, set->classes)};
  }
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
  job.shards = static_cast<std::uint32_t>(file.shards());
  job.restarts_workers = std::ranges::any_of(file.actors, [](const ActorPlan& actor) {
    return actor.role == Role::kWorker && actor.restarts.times > 0;
  });
  if (!job.net.empty()) {  // without one somebody only looks at the data
    const Result<nets::NetDescription> net = nets::describe_net(actors::net_options(job));
    if (!net) return Error(net.error()).in("job.net");
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

std::vector<std::string> environment_of(const ActorPlan& actor, bool devices_given) {
  if (!devices_given) return {};
  return {fmt::format("CUDA_VISIBLE_DEVICES={}", fmt::join(actor.devices, ","))};
}

}  // namespace

Result<std::vector<ActorSpec>> specs_of(const ClusterFile& file, const actors::JobConfig& common,
                                        const std::string& weights) {
  const HostSection* head = head_of(file);
  const bool devices_given = std::any_of(file.hosts.begin(), file.hosts.end(),
                                         [](const HostSection& host) { return host.gpus > 0; });
  const std::vector<std::string> servers = file.names_of(Role::kParameterServer);
  const std::vector<std::string> readers = file.names_of(Role::kInputReader);
  const std::vector<std::string> evaluators = file.names_of(Role::kEvaluator);
  const std::string keeper = common.checkpoint.on() || common.resumes ? actors::kKeeperName : "";
  // Parts are written beside the computing.
  const std::uint32_t writes = common.checkpoint.on() ? 1 : 0;
  std::vector<ActorSpec> specs;
  std::uint32_t server = 0;
  for (const ActorPlan& actor : file.actors) {
    ActorSpec spec;
    spec.name = actor.name;
    spec.type = facts_of(actor.role).name;
    spec.host = actor.host;
    spec.memory_limit = actor.memory;
    spec.environment = environment_of(actor, devices_given);
    if (actor.role != Role::kWorker || common.workers_come_again()) {
      spec.restart = actor.restarts;
    }
    if (!actor.type.empty()) {
      spec.type = actor.type;
      spec.args = copy_bytes(actor.args_json.empty() ? "{}" : actor.args_json);
      spec.args_are_json = true;
      specs.push_back(std::move(spec));
      continue;
    }
    const auto host =
        std::find_if(file.hosts.begin(), file.hosts.end(),
                     [&](const HostSection& each) { return each.name == actor.host; });
    if (host == file.hosts.end()) {
      return Error{Errc::invalid_argument, actor.name + " has no host"};
    }
    const bool elsewhere = is_remote(file, *host) && &*host != head;
    const actors::JobConfig job = job_at(*host, elsewhere, file, common);
    switch (actor.role) {
      case Role::kParameterServer: {
        actors::ServerArgs args{job,
                                server++,
                                static_cast<std::uint32_t>(servers.size()),
                                workers_of(file),
                                evaluators.empty() ? "" : evaluators.front(),
                                keeper,
                                kObserverName};
        spec.args = pack(args);
        spec.compute_threads = 1 + writes;
        break;
      }
      case Role::kWorker: {
        actors::WorkerArgs args;
        args.job = job;
        args.first_rank = static_cast<std::uint32_t>(actor.first_rank);
        args.ranks = static_cast<std::uint32_t>(actor.ranks);
        args.servers = servers;
        args.readers = readers;
        args.observer = kObserverName;
        args.keeper = keeper;
        spec.args = pack(args);
        // A compute thread per net: their passes run side by side. How many cores another host has
        // is for its worker to find out.
        spec.compute_threads =
            (elsewhere ? args.ranks : actors::replicas_of(common, args.ranks, usable_cores())) +
            (common.ranks_have_state() ? writes : 0);
        break;
      }
      case Role::kInputReader:
        spec.args = pack(actors::ReaderArgs{.job = job,
                                            .workers = workers_of(file),
                                            .shard = static_cast<std::uint32_t>(actor.shard),
                                            .observer = kObserverName});
        spec.compute_threads = job.data.threads;
        break;
      case Role::kEvaluator: {
        actors::EvaluatorArgs args;
        args.job = job;
        args.servers = servers;
        args.observer = kObserverName;
        // Elsewhere it lies in the run's folder, from where the launcher fetches it.
        args.weights = elsewhere && !weights.empty() ? kRemoteWeights : weights;
        spec.args = pack(args);
        break;
      }
      case Role::kNone:
        return Error{Errc::invalid_argument, actor.name + " has neither role nor type"};
    }
    specs.push_back(std::move(spec));
  }
  return specs;
}

}  // namespace sterna::launcher
