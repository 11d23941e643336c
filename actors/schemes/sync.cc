// sync: synchronous steps. Step s is computed from exactly version s, a chunk waits for the
// gradients of all ranks, and their average makes version s + 1 (TernGrad, Wen et al. 2017,
// algorithm 1).
#include <fmt/format.h>

#include "actors/schemes/scheme.h"

namespace sterna::actors {
namespace {

Error broken(std::string message) { return {Errc::invalid_argument, std::move(message)}; }

/// Whether gradients travel down, from which workers step as the servers do ("parameter
/// localization", section 3.1).
bool workers_step(const JobConfig& job) {
  return job.gradient.down == Down::average || job.gradient.down == Down::ternary;
}

/// Nobody but the servers makes the last version.
bool compares_version(const JobConfig& job, std::uint64_t version) {
  return workers_step(job) && version > job.first_step && version < job.steps &&
         version % job.gradient.check_every == 0;
}

class SyncWorker final : public WorkerPolicy {
 public:
  explicit SyncWorker(const JobConfig& job) : job_(job) {}

  Need need(std::uint64_t step) const override {
    // No gradient led to the first.
    const bool first = step == job_.first_step;
    if (workers_step(job_) && !first) return {.version = step, .kind = PayloadKind::GRADIENT};
    const bool rounded = job_.gradient.down == Down::parameters_bf16 && (!first || job_.resumes);
    return {.version = step, .codec = rounded ? Codec::BF16 : Codec::FP32};
  }
  NextBatch batch(std::uint64_t step, std::uint32_t rank) const override {
    return {.step = step, .rank = rank};
  }
  bool compares(std::uint64_t step) const override { return compares_version(job_, step); }
  Contribution contribution(std::uint64_t step) const override {
    return {.base_version = step, .examples = job_.batch};
  }

 private:
  JobConfig job_;
};

class SyncServer final : public ServerPolicy {
 public:
  SyncServer(const JobConfig& job, bool evaluated) : job_(job), evaluated_(evaluated) {}

  Result<void> check(const Push& push) const override {
    if (push.step >= job_.steps) return broken(fmt::format("step {} of {}", push.step, job_.steps));
    if (push.kind != PayloadKind::GRADIENT) return broken("a push that is no gradient");
    if (push.examples != job_.batch) {
      return broken(fmt::format("{} examples in a batch of {}", push.examples, job_.batch));
    }
    if (push.base_version != push.step) {
      return broken(fmt::format("step {} computed from version {}", push.step, push.base_version));
    }
    return {};
  }
  Result<Verdict> judge(const Push& push, std::uint32_t chunk,
                        std::uint64_t version) const override {
    // Nobody has the parameters that a later step is computed from.
    if (push.step > version) {
      return broken(
          fmt::format("step {} of chunk {}, which is at version {}", push.step, chunk, version));
    }
    return push.step == version ? Verdict::ACCEPTED : Verdict::DROPPED;
  }
  bool complete(std::uint32_t packets) const override { return packets == job_.ranks; }
  Combine combine(bool trits) const override {
    if (trits && job_.gradient.down == Down::ternary) return Combine::ternary;
    if (trits && job_.shares_scalers()) return Combine::sums;
    return workers_step(job_) ? Combine::average : Combine::parameters;
  }
  PayloadKind sends() const override {
    return workers_step(job_) ? PayloadKind::GRADIENT : PayloadKind::PARAMETERS;
  }
  Result<bool> answers(std::uint64_t version, PayloadKind kind, std::uint64_t now) const override {
    if (version > job_.steps) {
      return broken(fmt::format("version {} of a job of {} steps", version, job_.steps));
    }
    const bool average = kind == PayloadKind::GRADIENT;
    const bool kept =
        kind != PayloadKind::MOVING_AVERAGE || (job_.keeps_averages() && evaluates(version));
    if (kind == PayloadKind::DIFFERENCE || !kept ||
        (average && (!workers_step(job_) || version <= job_.first_step))) {
      return broken("of what this job's servers do not send");
    }
    return version <= now;
  }
  bool evaluates(std::uint64_t version) const override {
    return evaluated_ && job_.evaluates(version);
  }
  bool compares(std::uint64_t version) const override { return compares_version(job_, version); }
  bool settles(std::uint64_t version) const override {
    return !workers_step(job_) || version == job_.steps || compares(version) || evaluates(version);
  }

 private:
  JobConfig job_;
  bool evaluated_;
};

}  // namespace

Scheme sync_scheme() {
  return {.name = "sync",
          .worker = [](const JobConfig& job) -> std::unique_ptr<WorkerPolicy> {
            return std::make_unique<SyncWorker>(job);
          },
          .server = [](const JobConfig& job, bool evaluated) -> std::unique_ptr<ServerPolicy> {
            return std::make_unique<SyncServer>(job, evaluated);
          }};
}

}  // namespace sterna::actors
