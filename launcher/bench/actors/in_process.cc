#include <unistd.h>

#include <cstdio>
#include <memory>
#include <vector>

#include "launcher/bench/actors/actors.h"
#include "launcher/bench/actors/asks.h"
#include "runtime/base/median.h"
#include "runtime/loop/thread_executor.h"
#include "runtime/loop/uv_loop.h"

namespace sterna::launcher {

namespace {

constexpr int kRounds = 5;
constexpr Duration kRound = std::chrono::milliseconds(400);
constexpr std::size_t kLightActors = 100000;
constexpr Duration kDeadline = std::chrono::seconds(10);

/// Bytes of this process that are in memory.
std::size_t resident_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  unsigned long total = 0;
  unsigned long resident = 0;
  const int read = std::fscanf(file, "%lu %lu", &total, &resident);
  std::fclose(file);
  return read == 2 ? resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) : 0;
}

/// One process of its own on a real loop.
struct Bench {
  UvLoop loop;
  SystemRandom random;
  ThreadExecutor executor{loop, 1, "compute"};
  Process process{ProcessEnvironment{loop, random, executor, nullptr, [](std::string_view) {}}, {}};
};

Result<double> asks_per_second(Bench& bench, std::uint32_t window) {
  const auto echo = bench.process.spawn<EchoActor>();
  const auto peer = bench.process.spawn<BenchPeerActor>();
  std::vector<double> rates;
  for (int round = 0; round < kRounds; ++round) {
    Drive drive{{echo}, window, kRound};
    STERNA_ASSIGN(const Rate rate,
                  bench.process.wait(bench.process.ask(peer, std::move(drive), kDeadline)));
    rates.push_back(rate.per_second());
  }
  return median(rates);
}

Result<void> light_actors(Bench& bench, Figures& figures) {
  std::vector<ActorRef<EchoInterface>> actors;
  actors.reserve(kLightActors);
  const std::size_t before = resident_bytes();
  const Time begin = bench.loop.now();
  for (std::size_t i = 0; i < kLightActors; ++i) actors.push_back(bench.process.spawn<EchoActor>());
  figures["light_actors.spawn_seconds"] =
      std::chrono::duration<double>(SteadyClock().now() - begin).count();
  const Bytes body = share(make_buffer(kEchoBytes));
  for (const auto actor : actors) {
    STERNA_ASSIGN(const Echo echo,
                  bench.process.wait(bench.process.ask(actor, Echo{body}, kDeadline)));
    if (echo.body.size() != kEchoBytes) return Error{Errc::internal, "an echo of another size"};
  }
  figures["light_actors.resident_bytes_each"] =
      static_cast<double>(resident_bytes() - before) / static_cast<double>(kLightActors);
  figures["light_actors.count"] = static_cast<double>(kLightActors);
  return {};
}

}  // namespace

Result<Figures> bench_in_process(const BenchParts& wanted) {
  Figures figures;
  Bench bench;
  if (wanted("in_process")) {
    STERNA_ASSIGN(figures["in_process.sync_asks_per_second"], asks_per_second(bench, 1));
    STERNA_ASSIGN(figures["in_process.async_asks_per_second"], asks_per_second(bench, 1000));
  }
  if (wanted("light_actors")) STERNA_TRY(light_actors(bench, figures));
  return figures;
}

}  // namespace sterna::launcher
