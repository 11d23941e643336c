// FaultDraw: which fault `sterna chaos` injects next, and when: a function of its seed and of who
// may be struck at that moment.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/random.h"
#include "runtime/cluster/cluster_messages.h"

namespace sterna::launcher {

struct FaultDrawOptions {
  std::uint64_t seed = 0;
  Duration every = std::chrono::seconds(10);  ///< between two, in the mean
  std::vector<FaultKind> kinds;               ///< at least one
  /// Names of actors, or names without their number ("worker"); empty: those that come again.
  std::vector<std::string> actors;
};

struct DrawnFault {
  PeerIdentity actor;
  FaultKind kind = FaultKind::KILL;
  Duration lasts{};  ///< 0 of a stop: for good
};

class FaultDraw {
 public:
  /// What ends does so within this. Half of the stops do not.
  static constexpr Duration kLongest = std::chrono::seconds(4);

  explicit FaultDraw(FaultDrawOptions options)
      : options_(std::move(options)), random_(options_.seed) {}

  /// Until the next one: uniform from 0 to twice `every`.
  Duration pause();
  /// None: nobody may be struck now.
  std::optional<DrawnFault> next(const Overview& overview);
  /// Who may be struck now, by name.
  std::vector<PeerIdentity> candidates(const Overview& overview) const;

 private:
  /// Of two servers that hold the same, one is left alone while the other may not be back: both
  /// together nobody could make good.
  static constexpr std::size_t kRemembered = 3;

  bool may_be_struck(const ProcessStatus& member) const;

  FaultDrawOptions options_;
  SeededRandom random_;
  std::deque<std::string> struck_;  ///< the last ones
};

/// Whether `word` of FaultDrawOptions::actors means who is called `name`.
bool means(std::string_view word, std::string_view name);

/// "kill", "stop for 1.3s", "stop for good", "cut", "drop for 1.3s".
std::string words_of(const DrawnFault& fault);

}  // namespace sterna::launcher
