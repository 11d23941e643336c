// What plain TCP sockets carry over the link that a benchmark uses, in both directions at once.
#pragma once

#include "launcher/bench/exchange/emulated_hosts.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

struct RawLink {
  double goodput = 0;  ///< bytes per second that arrive in each direction, the mean of both
  /// The same, as the cards of the emulated hosts count them; without hosts as goodput.
  double card_rate = 0;
};

/// One connection between the first two hosts, or within this machine for null.
Result<RawLink> measure_raw_link(const EmulatedHosts* hosts);

}  // namespace sterna::launcher
