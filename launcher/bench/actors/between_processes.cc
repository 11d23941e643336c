#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "launcher/bench/actors/actors.h"
#include "launcher/bench/actors/asks.h"
#include "launcher/bench/logs.h"
#include "runtime/base/median.h"
#include "runtime/cluster/cluster.h"
#include "runtime/host/real_machine.h"

namespace sterna::launcher {

namespace {

constexpr int kRounds = 5;
constexpr Duration kRound = std::chrono::milliseconds(500);
constexpr Duration kDeadline = std::chrono::seconds(30);
constexpr std::uint32_t kAsync = 1000;  // asks in flight

/// What is measured once per round: a name, and a drive by one or two peers.
struct Arrangement {
  std::string name;
  std::size_t peers;  ///< one to one, or two to two
  std::uint32_t window;
};

/// Two peers that ask and two echoes, each in a process of its own.
class Bench {
 public:
  Bench(Machine& machine, const Registry& registry, bool curve, const std::string& logs)
      : curve_(curve), cluster_(machine, registry, options(curve, logs)) {}

  Result<void> start() {
    STERNA_TRY(cluster_.start());
    for (std::size_t i = 0; i < 2; ++i) {
      const std::string number = std::to_string(i);
      STERNA_ASSIGN(auto echo,
                    cluster_.spawn<EchoInterface>("echo" + number, "bench_echo", NoArgs{}));
      STERNA_ASSIGN(auto server, cluster_.spawn<BenchPeer>("raw" + number, "bench_peer", NoArgs{}));
      STERNA_ASSIGN(auto peer, cluster_.spawn<BenchPeer>("peer" + number, "bench_peer", NoArgs{}));
      echoes_.push_back(echo);
      servers_.push_back(server);
      peers_.push_back(peer);
    }
    return {};
  }

  /// Exchanges per second of our asks.
  Result<double> asks(const Arrangement& arrangement) {
    std::vector<Future<Rate>> answers;
    const auto count = static_cast<std::ptrdiff_t>(arrangement.peers);
    std::vector<ActorRef<EchoInterface>> targets(echoes_.begin(), echoes_.begin() + count);
    for (std::size_t i = 0; i < arrangement.peers; ++i) {
      // Each peer begins with another target: with a window of one it keeps to it.
      if (i > 0) std::rotate(targets.begin(), targets.begin() + 1, targets.end());
      answers.push_back(
          cluster_.process().ask(peers_[i], Drive{targets, arrangement.window, kRound}, kDeadline));
    }
    return sum(std::move(answers));
  }

  /// The same over raw ZeroMQ; its servers live for this measurement only, so that nothing else
  /// runs beside either.
  Result<double> raw(const Arrangement& arrangement) {
    DriveRaw drive;
    drive.window = arrangement.window;
    drive.duration = kRound;
    for (std::size_t i = 0; i < arrangement.peers; ++i) {
      STERNA_ASSIGN(const Serving serving,
                    cluster_.ask(servers_[i], ServeRaw{raw_endpoint(i), curve_}, kDeadline));
      drive.endpoints.push_back(serving.endpoint);
      if (curve_) drive.server_keys.push_back(serving.server_key);
    }
    std::vector<Future<Rate>> answers;
    for (std::size_t i = 0; i < arrangement.peers; ++i) {
      if (i > 0) {
        std::rotate(drive.endpoints.begin(), drive.endpoints.begin() + 1, drive.endpoints.end());
        if (curve_) {
          std::rotate(drive.server_keys.begin(), drive.server_keys.begin() + 1,
                      drive.server_keys.end());
        }
      }
      answers.push_back(cluster_.process().ask(peers_[i], drive, kDeadline));
    }
    Result<double> rate = sum(std::move(answers));
    for (std::size_t i = 0; i < arrangement.peers; ++i) {
      STERNA_TRY(cluster_.ask(servers_[i], StopRaw{}, kDeadline));
    }
    return rate;
  }

  void stop() { cluster_.stop(std::chrono::seconds(1)); }

 private:
  static ClusterOptions options(bool curve, const std::string& logs) {
    ClusterOptions all;
    all.run_name = "bench";
    all.network.tcp = curve;
    all.network.curve = curve;
    all.log_directory = logs;
    return all;
  }
  std::string raw_endpoint(std::size_t index) const {
    if (curve_) return "tcp://127.0.0.1:*";
    return "ipc://" + cluster_.options().network.directory + "/raw" + std::to_string(index);
  }
  Result<double> sum(std::vector<Future<Rate>> answers) {
    double total = 0;
    for (Future<Rate>& answer : answers) {
      STERNA_ASSIGN(const Rate rate, cluster_.process().wait(std::move(answer)));
      total += rate.per_second();
    }
    return total;
  }

  bool curve_;
  Cluster cluster_;
  std::vector<ActorRef<EchoInterface>> echoes_;
  std::vector<ActorRef<BenchPeer>> servers_;
  std::vector<ActorRef<BenchPeer>> peers_;
};

Result<void> measure(Bench& bench, const std::string& name, const Arrangement& arrangement,
                     Figures& figures) {
  std::vector<double> ours;
  std::vector<double> theirs;
  std::vector<double> ratios;
  for (int round = 0; round < kRounds; ++round) {
    STERNA_ASSIGN(const double raw, bench.raw(arrangement));
    STERNA_ASSIGN(const double asks, bench.asks(arrangement));
    ours.push_back(asks);
    theirs.push_back(raw);
    ratios.push_back(asks / raw);
  }
  figures[name + "_asks_per_second"] = median(ours);
  figures[name + "_zeromq_per_second"] = median(theirs);
  figures[name + "_over_zeromq"] = median(ratios);
  return {};
}

Result<void> bench_transport(const std::string& transport, bool curve, const Registry& registry,
                             const BenchParts& wanted, Figures& figures) {
  STERNA_ASSIGN(const BenchLogs logs, BenchLogs::create());
  RealMachine machine([](std::string_view) {});
  std::optional<Bench> bench;  // once something of it is wanted
  for (const Arrangement& arrangement :
       {Arrangement{"sync", 1, 1}, Arrangement{"async", 1, kAsync}, Arrangement{"n_n_sync", 2, 1},
        Arrangement{"n_n_async", 2, kAsync}}) {
    const std::string name = transport + "." + arrangement.name;
    if (!wanted(name)) continue;
    Result<void> measured;
    if (!bench) {
      bench.emplace(machine, registry, curve, logs.path());
      measured = bench->start();
    }
    if (measured) measured = measure(*bench, name, arrangement, figures);
    if (!measured) return logs.explain(measured.error());
  }
  if (bench) bench->stop();
  logs.discard();
  return {};
}

}  // namespace

Result<Figures> bench_between_processes(const Registry& registry, const BenchParts& wanted) {
  Figures figures;
  STERNA_TRY(bench_transport("ipc", false, registry, wanted, figures));
  STERNA_TRY(bench_transport("curve", true, registry, wanted, figures));
  // Under the names that Ray publishes (release/perf_metrics), over ipc as Ray on one host.
  for (const auto& [name, part] : {std::pair{"1_1_actor_calls_sync", "ipc.sync"},
                                   std::pair{"1_1_actor_calls_async", "ipc.async"},
                                   std::pair{"n_n_actor_calls_async", "ipc.n_n_async"}}) {
    const auto measured = figures.find(std::string(part) + "_asks_per_second");
    if (measured != figures.end()) figures[name] = measured->second;
  }
  return figures;
}

}  // namespace sterna::launcher
