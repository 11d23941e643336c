#include "launcher/run/job_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "actors/codecs/codec.h"
#include "actors/job/args.h"
#include "input/place/data_shard.h"
#include "kernels/optimizer/schedule.h"
#include "launcher/hosts/host_plan.h"
#include "launcher/view/status_json.h"

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
  return file.gradient.floating_grad_epoch > 0 || (schedule && schedule->counts_epochs);
}

Result<actors::JobConfig> job_of(const ClusterFile& file, const input::DataLocation& data) {
  actors::JobConfig job;
  job.section() = file.job;
  static_cast<actors::JobSections&>(job) = file;
  job.data = {data.name, data.folder().string()};
  // Until it is chosen.
  if (job.gradient.codec == actors::kAutoCodec) {
    job.gradient.codec = actors::codec_of(actors::Codec::FP32).name;
  }
  job.deadlines = file.deadlines;
  job.ranks = static_cast<std::uint32_t>(file.ranks());
  job.shards = static_cast<std::uint32_t>(file.shards());
  if (counts_epochs(file)) {
    STERNA_ASSIGN(job.examples, input::training_examples(data.dir));
  }
  return job;
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
  std::vector<ActorSpec> specs;
  std::uint32_t server = 0;
  for (const ActorPlan& actor : file.actors) {
    ActorSpec spec;
    spec.name = actor.name;
    spec.type = facts_of(actor.role).name;
    spec.host = actor.host;
    spec.memory_limit = actor.memory;
    spec.environment = environment_of(actor, devices_given);
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
        actors::ServerArgs args{job, server++, static_cast<std::uint32_t>(servers.size()),
                                workers_of(file), evaluators.empty() ? "" : evaluators.front()};
        spec.args = pack(args);
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
        spec.args = pack(args);
        // A compute thread per rank: their forward and backward passes run side by side.
        spec.compute_threads = args.ranks;
        break;
      }
      case Role::kInputReader:
        spec.args = pack(
            actors::ReaderArgs{job, workers_of(file), static_cast<std::uint32_t>(actor.shard)});
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
