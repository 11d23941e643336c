#include "launcher/run/job_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "actors/codecs/codec.h"
#include "actors/job/args.h"
#include "input/place/data_shard.h"
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

/// epochs_per_decay in steps: an epoch is as many steps as the ranks need to see every example
/// once.
Result<std::uint64_t> decay_steps(const ClusterFile& file, const input::DataLocation& data) {
  STERNA_ASSIGN(const std::uint64_t examples, input::training_examples(data.dir));
  const double steps_per_epoch =
      static_cast<double>(examples) / static_cast<double>(file.job.batch * file.ranks());
  return static_cast<std::uint64_t>(
      std::max(1.0, steps_per_epoch * file.optimizer.epochs_per_decay));
}

actors::Codec codec_named(const std::string& name) {
  const auto codec = actors::find_codec(name);
  return codec ? codec->wire : actors::Codec::FP32;
}

actors::Down down_named(const std::string& name) {
  if (name == "parameters_bf16") return actors::Down::PARAMETERS_BF16;
  if (name == "average") return actors::Down::AVERAGE;
  return name == "ternary" ? actors::Down::TERNARY : actors::Down::PARAMETERS;
}

actors::ScalerRule scaler_rule(const std::string& name) {
  if (name == "shared") return actors::ScalerRule::SHARED;
  return name == "last_step" ? actors::ScalerRule::LAST_STEP : actors::ScalerRule::OWN;
}

}  // namespace

Result<actors::JobConfig> job_of(const ClusterFile& file, const input::DataLocation& data) {
  actors::JobConfig job;
  job.net = file.job.net;
  job.hidden.assign(file.job.hidden.begin(), file.job.hidden.end());
  job.steps = static_cast<std::uint64_t>(file.job.steps);
  job.batch = static_cast<std::uint32_t>(file.job.batch);
  job.seed = static_cast<std::uint64_t>(file.job.seed);
  job.ranks = static_cast<std::uint32_t>(file.ranks());
  job.threads = static_cast<std::uint32_t>(file.job.threads);
  job.isa = file.job.cpu_isa;
  job.optimizer.name = file.optimizer.name;
  job.optimizer.learning_rate = file.optimizer.learning_rate;
  job.optimizer.momentum = file.optimizer.momentum;
  job.optimizer.beta1 = file.optimizer.beta1;
  job.optimizer.beta2 = file.optimizer.beta2;
  job.optimizer.epsilon = file.optimizer.epsilon;
  job.optimizer.weight_decay = file.optimizer.weight_decay;
  job.optimizer.decay_at =
      file.optimizer.decay_at == "server" ? actors::DecayAt::SERVER : actors::DecayAt::WORKER;
  job.optimizer.schedule = file.optimizer.schedule;
  if (job.optimizer.schedule == "exponential") {
    job.optimizer.decay_factor = file.optimizer.decay_factor;
    STERNA_ASSIGN(job.optimizer.decay_steps, decay_steps(file, data));
  }
  job.gradient.codec = codec_named(file.gradient.codec);
  for (const auto& [tensor, codec] : file.gradient.tensors) {
    job.gradient.tensors.push_back({tensor, codec_named(codec)});
  }
  job.gradient.error_feedback = file.gradient.error_feedback;
  job.gradient.clip_norm = file.gradient.clip_norm;
  if (file.gradient.floating_grad_epoch > 0) {
    job.gradient.floating_epoch = static_cast<std::uint64_t>(file.gradient.floating_grad_epoch);
    STERNA_ASSIGN(job.gradient.epoch_examples, input::training_examples(data.dir));
  }
  job.gradient.clip = file.gradient.clip;
  job.gradient.min_size = static_cast<std::uint64_t>(file.gradient.min_size);
  job.gradient.logits = file.gradient.logits;
  job.gradient.scaler = scaler_rule(file.gradient.scaler);
  job.gradient.buckets = file.gradient.buckets;
  job.gradient.down = down_named(file.gradient.down);
  job.gradient.check_every = static_cast<std::uint64_t>(file.gradient.check_every);
  job.evaluation.every = static_cast<std::uint64_t>(file.evaluation.every);
  job.evaluation.examples = static_cast<std::uint64_t>(file.evaluation.examples);
  job.evaluation.batch = static_cast<std::uint32_t>(file.evaluation.batch);
  job.data.name = data.name;
  job.data.dir = data.folder().string();
  job.data.shards = static_cast<std::uint32_t>(file.shards());
  job.deadlines.find = file.deadlines.start;
  job.deadlines.ask = file.deadlines.step;
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
