// From the rounds of `sterna bench exchange` to its figures and tables: ratios within a round, and
// the median of the rounds.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "launcher/bench/exchange/exchange_job.h"
#include "launcher/bench/exchange/raw_link.h"
#include "launcher/bench/figures.h"

namespace sterna::launcher {

inline constexpr const char* kFp32 = "fp32";  ///< the contender that all are compared with
/// Planes both ways: of the contenders the one whose bytes are known beforehand.
inline constexpr const char* kPlanes = "last_step";
/// Compared with the fastest of all others.
inline constexpr const char* kAuto = "auto";
inline constexpr const char* kWeakScaling = "weak_scaling4";
/// The link between emulated hosts; all others are this machine's own.
inline constexpr const char* kShaped = "link";

struct ExchangeRound {
  struct Entry {
    std::string contender;
    ExchangeStep step;
  };
  RawLink raw;
  double gloo_seconds = 0;                          ///< 0: was not run
  std::map<std::string, std::vector<Entry>> steps;  ///< by link
};

/// `rounds` is not empty, and all have the same contenders; fp32 is the first, or not among them.
Figures figures_of(const std::vector<ExchangeRound>& rounds);

/// A table for each link, and what stands beside it. `figures` hold figures_of(rounds), read_gbps,
/// memcpy_gbps and net_step_seconds.
std::vector<std::string> lines_of(const std::vector<ExchangeRound>& rounds, const Figures& figures);

}  // namespace sterna::launcher
