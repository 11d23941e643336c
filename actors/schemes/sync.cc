// sync: synchronous steps. Step s is computed from exactly version s, a chunk waits for the
// gradients of all ranks, and their average makes version s + 1 (TernGrad, Wen et al. 2017,
// algorithm 1).
//
// With a quorum below all, a version is made of the first ranks' gradients to come, and what comes
// later is dropped: its rank goes on from the newest version (backup workers, Chen et al. 2016,
// arXiv 1604.00981).
#include <fmt/format.h>

#include "actors/schemes/server_rules.h"
#include "actors/schemes/worker_rules.h"

namespace sterna::actors {
namespace {

class SyncWorker final : public WorkerRules {
 public:
  using WorkerRules::WorkerRules;

  Need need(std::uint64_t step) const override {
    // No gradient led to the first.
    const bool first = step == job().first_step;
    if (workers_step(job()) && !first) return {.version = step, .kind = PayloadKind::GRADIENT};
    const bool rounded = job().gradient.down == Down::parameters_bf16 && (!first || job().resumes);
    return {.version = job().in_step() ? step : job().first_step,
            .codec = rounded ? Codec::BF16 : Codec::FP32};
  }
  bool compares(std::uint64_t step) const override { return compares_version(job(), step); }
};

class SyncServer final : public TogetherRules {
 public:
  using TogetherRules::TogetherRules;

  Result<void> check(const Push& push) const override {
    STERNA_TRY(TogetherRules::check(push));
    if (!job().in_step()) return {};
    for (const Packet& packet : push.packets) {
      if (packet.base_version == push.step) continue;
      return Error{Errc::invalid_argument,
                   fmt::format("step {} computed from version {}", push.step, packet.base_version)};
    }
    return {};
  }
  std::vector<float> weights(const std::vector<Counted>& packets, std::uint64_t) const override {
    const bool sums = job().scheme.combine == CombineRule::sum;
    if (!sums && !weighs_ranks(job())) return {};
    const double of_all = sums ? 1 : 1.0 / static_cast<double>(packets.size());
    std::vector<float> weights;
    weights.reserve(packets.size());
    for (const Counted& one : packets) {
      weights.push_back(static_cast<float>(of_all * job().rate_of(one.rank)));
    }
    return weights;
  }
};

}  // namespace

Scheme sync_scheme() {
  return {.name = "sync", .worker = make_worker<SyncWorker>, .server = make_server<SyncServer>};
}

}  // namespace sterna::actors
