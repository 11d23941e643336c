// CoordinatorActor: actors that were lost are started again, each beside the others. The next
// incarnation has a key and a process id of its own; Find waits for it.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/base/duration_text.h"
#include "runtime/cluster/coordinator.h"

namespace sterna {

namespace {

constexpr Duration kLongestBackoff = std::chrono::seconds(10);

Duration backoff_before(const RestartBudget& budget, std::size_t restart) {
  Duration pause = budget.backoff;
  for (std::size_t i = 1; i < restart && pause < kLongestBackoff; ++i) pause *= 2;
  return std::min(pause, std::max(budget.backoff, kLongestBackoff));
}

/// An actor that fails says why and ends with an exit code; what it could not work with is still
/// there.
bool was_lost(const ProcessDown& down) { return down.signal != 0 || down.exit_code < 0; }

}  // namespace

void CoordinatorActor::on(AllowRestarts allow) {
  if (from_launcher()) origins_[allow.name].budget = allow.budget;
}

bool CoordinatorActor::comes_again(const std::string& name) const {
  const auto found = origins_.find(name);
  return found != origins_.end() && found->second.under_way;
}

bool CoordinatorActor::may_come_again(const Member& member) const {
  const auto found = origins_.find(member.identity.name);
  if (found == origins_.end() || member.state != State::ready) return false;
  const Origin& origin = found->second;
  const auto counts = std::ranges::count_if(origin.restarts, [&](const Origin::Restart& one) {
    return now() - one.at <= origin.budget.within;
  });
  return counts < origin.budget.times;
}

bool CoordinatorActor::starts_again(const Member& member, bool was_ready, ProcessDown& down) {
  const auto found = origins_.find(member.identity.name);
  if (found == origins_.end()) return false;
  Origin& origin = found->second;
  // Of its first start the launcher has the answer.
  if (!was_ready && !origin.under_way) return false;
  const bool for_good =
      stopping_ || down.wanted || down.consequence || member.at_fault || !was_lost(down);
  const RestartBudget& budget = origin.budget;
  std::deque<Origin::Restart>& restarts = origin.restarts;
  while (!restarts.empty() && now() - restarts.front().at > budget.within) restarts.pop_front();
  if (for_good || restarts.size() >= budget.times) {
    origin.under_way = false;
    if (!down.wanted && !down.consequence && !restarts.empty()) {
      down.cause +=
          fmt::format(" (after {} within {}; first lost: {})",
                      restarts.size() == 1 ? "1 restart of it"
                                           : fmt::format("{} restarts of it", restarts.size()),
                      duration_text(budget.within), restarts.front().cause);
    }
    return false;
  }
  restarts.push_back({now(), down.cause});
  if (origin.under_way) {
    origin.again = true;
  } else {
    origin.under_way = true;
    run(restarting(member.identity.name));
  }
  return true;
}

Task<void> CoordinatorActor::restarting(std::string name) {
  // It stays in the map: nobody starts an actor of this name meanwhile.
  Origin& origin = origins_.at(name);
  do {
    origin.again = false;
    co_await sleep(backoff_before(origin.budget, origin.restarts.size()));
    if (stopping_) break;
    log(fmt::format("starting {} again, {} of {} times", name, origin.restarts.size(),
                    origin.budget.times));
    Task<Result<Started>> starting = begin(origin.start);
    const Result<Started> started = co_await std::move(starting);
    // Of a process that came to nothing mark_dead() has told; here there was none.
    const Member* last = named(name);
    if (!started && origin.under_way && !origin.again && last != nullptr && !stopping_) {
      ProcessDown down;
      down.process = last->process;
      down.identity = last->identity;
      down.cause = "it could not be started again: " + started.error().message;
      log(down.identity.text() + " is dead: " + down.cause);
      tell(agent_of<LauncherControl>(kLauncherProcess), std::move(down));
    }
  } while (origin.again);
  origin.under_way = false;
  changed_.notify_all();
}

}  // namespace sterna
