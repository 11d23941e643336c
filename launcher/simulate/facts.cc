#include "launcher/simulate/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "runtime/link/link.h"

namespace sterna::launcher {

namespace {

/// An actor talks with no more others at a time than a scene has.
constexpr std::uint64_t kMostPeers = 16;

/// The same result of the same version.
bool same_place(const actors::Evaluated& a, const actors::Evaluated& b) {
  return a.step == b.step && a.subset == b.subset && a.of == b.of;
}

bool same_numbers(const actors::Evaluated& a, actors::Evaluated b) {
  b.skipped = a.skipped;
  return a == b;
}

class Judge {
 public:
  Judge(const Scene& scene, const RunFacts& facts, const CalmRun& calm)
      : scene_(scene), facts_(facts), calm_(calm) {}

  std::vector<Violation> judge() && {
    if (facts_.not_started) {
      add("it starts", *facts_.not_started);
      return std::move(violations_);
    }
    check_end();
    if (facts_.finished) check_bits();
    check_versions();
    for (const std::string& twin : facts_.twins) add("one live incarnation a name", twin);
    check_causes();
    if (facts_.survivors > 0) {
      add("nobody is left", fmt::format("{} processes after the stop", facts_.survivors));
    }
    if (const std::uint64_t most = kMostPeers * kLanes * LinkOptions{}.most_under_way();
        facts_.queued_bytes > most) {
      add("bounds hold",
          fmt::format("{} bytes wait in a process, of at most {}", facts_.queued_bytes, most));
    }
    return std::move(violations_);
  }

 private:
  void add(std::string invariant, std::string seen) {
    violations_.push_back({std::move(invariant), std::move(seen)});
  }

  bool was_ended() const {
    return std::ranges::any_of(facts_.injected, [&](const RunFacts::Injected& one) {
      return !scene_.ends_with.empty() && one.who.name == scene_.ends_with &&
             one.fault.kind == FaultKind::kill;
    });
  }

  void check_end() {
    if (facts_.failure) {
      const std::string seen = facts_.failure->identity.text() + ": " + facts_.failure->cause;
      if (!was_ended()) {
        add("it ends well", seen);
      } else if (facts_.failure->identity.name != scene_.ends_with ||
                 !facts_.failure->cause.starts_with("killed by SIGKILL")) {
        add("causes are as injected",
            fmt::format("{} was killed, and the run failed by {}", scene_.ends_with, seen));
      }
    } else if (!facts_.finished) {
      add("it ends in time", "nothing after the virtual deadline");
    }
  }

  void check_bits() {
    if (facts_.hash != calm_.hash) {
      add("the same bits", fmt::format("{}, and undisturbed {}", facts_.hash, calm_.hash));
    }
    for (const actors::Evaluated& one : calm_.evaluated) {
      if (!std::ranges::any_of(facts_.evaluated,
                               [&](const auto& other) { return same_place(one, other); })) {
        add("each version that is due is evaluated", fmt::format("step {} was not", one.step));
      }
    }
  }

  /// Also of a run that failed: what it published until then.
  void check_versions() {
    for (const actors::Evaluated& one : facts_.evaluated) {
      const auto known = std::ranges::find_if(
          calm_.evaluated, [&](const auto& other) { return same_place(one, other); });
      if (known == calm_.evaluated.end()) {
        add("each version is the undisturbed run's",
            fmt::format("step {} was evaluated, and undisturbed is not", one.step));
      } else if (!same_numbers(one, *known)) {
        add("each version is the undisturbed run's",
            fmt::format("at step {} the loss is {}, and undisturbed {}", one.step, one.loss,
                        known->loss));
      }
    }
  }

  /// Whether a fault explains that this incarnation was lost for this cause.
  static bool explains(const RunFacts::Injected& one, const PeerIdentity& who,
                       const std::string& cause) {
    if (one.fault.kind == FaultKind::kill && one.who.name.starts_with("node-")) {
      // Others see of its end that its links are gone.
      return cause.starts_with(one.who.name + " is gone: ") ||
             cause.starts_with(who.name + " cannot start: ");
    }
    if (one.who != who && one.other != who) return false;
    if (one.fault.kind == FaultKind::kill) return cause.find("SIGKILL") != std::string::npos;
    return std::ranges::any_of(
        std::array{"silence", "its link with ", "link lost: ", "it lost the link to its node"},
        [&](const char* words) { return cause.starts_with(words); });
  }

  void check_causes() {
    for (const RunFacts::Restart& restart : facts_.restarts) {
      if (std::ranges::any_of(facts_.injected, [&](const RunFacts::Injected& one) {
            return explains(one, restart.who, restart.cause);
          })) {
        continue;
      }
      add("causes are as injected", fmt::format("{} was started again without a fault of it: {}",
                                                restart.who.text(), restart.cause));
    }
  }

  const Scene& scene_;
  const RunFacts& facts_;
  const CalmRun& calm_;
  std::vector<Violation> violations_;
};

}  // namespace

std::vector<Violation> violations(const Scene& scene, const RunFacts& facts, const CalmRun& calm) {
  return Judge(scene, facts, calm).judge();
}

}  // namespace sterna::launcher
