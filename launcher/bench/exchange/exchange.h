// `sterna bench exchange`: what exchanging gradients costs, by codec and by link, beside what the
// machine's memory and plain sockets give. Every time is a real run's: processes, messages, keys.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/bench/exchange/exchange_job.h"
#include "launcher/bench/figures.h"

namespace sterna::launcher {

struct ExchangeBenchSetup {
  ExchangeShape shape;
  std::uint64_t link = 0;  ///< bits per second between emulated hosts; 0: all on this machine
  std::string security;    ///< "none" or "curve" alone; empty: what is worth comparing
  int rounds = 3;          ///< contenders in turn, ratios within a round, medians over them
  std::string only;        ///< what has a name that begins so; empty: all
  std::string gloo;        ///< the script that runs gloo's all-reduce beside them; empty: none
};

struct ExchangeReport {
  Figures figures;
  std::vector<std::string> lines;  ///< the same for people
};

/// invalid_argument where nothing's name begins with `only`, cancelled where the user
/// interrupted it.
Result<ExchangeReport> bench_exchange(const Registry& registry, const ExchangeBenchSetup& setup,
                                      const BenchProgress& progress);

}  // namespace sterna::launcher
