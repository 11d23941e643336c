#include "launcher/simulate/facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "launcher/run/restarts.h"
#include "runtime/cluster/process_control.h"
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
    if (scene_.apart) {
      check_versions_apart();
      for (const std::string& fault : facts_.packet_faults) add("each packet counts once", fault);
    } else {
      if (facts_.finished) check_bits();
      check_versions();
    }
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

  /// Of those with whom a run ends, who were killed in that life of it.
  std::vector<std::string> ended_in(std::size_t life) const {
    std::vector<std::string> names;
    for (const RunFacts::Injected& one : facts_.injected) {
      const bool ends = std::ranges::count(scene_.ends_with, one.who.name) > 0;
      if (ends && one.life == life && one.fault.kind == FaultKind::kill) {
        names.push_back(one.who.name);
      }
    }
    return names;
  }

  void check_end() {
    for (std::size_t life = 0; life < facts_.losses.size(); ++life) {
      check_failure(facts_.losses[life], life);
    }
    if (facts_.failure) {
      check_failure(*facts_.failure, facts_.losses.size());
      check_it_went_on();
    } else if (!facts_.finished) {
      add("it ends in time", "nothing after the virtual deadline");
    }
  }

  void check_failure(const RunFacts::Failure& failure, std::size_t life) {
    const std::string seen = failure.down.identity.text() + ": " + failure.down.cause;
    const bool known = !failure.state_lost.empty();
    if (known ? failure.down.identity.name == failure.state_lost : failure.state_gone) return;
    if (!facts_.below_quorum.empty() && seen.ends_with(facts_.below_quorum)) return;
    const std::vector<std::string> ended = ended_in(life);
    const std::string& name = failure.down.identity.name;
    const bool by_itself =
        std::ranges::count(ended, name) > 0 && failure.down.cause.starts_with("killed by SIGKILL");
    // Whose place was on one host, and then on another, and both are gone.
    const bool nowhere = std::ranges::any_of(ended, [&](const std::string& node) {
      return failure.down.cause.starts_with(name + " cannot start: " + node + " is dead");
    });
    if (ended.empty()) {
      add("it ends well", seen);
    } else if (!by_itself && !nowhere) {
      add("causes are as injected", fmt::format("{} was killed, and the run failed by {}",
                                                fmt::join(ended, ", then "), seen));
    }
  }

  /// Only from the same step it does not, after some times.
  void check_it_went_on() {
    if (!scene_.file.checkpoint.on() || facts_.losses.size() >= kMostFromOneStep) return;
    add("it goes on from a checkpoint",
        fmt::format("it ended after {} losses", facts_.losses.size() + 1));
  }

  void check_bits() {
    if (facts_.hash != calm_.hash) {
      add("the same bits", fmt::format("{}, and undisturbed {}", facts_.hash, calm_.hash));
    }
    if (lost_snapshots()) return;
    for (const actors::Evaluated& one : calm_.evaluated) {
      // What was due before the version that all went on from may have been lost with it.
      if (std::ranges::any_of(facts_.losses, [&](const RunFacts::Failure& loss) {
            return one.step <= loss.goes_on_from;
          })) {
        continue;
      }
      if (!std::ranges::any_of(facts_.evaluated,
                               [&](const auto& other) { return same_place(one, other); })) {
        add("each version that is due is evaluated", fmt::format("step {} was not", one.step));
      }
    }
  }

  /// Whether a server without a partner came again: what it had kept for the evaluator is gone.
  bool lost_snapshots() const {
    return std::ranges::any_of(facts_.restarts, [&](const RunFacts::Restart& one) {
      return std::ranges::any_of(scene_.file.actors, [&](const ActorPlan& actor) {
        return actor.name == one.who.name && actor.role == Role::kParameterServer &&
               actor.partner.empty();
      });
    });
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

  /// Nobody knows their numbers, but they are the same whoever evaluates them.
  void check_versions_apart() {
    for (const actors::Evaluated& one : facts_.evaluated) {
      const auto first = std::ranges::find_if(
          facts_.evaluated, [&](const auto& other) { return same_place(one, other); });
      if (!same_numbers(one, *first)) {
        add("each version is evaluated to the same",
            fmt::format("at step {} the loss is {}, and {}", one.step, first->loss, one.loss));
      }
    }
    const auto steps = static_cast<std::uint64_t>(scene_.file.job.steps);
    const std::uint64_t every = scene_.file.evaluation.every;
    for (std::uint64_t due = every; facts_.finished && due <= steps; due += every) {
      if (!std::ranges::any_of(facts_.evaluated,
                               [&](const auto& one) { return one.step == due; })) {
        add("each version that is due is evaluated", fmt::format("step {} was not", due));
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
    if (cause == kHostDrained) return one.fault.kind == FaultKind::recall;
    if (loses_nobody(one.fault.kind)) return false;
    if (is_of_host(one.fault.kind)) {
      // It ends whatever goes there or comes from there, and all that is there.
      const std::string node = "node-" + one.who.name;
      return cause.starts_with(node + " is gone: ") ||
             cause.starts_with(who.name + " cannot start: ") || lost_a_link(cause);
    }
    if (cause.starts_with(kStartUnknown)) {
      return one.who.name == "coordinator" || one.other.name == "coordinator";
    }
    // Who is kept apart stays so under its next incarnation, too.
    const bool by_name = one.fault.kind == FaultKind::part || one.fault.kind == FaultKind::stall;
    if (by_name ? one.who.name != who.name && one.other.name != who.name
                : one.who != who && one.other != who) {
      return false;
    }
    if (one.fault.kind == FaultKind::kill) return cause.find("SIGKILL") != std::string::npos;
    return lost_a_link(cause);
  }
  static bool lost_a_link(const std::string& cause) {
    return std::ranges::any_of(
        std::array{"silence", "no answer to our connection", "its link with ",
                   "link lost: ", "it lost the link to its node"},
        [&](const char* words) { return cause.starts_with(words); });
  }

  void check_causes() {
    for (const RunFacts::Restart& restart : facts_.restarts) {
      // Where both of a pair are lost all others go in vain to either of them, until that is known.
      const bool gone = std::ranges::any_of(facts_.losses, &RunFacts::Failure::state_gone) ||
                        (facts_.failure && facts_.failure->state_gone);
      if (gone && lost_a_link(restart.cause)) continue;
      if (std::ranges::any_of(facts_.injected, [&](const RunFacts::Injected& one) {
            const bool then = one.life == restart.life || one.fault.lasts > Duration::zero();
            return then && explains(one, restart.who, restart.cause);
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
