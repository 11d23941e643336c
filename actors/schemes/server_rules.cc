#include "actors/schemes/server_rules.h"

#include <fmt/format.h>

#include "actors/codecs/codec.h"

namespace sterna::actors {
namespace {

Error broken(std::string message) { return {Errc::invalid_argument, std::move(message)}; }

PayloadKind pushed(const JobConfig& job) {
  return job.facts().differences ? PayloadKind::DIFFERENCE : PayloadKind::GRADIENT;
}

Error from_nowhere(const Push& push, const Packet& packet, const ChunkState& chunk) {
  return broken(fmt::format("step {} of chunk {}, from version {}, which is at version {}",
                            push.step, packet.chunk, packet.base_version, chunk.version));
}

}  // namespace

bool workers_step(const JobConfig& job) { return job.gradient.workers_step(); }

bool weighs_ranks(const JobConfig& job) {
  return !job.facts().windows && !job.scheme.rank_rates.empty();
}

bool compares_version(const JobConfig& job, std::uint64_t version) {
  // Nobody but the servers makes the last version.
  return workers_step(job) && version > job.first_step && version < job.steps &&
         version % job.gradient.check_every == 0;
}

ServerRules::ServerRules(const JobConfig& job, bool evaluated) : job_(job), evaluated_(evaluated) {
  for (const std::uint64_t version : job.first_named()) reserved_.insert(version);
}

Result<void> ServerRules::check(const Push& push) const {
  if (push.step >= job_.steps) return broken(fmt::format("step {} of {}", push.step, job_.steps));
  if (push.kind != pushed(job_)) return broken("a push of another kind than the scheme's");
  if (push.examples != job_.examples_per_push()) {
    return broken(fmt::format("{} examples; expected {}", push.examples, job_.examples_per_push()));
  }
  return {};
}

Combine ServerRules::combine(Codec codec) const {
  const bool trits = codec_of(codec).ternary();
  if (job_.scheme.combine == CombineRule::vote && codec == Codec::SIGN) return Combine::vote;
  if (trits && job_.gradient.down == Down::ternary) return Combine::ternary;
  const bool plain = job_.scheme.combine == CombineRule::mean && !weighs_ranks(job_);
  if (trits && job_.shares_scalers() && plain) return Combine::sums;
  return workers_step(job_) ? Combine::average : Combine::parameters;
}

std::vector<float> ServerRules::weights(const std::vector<Counted>&, std::uint64_t) const {
  return {};
}

PayloadKind ServerRules::sends() const {
  return workers_step(job_) ? PayloadKind::GRADIENT : PayloadKind::PARAMETERS;
}

Result<bool> ServerRules::answers(std::uint64_t version, PayloadKind kind,
                                  std::uint64_t now) const {
  if (version > job_.steps) {
    return broken(fmt::format("version {} of a job of {} steps", version, job_.steps));
  }
  const bool average = kind == PayloadKind::GRADIENT;
  const bool state = kind == PayloadKind::STATE;
  const bool kept =
      kind != PayloadKind::MOVING_AVERAGE || (job_.keeps_averages() && evaluates(version));
  if (kind == PayloadKind::DIFFERENCE || !kept ||
      (state && (!workers_step(job_) || !job_.workers_come_again())) ||
      (average && (!workers_step(job_) || version <= job_.first_step))) {
    return broken("of what this job's servers do not send");
  }
  return version <= now;
}

bool ServerRules::may_begin(std::uint64_t, const std::vector<std::uint64_t>&) const { return true; }

bool ServerRules::evaluates(std::uint64_t version) const {
  if (!evaluated_) return false;
  if (!job_.names_evaluations()) return job_.evaluates(version);
  return version == job_.steps || reserved_.contains(version);
}

Result<bool> ServerRules::reserve(std::uint64_t version, std::uint64_t first) {
  if (!evaluated_ || !job_.names_evaluations() || version >= job_.steps) {
    return broken(fmt::format("version {} is not the evaluator's to choose", version));
  }
  if (version < first) return false;
  if (!reserved_.contains(version) && reserved_.size() >= kMostSnapshots) {
    return broken(fmt::format("version {} is one more than may be kept", version));
  }
  reserved_.insert(version);
  return true;
}

bool ServerRules::compares(std::uint64_t version) const { return compares_version(job_, version); }

bool ServerRules::settles(std::uint64_t version) const {
  return !workers_step(job_) || version == job_.steps || compares(version) || evaluates(version);
}

Result<Verdict> TogetherRules::judge(const Push& push, const Packet& packet,
                                     const ChunkState& chunk) const {
  // Nobody has the parameters of a later version.
  if (packet.base_version > chunk.version) return from_nowhere(push, packet, chunk);
  const bool counts = packet.base_version == chunk.version && !complete(chunk);
  return counts && chunk.version < job().steps ? Verdict::ACCEPTED : Verdict::DROPPED;
}

Result<Verdict> SingleRules::judge(const Push& push, const Packet& packet,
                                   const ChunkState& chunk) const {
  if (packet.base_version > chunk.version) return from_nowhere(push, packet, chunk);
  return chunk.version + chunk.waiting < job().steps ? Verdict::ACCEPTED : Verdict::DROPPED;
}

}  // namespace sterna::actors
