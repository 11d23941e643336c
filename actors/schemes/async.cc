// async: each rank's gradient makes a version as it comes, from whichever it was computed (Hogwild
// and Downpour without a window). Its staleness is the version when it is applied less the one it
// is from. "inverse" multiplies it by 1 / (1 + staleness) (Zhang et al. 2015, arXiv 1511.05950);
// with max_staleness s a rank begins its step n once all have done step n - s (stale synchronous
// parallel, Ho et al. 2013).
#include <algorithm>

#include "actors/schemes/server_rules.h"
#include "actors/schemes/worker_rules.h"

namespace sterna::actors {
namespace {

class AsyncServer final : public SingleRules {
 public:
  using SingleRules::SingleRules;

  std::vector<float> weights(const std::vector<Counted>& packets,
                             std::uint64_t version) const override {
    const bool inverse = job().scheme.staleness_weight == StalenessWeight::inverse;
    if (!inverse && !weighs_ranks(job())) return {};
    const Counted& one = packets.front();
    const auto staleness = static_cast<double>(version - one.base_version);
    return {static_cast<float>(job().rate_of(one.rank) / (inverse ? 1 + staleness : 1))};
  }
  bool may_begin(std::uint64_t push, const std::vector<std::uint64_t>& done) const override {
    const std::int64_t most = job().scheme.max_staleness;
    if (most < 0) return true;
    return std::ranges::all_of(done, [&](std::uint64_t pushes) {
      return push <= pushes + static_cast<std::uint64_t>(most);
    });
  }
};

}  // namespace

Scheme async_scheme() {
  return {.name = "async", .worker = make_worker<WorkerRules>, .server = make_server<AsyncServer>};
}

}  // namespace sterna::actors
