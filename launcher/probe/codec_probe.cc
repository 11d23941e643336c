#include "launcher/probe/codec_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "launcher/probe/probe_messages.h"
#include "launcher/probe/prober.h"
#include "runtime/message/packed_message.h"

namespace sterna::launcher {
namespace {

/// Of workers, and of servers.
constexpr std::size_t kMostStandIns = 16;
/// What a worker has under way to all servers together, each time: as large as the real packets.
constexpr std::uint32_t kRoundBytes = 512U << 10;
constexpr std::uint32_t kLeastLoad = 32U << 10;
constexpr Duration kSpan = std::chrono::milliseconds(250);
constexpr Duration kStepTakes = std::chrono::seconds(30);
constexpr Duration kProbeTakes = std::chrono::minutes(2);
constexpr Duration kEndTakes = std::chrono::seconds(5);

/// The hosts of so many of the role's actors, evenly spread over all of them.
std::vector<std::string> sample(const ClusterFile& file, Role role) {
  std::vector<std::string> hosts;
  for (const ActorPlan& actor : file.actors) {
    if (actor.role == role) hosts.push_back(actor.host);
  }
  const std::size_t all = hosts.size();
  for (std::size_t i = 0; i < std::min(all, kMostStandIns); ++i) {
    hosts[i] = hosts[i * all / std::min(all, kMostStandIns)];
  }
  hosts.resize(std::min(all, kMostStandIns));
  return hosts;
}

class StandIns {
 public:
  StandIns(Cluster& cluster, const ClusterFile& file) : cluster_(cluster) {
    for (const auto& [role, names] :
         {std::pair{Role::kWorker, &workers_}, std::pair{Role::kParameterServer, &servers_}}) {
      for (const std::string& host : sample(file, role)) {
        names->push_back(fmt::format("probe-{}-{}", facts_of(role).name, names->size()));
        specs_.push_back(
            {.name = names->back(), .type = kProberType, .args = pack(ProberArgs{}), .host = host});
      }
    }
  }

  Result<void> start() {
    STERNA_ASSIGN(const std::vector<Started> started, cluster_.start_actors(specs_));
    for (const Started& one : started) {
      STERNA_ASSIGN(auto actor, one.actor.as<ProberInterface>());
      actors_.push_back(actor);
    }
    return {};
  }

  Result<LinkCost> link() {
    const auto servers = static_cast<std::uint32_t>(servers_.size());
    const std::uint32_t load = std::max(kLeastLoad, kRoundBytes / servers);
    const double bytes = static_cast<double>(load) * servers;
    LinkCost cost;
    for (const auto& [up, down, figure] :
         {std::tuple{load, 0U, &cost.up}, {0U, load, &cost.down}, {load, load, &cost.both}}) {
      ProbeLink probe{servers_, up, down, kSpan, kStepTakes};
      const std::span workers = std::span(actors_).first(workers_.size());
      STERNA_ASSIGN(const std::vector<LinkProbed> probed, ask(workers, probe));
      for (const LinkProbed& one : probed) {
        if (one.seconds <= 0) return Error{Errc::malformed, "a link that takes no time"};
        *figure = std::max(*figure, one.seconds / bytes);
        cost.round_trip = std::max(cost.round_trip, in_seconds(one.round_trip));
      }
    }
    return cost;
  }

  /// The slowest host's.
  Result<std::vector<CodecCost>> codecs(const actors::JobConfig& job,
                                        const std::vector<std::string>& names) {
    STERNA_ASSIGN(const std::vector<CodecsProbed> probed,
                  ask(std::span(actors_), ProbeCodecs{pack(job), names}));
    std::vector<CodecCost> costs;
    for (const CodecsProbed& one : probed) {
      if (one.costs.size() != names.size()) return Error{Errc::malformed, "costs of other codecs"};
      if (costs.empty()) costs = one.costs;
      for (std::size_t i = 0; i < costs.size(); ++i) {
        CodecCost& worst = costs[i];
        worst.worker_seconds = std::max(worst.worker_seconds, one.costs[i].worker_seconds);
        worst.server_seconds = std::max(worst.server_seconds, one.costs[i].server_seconds);
      }
    }
    return costs;
  }

  /// Their ports and processors are free again when this returns, unless one takes longer to end
  /// than kEndTakes.
  void end(const std::set<std::string>& ended) {
    for (const auto& actor : actors_) cluster_.process().tell(actor, Finish{});
    const auto gone = [&](const ActorSpec& spec) { return ended.contains(spec.name); };
    cluster_.run_until(
        [&] {
          return std::all_of(specs_.begin(), specs_.end(), gone) || cluster_.interrupted() ||
                 cluster_.failure();
        },
        cluster_.loop().now() + kEndTakes);
  }

 private:
  /// Of all at once; the first error is the answer.
  template <class M>
  Result<std::vector<ReplyTo<M>>> ask(std::span<const ActorRef<ProberInterface>> whom,
                                      const M& question) {
    std::vector<Future<ReplyTo<M>>> asked;
    asked.reserve(whom.size());
    for (const auto& actor : whom) {
      asked.push_back(cluster_.process().ask(actor, question, kProbeTakes));
    }
    std::vector<ReplyTo<M>> answers;
    for (Future<ReplyTo<M>>& future : asked) {
      cluster_.run_until([&] { return future.ready() || cluster_.interrupted(); }, kNever);
      if (!future.ready()) return Error{Errc::cancelled, "interrupted"};
      STERNA_ASSIGN(ReplyTo<M> answer, future.take());
      answers.push_back(std::move(answer));
    }
    return answers;
  }

  Cluster& cluster_;
  std::vector<std::string> workers_;
  std::vector<std::string> servers_;
  std::vector<ActorSpec> specs_;                   ///< the workers', then the servers'
  std::vector<ActorRef<ProberInterface>> actors_;  ///< in that order
};

}  // namespace

Result<ExchangeCosts> probe_exchange(Cluster& cluster, const ClusterFile& file,
                                     const actors::JobConfig& job,
                                     const std::set<std::string>& ended) {
  StandIns stand_ins(cluster, file);
  STERNA_TRY(stand_ins.start());
  ExchangeCosts costs;
  costs.servers = file.count(Role::kParameterServer);
  const actors::ScalerRule rule = file.gradient.scaler;
  costs.agrees = rule == actors::ScalerRule::shared || rule == actors::ScalerRule::mean;
  costs.one_host = std::all_of(file.actors.begin(), file.actors.end(), [&](const ActorPlan& actor) {
    return actor.host == file.actors.front().host;
  });
  for (const ActorPlan& actor : file.actors) {
    costs.ranks_per_worker = std::max(costs.ranks_per_worker, actor.ranks / job.averaged_ranks);
  }
  STERNA_ASSIGN(costs.link, stand_ins.link());
  STERNA_ASSIGN(costs.codecs, stand_ins.codecs(job, file.gradient.allow));
  stand_ins.end(ended);
  return costs;
}

}  // namespace sterna::launcher
