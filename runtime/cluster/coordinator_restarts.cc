// CoordinatorActor: actors that were lost are started again, each beside the others, on their host
// or, once that is gone or has lost them twice, on another. The next incarnation has a key and a
// process id of its own; Find waits for it.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/actor/wait_for.h"
#include "runtime/cluster/coordinator.h"
#include "runtime/cluster/process_control.h"
#include "runtime/message/packed_message.h"

namespace sterna {

namespace {

constexpr Duration kLongestBackoff = std::chrono::seconds(10);
/// A node whose lease has run out kills its processes at once; a machine that is busy takes a
/// while.
constexpr Duration kLeaseEnds = std::chrono::milliseconds(500);
}  // namespace

void CoordinatorActor::take_in(const StartActor& start) {
  const auto known = origins_.find(start.name);
  if (start.restart.times == 0 && known == origins_.end()) return;
  // Of an actor of this name that was there before, its memory may be left.
  Origin& origin = known == origins_.end() ? origins_[start.name] : known->second;
  origin.start = start;
  origin.lost_here = 0;
  note_start(start);
}

CoordinatorActor::Member* CoordinatorActor::live_node(const std::string& host) {
  Member* node = named(node_name(host));
  const bool lives = node != nullptr && node->state == State::READY && !drained_.contains(host);
  return lives ? node : nullptr;
}

std::size_t CoordinatorActor::actors_at(const std::string& host) const {
  const auto here = std::ranges::count_if(members_, [&](const auto& one) {
    const Member& member = one.second;
    return member.kind == ProcessKind::ACTOR && member.host == host &&
           member.state != State::DEAD && !comes_again(member.identity.name);
  });
  const auto to_come = std::ranges::count_if(origins_, [&](const auto& one) {
    return one.second.under_way && one.second.start.host == host;
  });
  return static_cast<std::size_t>(here + to_come);
}

ActorPlace* CoordinatorActor::place_elsewhere(Origin& origin) {
  if (origin.start.needs_kept && keeper_of(origin) == nullptr) return nullptr;
  ActorPlace* best = nullptr;
  std::size_t fewest = 0;
  for (ActorPlace& place : origin.start.elsewhere) {
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
  ActorPlace* place = place_elsewhere(origin);
  if (place == nullptr) return;
  take_place(origin.start, *place);
  origin.lost_here = 0;
}

void CoordinatorActor::take_place(StartActor& start, ActorPlace& place) {
  std::swap(start.host, place.host);
  std::swap(start.args, place.args);
  std::swap(start.compute_threads, place.compute_threads);
  std::swap(start.environment, place.environment);
}

const CoordinatorActor::Member* CoordinatorActor::keeper_of(const Origin& origin) const {
  const auto found = members_.find(origin.kept_by);
  const bool lives = found != members_.end() && found->second.state != State::DEAD;
  return lives ? &found->second : nullptr;
}

Task<Result<void>> CoordinatorActor::bring_kept(std::string name, ProcessId node) {
  // One after the other: the links have other things to carry.
  while (bringing_ && !stopping_) co_await changed_.wait();
  bringing_ = true;
  const Origin& origin = origins_.at(name);  // it stays in the map
  const ProcessId keeper = origin.kept_by;
  Result<void> brought;
  for (const Time deadline = now() + self_.link_patience + kControlDeadline;;) {
    Task<Result<void>> copying = copy_kept(name, keeper, node);
    brought = co_await copying;
    const bool over = find_live(keeper) == nullptr || find_live(node) == nullptr || stopping_;
    if (brought || over || now() >= deadline) break;
    const Errc code = brought.error().code;
    // Anything else would be said again.
    if (code != Errc::actor_down && !may_yet_be_answered(code)) break;
    co_await sleep(self_.heartbeat / 2);
  }
  bringing_ = false;
  changed_.notify_all();
  if (brought || needs_kept(origin) || find_live(node) == nullptr) co_return brought;
  // What may lie there of other times is not what it is to find.
  tell(agent_of<Node>(node), ForgetKept{name});
  co_return {};
}

Task<Result<void>> CoordinatorActor::copy_kept(std::string name, ProcessId keeper, ProcessId node) {
  for (const ProcessId other : {keeper, node}) {
    if (find_live(other) == nullptr) co_return Error{Errc::actor_down, "its host is gone"};
    Task<void> heard = resumed(other, now() + kControlDeadline);
    co_await heard;
  }
  WriteKept piece;
  piece.actor = name;
  do {
    ReadKept question{name, piece.offset};
    Future<KeptPiece> answer = ask(agent_of<Node>(keeper), std::move(question), kControlDeadline);
    Result<KeptPiece> read = co_await answer;
    if (!read) co_return Error(read.error()).in("what is kept for it cannot be read");
    const std::size_t bytes = read->bytes.size();
    if (piece.offset == 0 && read->size == 0) {
      tell(agent_of<Node>(node), ForgetKept{name});
      co_return {};
    }
    const bool fits = piece.offset < read->size && bytes > 0 && bytes <= read->size - piece.offset;
    if (!fits || (piece.offset > 0 && read->size != piece.size)) {
      co_return Error{Errc::malformed, "what is kept for it comes in other pieces"};
    }
    piece.size = read->size;
    piece.bytes = std::move(read->bytes);
    Future<void> taken = ask(agent_of<Node>(node), WriteKept(piece), kControlDeadline);
    const Result<void> written = co_await taken;
    if (!written) co_return Error(written.error()).in("what is kept for it has no place");
    piece.offset += bytes;
    if (stopping_) co_return Error{Errc::unavailable, "the run is stopping"};
  } while (piece.offset < piece.size);
  log(fmt::format("{} bytes that are kept for {} came along", piece.size, name));
  co_return {};
}

bool CoordinatorActor::needs_kept(const Origin& origin) {
  return origin.start.needs_kept && !origin.start.elsewhere.empty();
}

bool CoordinatorActor::comes_again(const std::string& name) const {
  const auto found = origins_.find(name);
  return found != origins_.end() && found->second.under_way;
}

bool CoordinatorActor::may_come_again(const Member& member) const {
  const auto found = origins_.find(member.identity.name);
  if (found == origins_.end() || member.state != State::READY) return false;
  const Origin& origin = found->second;
  const auto counts = std::ranges::count_if(origin.restarts, [&](const Origin::Restart& one) {
    return now() - one.at <= origin.start.restart.within;
  });
  return counts < origin.start.restart.times;
}

bool CoordinatorActor::somebody_is_lost(ProcessId but) const {
  return std::ranges::any_of(members_, [&](const auto& one) {
    const Member& member = one.second;
    return one.first != but && member.kind == ProcessKind::ACTOR && member.state == State::DEAD &&
           is_newest(member) && !member.done && !comes_again(member.identity.name);
  });
}

bool CoordinatorActor::starts_again(const Member& member, bool was_ready, ProcessDown& down) {
  const auto found = origins_.find(member.identity.name);
  if (found == origins_.end()) return false;
  Origin& origin = found->second;
  // Of its first start the launcher has the answer.
  if (!was_ready && !origin.under_way) return false;
  // Whom we end, or would, may say before what it lacks for want of the lost link: that is no
  // failure of its own.
  const bool cut_off = member.condemned || (down.unreached && !somebody_is_lost(member.process));
  const bool condemned = cut_off && !member.at_fault && !down.wanted;
  if (condemned && (down.unreached || !is_loss(down))) {
    down.cause = member.condemned ? member.cause : "its link with another ended: " + down.cause;
    down.consequence = false;
  }
  // With who has what it needs it is lost, too, wherever it is.
  const auto keeper = members_.find(origin.kept_by);
  if (needs_kept(origin) && keeper_of(origin) == nullptr && keeper != members_.end() &&
      !down.wanted && !down.consequence && (is_loss(down) || down.cause == kStartUnknown)) {
    down.host = keeper->second.host;
    down.cause = fmt::format("{} is gone: {}", keeper->second.identity.name, keeper->second.cause);
    down.consequence = true;
  }
  // What dies with its host is no loss where it may be on another.
  const bool with_host = down.consequence && live_node(member.host) == nullptr;
  const bool in_consequence =
      down.consequence && !(with_host && place_elsewhere(origin) != nullptr);
  // Another try there would come to nothing, too.
  const bool nowhere =
      !was_ready && live_node(origin.start.host) == nullptr && place_elsewhere(origin) == nullptr;
  const bool for_good = stopping_ || down.wanted || in_consequence || nowhere || member.at_fault ||
                        !(condemned || is_loss(down));
  // What is no loss of its own does not count.
  const bool moves = down.cause == kOrderedAway && origin.ordered_away == member.process;
  const bool free = down.cause == kHostDrained || moves || down.cause == kStartUnknown;
  if (free) down.last_lines.clear();  // they have nothing to do with it
  const RestartBudget& budget = origin.start.restart;
  std::deque<Origin::Restart>& restarts = origin.restarts;
  while (!restarts.empty() && now() - restarts.front().at > budget.within) restarts.pop_front();
  if (for_good || (!free && restarts.size() >= budget.times)) {
    origin.under_way = false;
    if (!down.wanted && !down.consequence && !restarts.empty()) {
      down.cause += budget.used_up_by(restarts.size(), restarts.front().cause);
    }
    return false;
  }
  if (!free) {
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

Task<void> CoordinatorActor::surely_gone(std::string name) {
  const Member* last = named(name);
  if (last == nullptr || last->state != State::DEAD || !last->down.consequence) co_return;
  const Member* node = find(last->node);
  if (node == nullptr || node->state != State::DEAD || node->done) co_return;
  // The kernel has said that it is no more, and has ended its own with it.
  if (node->cause.ends_with(kConnectionLost)) co_return;
  const Time end = node->leased + self_.lease + kLeaseEnds;
  if (end <= now()) co_return;
  log(fmt::format("{} may be there until the lease of {} ends, in {:.1f} s", last->identity.text(),
                  node->identity.name, in_seconds(end - now())));
  while (now() < end && !stopping_) co_await wait_for(changed_, process().timers(), end);
}

Task<void> CoordinatorActor::restarting(std::string name) {
  // It stays in the map: nobody starts an actor of this name meanwhile.
  Origin& origin = origins_.at(name);
  do {
    origin.again = false;
    co_await sleep(origin.start.restart.pause_before(origin.restarts.size(), kLongestBackoff));
    if (stopping_) break;
    choose_place(origin);
    log(fmt::format("starting {} again on {}, {} of {} times", name, origin.start.host,
                    origin.restarts.size(), origin.start.restart.times));
    Task<Result<Started>> starting = begin(origin.start);
    const Result<Started> started = co_await starting;
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
  note_origin(name);
  changed_.notify_all();
}

}  // namespace sterna
