// CoordinatorActor: hosts come and go at an operator's word, and actors move between them.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "runtime/actor/wait_for.h"
#include "runtime/cluster/coordinator.h"
#include "runtime/cluster/process_control.h"
#include "runtime/message/packed_message.h"

namespace sterna {

namespace {
/// However long somebody says that he waits.
constexpr Duration kLongestWait = std::chrono::hours(24);
}  // namespace

Task<Result<std::string>> CoordinatorActor::moved_from(std::string host, std::string name,
                                                       Time deadline) {
  while (true) {
    const Member* moved = co_await ready_member(name, deadline);
    const bool ready = moved != nullptr && moved->state == State::READY;
    if (ready && moved->host != host) co_return fmt::format("{} to {}", name, moved->host);
    const bool over = moved == nullptr || (moved->state == State::DEAD && !comes_again(name));
    if (over || stopping_) co_return Error{Errc::unavailable, why_not(name)};
    if (now() >= deadline) {
      co_return Error{Errc::deadline,
                      fmt::format("{} is not on another host than \"{}\" yet; it goes on moving: "
                                  "who asks again waits for it again",
                                  name, host)};
    }
    co_await wait_for(changed_, process().timers(), deadline);
  }
}

Task<Result<std::string>> CoordinatorActor::moved_to(std::string host, std::string name,
                                                     Time deadline) {
  while (true) {
    const Member* moved = co_await ready_member(name, deadline);
    const bool ready = moved != nullptr && moved->state == State::READY;
    if (ready && moved->host == host) co_return fmt::format("{} to {}", name, host);
    const bool over = moved == nullptr || (moved->state == State::DEAD && !comes_again(name));
    if (over || stopping_) co_return Error{Errc::unavailable, why_not(name)};
    const std::string& meant = origins_.at(name).start.host;
    if (meant != host) {
      co_return Error{Errc::unavailable,
                      fmt::format("{} goes to \"{}\" instead: another order, or a loss, came "
                                  "between",
                                  name, meant)};
    }
    if (now() >= deadline) {
      co_return Error{Errc::deadline,
                      fmt::format("{} is not ready on \"{}\" yet; it goes on moving: who asks "
                                  "again waits for it again",
                                  name, host)};
    }
    co_await wait_for(changed_, process().timers(), deadline);
  }
}

// ---- a host is given back ----

/// Who is ready on a host that is to have nobody any more.
void CoordinatorActor::empty_drained() {
  for (const auto& [id, member] : members_) {
    if (member.kind != ProcessKind::ACTOR || !drained_.contains(member.host)) continue;
    if (member.state != State::READY) continue;
    tell(agent_of<Node>(member.node), EndProcess{id, std::string(kHostDrained), true});
  }
}

bool CoordinatorActor::has_a_place(Origin& origin) {
  return live_node(origin.start.host) != nullptr || place_elsewhere(origin) != nullptr;
}

std::size_t CoordinatorActor::living_actors_at(const std::string& host) const {
  return static_cast<std::size_t>(std::ranges::count_if(members_, [&](const auto& one) {
    const Member& member = one.second;
    return member.kind == ProcessKind::ACTOR && member.host == host && member.state != State::DEAD;
  }));
}

bool CoordinatorActor::keeps_for_others(const std::string& host) const {
  return std::ranges::any_of(origins_, [&](const auto& one) {
    const Member* node = keeper_of(one.second);
    return one.second.under_way && node != nullptr && node->host == host;
  });
}

Task<void> CoordinatorActor::end_drained(ProcessId id) {
  Member* node = find_live(id);
  if (node == nullptr) co_return;
  ProcessDown down;
  down.process = id;
  down.identity = node->identity;
  down.host = node->host;
  down.cause = kHostDrained;
  down.wanted = true;
  node->condemned = true;
  // The launcher knows before it may see the end; and ends the node, if it still has it.
  tell(agent_of<LauncherControl>(kLauncherProcess), down);
  co_await sleep(self_.heartbeat / 2);
  if (find_live(id) != nullptr) tell(agent_of<Node>(id), Stop{});
  const Time deadline = now() + kNodeEnds;
  while (find_live(id) != nullptr && now() < deadline && !stopping_) {
    co_await wait_for(changed_, process().timers(), deadline);
  }
  if (Member* left = find_live(id)) mark_dead(*left, std::move(down));
}

Task<Result<Moved>> CoordinatorActor::on(Drain drain) {
  const Member* asker = find(sender().process);
  const bool its_own =
      asker != nullptr && asker->kind == ProcessKind::NODE && asker->host == drain.host;
  if (!its_own) {
    STERNA_CO_TRY(from_visitor());
  }
  if (stopping_ || (its_own && ends_soon_)) {
    co_return Error{Errc::unavailable, "the run is ending"};
  }
  // Who asks again where it took too long goes on waiting.
  const Member* node = named(node_name(drain.host));
  if (node == nullptr || node->state != State::READY) {
    const char* why =
        drained_.contains(drain.host) ? "is drained already" : "is none of the run's now";
    co_return Error{Errc::not_found, fmt::format("the host \"{}\" {}", drain.host, why)};
  }
  std::vector<const Member*> here;
  for (const auto& [id, member] : members_) {
    const bool actor = member.kind == ProcessKind::ACTOR && member.state != State::DEAD;
    if (actor && member.host == drain.host) here.push_back(&member);
  }
  for (const Member* member : here) {
    if (member->state == State::READY || comes_again(member->identity.name)) continue;
    co_return Error{Errc::unavailable, member->identity.name + " is being started: ask again"};
  }
  const bool begins = drained_.insert(drain.host).second;
  std::set<std::string> names;
  for (const Member* member : here) names.insert(member->identity.name);
  // Also of those who are to come, and may have been meant to be here.
  std::set<std::string> moving = names;
  for (const auto& [name, origin] : origins_) {
    if (origin.under_way) moving.insert(name);
  }
  for (const std::string& name : moving) {
    const auto origin = origins_.find(name);
    if (origin != origins_.end() && origin->second.start.restart.times > 0 &&
        has_a_place(origin->second)) {
      continue;
    }
    if (begins) drained_.erase(drain.host);
    co_return Error{Errc::permission,
                    fmt::format("{} may be on no other host that lives, so \"{}\" stays as it is",
                                name, drain.host)};
  }
  log("draining " + drain.host);
  note("drained " + drain.host, pack(drain));
  Task<void> kept = journaled();
  co_await kept;
  empty_drained();
  const Time deadline = now() + std::min(drain.within, kLongestWait);
  Moved moved;
  for (const std::string& name : names) {
    Task<Result<std::string>> leaving = moved_from(drain.host, name, deadline);
    STERNA_CO_ASSIGN(std::string one, co_await leaving);
    moved.moved.push_back(std::move(one));
  }
  // Whoever was only being started there follows when he is ready, and what is kept there for who
  // was lost before.
  const auto is_empty = [&] {
    return living_actors_at(drain.host) == 0 && !keeps_for_others(drain.host);
  };
  while (!is_empty() && now() < deadline && !stopping_) {
    co_await wait_for(changed_, process().timers(), deadline);
  }
  if (!is_empty()) {
    co_return Error{Errc::deadline,
                    fmt::format("somebody, or what is kept for somebody, is still on \"{}\": ask "
                                "again",
                                drain.host)};
  }
  const Member* left = named(node_name(drain.host));
  if (left != nullptr && drained_.contains(drain.host)) {
    Task<void> ending = end_drained(left->process);
    co_await ending;
  }
  co_return moved;
}

// ---- an actor moves ----

Task<Result<Moved>> CoordinatorActor::on(Move move) {
  STERNA_CO_TRY(from_visitor());
  const Member* member = named(move.actor);
  if (member == nullptr || member->kind != ProcessKind::ACTOR) {
    co_return Error{Errc::not_found, fmt::format("the run has no actor \"{}\"", move.actor)};
  }
  if (member->state != State::READY) co_return Error{Errc::unavailable, why_not(move.actor)};
  const std::string from = member->host;
  // Who asks again where the one before was lost has moved it already.
  const auto found = origins_.find(move.actor);
  const bool stays = found == origins_.end() || found->second.start.host == from;
  if (from == move.host && stays) co_return Moved{{move.actor + " to " + from}};
  if (live_node(move.host) == nullptr) {
    co_return Error{Errc::not_found,
                    fmt::format("the host \"{}\" is none of the run's now", move.host)};
  }
  const bool may_move = found != origins_.end() && found->second.start.restart.times > 0;
  // Asked again, it is to be there already.
  if (!may_move || found->second.start.host != move.host) {
    ActorPlace* place = nullptr;
    if (may_move) {
      std::vector<ActorPlace>& elsewhere = found->second.start.elsewhere;
      const auto there = std::ranges::find(elsewhere, move.host, &ActorPlace::host);
      if (there != elsewhere.end()) place = &*there;
    }
    if (place == nullptr) {
      const char* why = may_move ? "its [[actor]] does not allow it, or nearer hosts are enough"
                                 : "it is never started again by itself; servers are where their "
                                   "[[actor]] has replicas = 1, others where its restart is not 0";
      co_return Error{Errc::permission,
                      fmt::format("{} may not be on \"{}\": {}", move.actor, move.host, why)};
    }
    take_place(found->second.start, *place);
    found->second.lost_here = 0;
  }
  found->second.ordered_away = member->process;
  log(fmt::format("moving {} from {} to {}", member->identity.text(), from, move.host));
  note_origin(move.actor);
  const ProcessId process = member->process;
  const Time deadline = now() + std::min(move.within, kLongestWait);
  Task<void> kept = journaled();
  co_await kept;
  Task<bool> ended = order_end(process, std::string(kOrderedAway), true);
  (void)co_await ended;
  Task<Result<std::string>> moving = moved_to(move.host, move.actor, deadline);
  STERNA_CO_ASSIGN(std::string moved, co_await moving);
  co_return Moved{{std::move(moved)}};
}

// ---- a host comes ----

Task<Result<void>> CoordinatorActor::on(AddHost add) {
  STERNA_CO_TRY(from_visitor());
  if (stopping_) co_return Error{Errc::unavailable, "the run is stopping"};
  const Member* node = named(node_name(add.host));
  if (node != nullptr && node->state == State::READY && !node->condemned) {
    // It is one already; one that is being drained stays, with whoever is still there.
    if (drained_.erase(add.host) > 0) note("drained " + add.host, {});
    Task<void> kept = journaled();
    co_await kept;
    co_return Result<void>{};
  }
  if (node != nullptr && node->state == State::READY) {
    co_return Error{Errc::unavailable,
                    fmt::format("the host \"{}\" is just being given back: ask again", add.host)};
  }
  // However often it is asked for, the launcher brings it once, though who asked may be gone by
  // then.
  const Duration within = std::min(add.within, kLongestWait);
  StartNode order{add.host, within};
  auto asked = ask(agent_of<LauncherControl>(kLauncherProcess), std::move(order),
                   within + 2 * kControlDeadline);
  co_return co_await asked;
}

}  // namespace sterna
