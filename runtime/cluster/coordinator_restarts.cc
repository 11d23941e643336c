// CoordinatorActor: actors that were lost are started again, each beside the others, on their host
// or, once that is gone or has lost them twice, on another. The next incarnation has a key and a
// process id of its own; Find waits for it.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/actor/wait_for.h"
#include "runtime/base/duration_text.h"
#include "runtime/cluster/coordinator.h"
#include "runtime/cluster/process_control.h"

namespace sterna {

namespace {

constexpr Duration kLongestBackoff = std::chrono::seconds(10);
/// As often on one host; then another is tried, where there is one.
constexpr std::uint32_t kMostOnOneHost = 2;
/// Of the hosts where else an actor may be.
constexpr std::size_t kMostPlaces = 64;

Duration backoff_before(const RestartBudget& budget, std::size_t restart) {
  Duration pause = budget.backoff;
  for (std::size_t i = 1; i < restart && pause < kLongestBackoff; ++i) pause *= 2;
  return std::min(pause, std::max(budget.backoff, kLongestBackoff));
}

/// An actor that fails says why and ends with an exit code; what it could not work with is still
/// there. Who ends because its node does not answer has not failed.
bool was_lost(const ProcessDown& down) {
  return down.signal != 0 || down.exit_code < 0 || down.exit_code == kExitLostLease;
}

}  // namespace

void CoordinatorActor::on(AllowRestarts allow) {
  if (from_launcher()) origins_[allow.name].budget = allow.budget;
}

void CoordinatorActor::on(AllowMove allow) {
  if (!from_launcher()) return;
  std::vector<AllowMove>& places = origins_[allow.name].elsewhere;
  if (places.size() < kMostPlaces) places.push_back(std::move(allow));
}

CoordinatorActor::Member* CoordinatorActor::live_node(const std::string& host) {
  Member* node = named("node-" + host);
  const bool lives = node != nullptr && node->state == State::ready && !drained_.contains(host);
  return lives ? node : nullptr;
}

std::size_t CoordinatorActor::actors_at(const std::string& host) const {
  const auto here = std::ranges::count_if(members_, [&](const auto& one) {
    const Member& member = one.second;
    return member.kind == ProcessKind::ACTOR && member.host == host &&
           member.state != State::dead && !comes_again(member.identity.name);
  });
  const auto to_come = std::ranges::count_if(origins_, [&](const auto& one) {
    return one.second.under_way && one.second.start.host == host;
  });
  return static_cast<std::size_t>(here + to_come);
}

AllowMove* CoordinatorActor::place_elsewhere(Origin& origin) {
  AllowMove* best = nullptr;
  std::size_t fewest = 0;
  for (AllowMove& place : origin.elsewhere) {
    if (live_node(place.host) == nullptr) continue;
    const std::size_t actors = actors_at(place.host);
    if (best != nullptr && actors >= fewest) continue;
    best = &place;
    fewest = actors;
  }
  return best;
}

void CoordinatorActor::choose_place(Origin& origin) {
  const bool gone = live_node(origin.start.host) == nullptr;
  if (!gone && origin.lost_here < kMostOnOneHost) return;
  AllowMove* place = place_elsewhere(origin);
  if (place == nullptr) return;
  // Where it was it may be again.
  std::swap(origin.start.host, place->host);
  std::swap(origin.start.args, place->args);
  std::swap(origin.start.compute_threads, place->compute_threads);
  std::swap(origin.start.environment, place->environment);
  origin.lost_here = 0;
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
  // Whom we end may say before what it lacks for want of the lost link: that is no failure of its
  // own.
  const bool condemned = member.condemned && !member.at_fault && !down.wanted;
  if (condemned && !was_lost(down)) {
    down.cause = member.cause;
    down.consequence = false;
  }
  // What dies with its host is no loss where it may be on another.
  const bool with_host = down.consequence && live_node(member.host) == nullptr;
  const bool in_consequence =
      down.consequence && !(with_host && place_elsewhere(origin) != nullptr);
  const bool for_good = stopping_ || down.wanted || in_consequence || member.at_fault ||
                        !(condemned || was_lost(down));
  const bool drained = down.cause == kHostDrained && drained_.contains(member.host);
  const RestartBudget& budget = origin.budget;
  std::deque<Origin::Restart>& restarts = origin.restarts;
  while (!restarts.empty() && now() - restarts.front().at > budget.within) restarts.pop_front();
  if (for_good || (!drained && restarts.size() >= budget.times)) {
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
  if (!drained) {
    restarts.push_back({now(), down.cause});
    ++origin.lost_here;
  }
  choose_place(origin);
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
    choose_place(origin);
    log(fmt::format("starting {} again on {}, {} of {} times", name, origin.start.host,
                    origin.restarts.size(), origin.budget.times));
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

// ---- a host is given up ----

Task<Result<Drained>> CoordinatorActor::on(Drain drain) {
  STERNA_CO_TRY(from_visitor());
  // Who asks again where it took too long goes on waiting.
  const Member* node = named("node-" + drain.host);
  if (node == nullptr || node->state != State::ready) {
    const char* why = drained_.contains(drain.host) ? "is drained already" : "is none of the run's";
    co_return Error{Errc::not_found, fmt::format("the host \"{}\" {}", drain.host, why)};
  }
  std::vector<const Member*> here;
  for (const auto& [id, member] : members_) {
    const bool actor = member.kind == ProcessKind::ACTOR && member.state != State::dead;
    if (actor && member.host == drain.host) here.push_back(&member);
  }
  for (const Member* member : here) {
    if (member->state == State::ready || comes_again(member->identity.name)) continue;
    co_return Error{Errc::unavailable, member->identity.name + " is being started: ask again"};
  }
  drained_.insert(drain.host);
  for (const Member* member : here) {
    const auto origin = origins_.find(member->identity.name);
    if (origin != origins_.end() && origin->second.budget.times > 0 &&
        place_elsewhere(origin->second) != nullptr) {
      continue;
    }
    drained_.erase(drain.host);
    co_return Error{Errc::unavailable,
                    fmt::format("{} may be on no other host that lives, so \"{}\" stays as it is",
                                member->identity.name, drain.host)};
  }
  log("draining " + drain.host);
  std::vector<std::string> names;
  for (const Member* member : here) {
    names.push_back(member->identity.name);
    tell(agent_of<Node>(member->node),
         EndProcess{member->process, std::string(kHostDrained), true});
  }
  const Time deadline = now() + drain.within;
  Drained drained;
  for (const std::string& name : names) {
    const Member* moved = nullptr;
    while (true) {
      moved = co_await ready_member(name, deadline);
      const bool still_there = moved != nullptr && moved->host == drain.host &&
                               moved->state != State::dead && now() < deadline && !stopping_;
      if (!still_there) break;
      co_await wait_for(changed_, process().timers(), deadline);
    }
    if (moved == nullptr || moved->state != State::ready || moved->host == drain.host) {
      co_return Error{Errc::deadline, why_not(name)};
    }
    drained.moved.push_back(name + " to " + moved->host);
  }
  Member* left = named("node-" + drain.host);
  if (left != nullptr && left->state == State::ready) {
    ProcessDown down;
    down.cause = kHostDrained;
    down.wanted = true;
    mark_dead(*left, std::move(down));
  }
  co_return drained;
}

}  // namespace sterna
