#include "runtime/cluster/launcher_actor.h"

namespace sterna {

namespace {
/// So many are remembered; as many as the coordinator does.
constexpr std::size_t kMostRemembered = 4096;
}  // namespace

LauncherActor::LauncherActor(Machine& machine, Process& process, Spawner& placer, Duration silence,
                             Hooks hooks)
    : LeafAgent(kCoordinatorProcess),
      silence_(silence),
      hooks_(std::move(hooks)),
      children_(placer, machine.loop(), process.timers(),
                [this](const ProcessDown& down) { child_ended(down); }) {}

void LauncherActor::on(ProcessDown down) {
  if (!from_above()) return;
  if (children_.contains(down.process)) {
    // A node of ours: the coordinator lost it, but its exit will say more; or needs it no longer.
    if (down.cause.starts_with(kSilence) || down.cause == kHostDrained) {
      children_.condemn(down.process, down.cause);
    } else {
      children_.suspect(down.process, down.cause);
    }
    return;
  }
  if (!is_news(down.process)) return;
  process().process_down(notice_of(down));
  hooks_.down(down);
}

bool LauncherActor::is_news(ProcessId dead) {
  if (!dead_.insert(dead).second) return false;
  std::erase_if(apart_, [&](const auto& both) { return both.contains(dead); });
  // Who sent over it cannot say any more that it is over.
  std::erase_if(slow_, [&](const auto& slow) {
    const auto& [pair, link] = slow;
    if (pair.first != dead && pair.second != dead) return false;
    LinkPace end = link.pace;
    end.lasts += now() - link.told;
    end.over = true;
    hooks_.link_pace(end);
    return true;
  });
  deaths_.push_back(dead);
  if (deaths_.size() > kMostRemembered) {
    dead_.erase(deaths_.front());
    deaths_.pop_front();
  }
  return true;
}

void LauncherActor::on(ProcessRestarts restarts) {
  if (!from_above() || !is_news(restarts.down.process)) return;
  process().process_down(notice_of(restarts.down));
  if (hooks_.restarts) hooks_.restarts(restarts);
}

void LauncherActor::on(StatusReport report) {
  if (from_above()) hooks_.status(report);
}

void LauncherActor::on(RunEnds order) {
  if (from_above()) hooks_.end_wanted(order.cause);
}

void LauncherActor::on(LinkTrouble trouble) {
  if (!from_above() || !hooks_.link_trouble) return;
  const std::set<ProcessId> both = {trouble.from, trouble.to};
  const bool known = apart_.contains(both);
  if (!trouble.over && known) return;
  if (trouble.over) {
    apart_.erase(both);
  } else if (apart_.size() < kMostRemembered) {
    apart_.insert(both);
  }
  hooks_.link_trouble(trouble);
}

void LauncherActor::on(LinkPace pace) {
  if (!from_above() || !hooks_.link_pace) return;
  const std::pair pair(pace.from, pace.to);
  const bool known = slow_.contains(pair);
  // Who is dead is known to be over, and one end of two may tell later.
  if (pace.over != known || dead_.contains(pace.from) || dead_.contains(pace.to)) return;
  if (pace.over) {
    slow_.erase(pair);
  } else if (slow_.size() == kMostRemembered) {
    return;
  } else {
    slow_[pair] = {pace, now()};
  }
  hooks_.link_pace(pace);
}

void LauncherActor::on(FaultInjected fault) {
  if (from_above() && hooks_.fault_injected) hooks_.fault_injected(fault);
}

Result<void> LauncherActor::on(Note note) {
  STERNA_TRY(from_above());
  if (hooks_.note) hooks_.note(std::move(note));
  return {};
}

Task<void> LauncherActor::waiting(Duration pause, std::function<void()> work) {
  co_await sleep(pause);
  work();
}

Task<Result<void>> LauncherActor::on(StartNode start) {
  STERNA_CO_TRY(from_above());
  if (!hooks_.node_wanted) co_return Error{Errc::unavailable, "this run takes no more hosts"};
  STERNA_CO_ASSIGN(AddNode add, hooks_.node_wanted(start.host));
  while (true) {
    const auto under_way = bringing_.find(start.host);
    const bool first = under_way == bringing_.end();
    const auto outcome =
        first ? std::make_shared<std::optional<Result<void>>>() : under_way->second;
    if (first) {
      bringing_[start.host] = outcome;
      // Also where the coordinator that asked is lost meanwhile.
      run(bringing(add, start.within));
    }
    while (!*outcome) co_await brought_.wait();
    // What failed for another coordinator may go well now.
    if (first || **outcome) co_return **outcome;
  }
}

Task<void> LauncherActor::bringing(AddNode add, Duration within) {
  const std::string host = add.host;
  Task<Result<void>> coming = bring(std::move(add), within);
  Result<void> came = co_await coming;
  const auto outcome = bringing_.extract(host);
  *outcome.mapped() = std::move(came);
  brought_.notify_all();
}

Task<Result<void>> LauncherActor::bring(AddNode add, Duration within) {
  const std::string host = add.host;
  const auto coordinator = agent_of<Coordinator>(kCoordinatorProcess);
  auto asked = ask(coordinator, std::move(add), kControlDeadline);
  Result<Bootstrap> node = co_await asked;
  if (!node) co_return std::move(node).error();
  const ProcessId id = node->process;
  Find find{node->identity.name, within};
  coming_.insert(id);
  if (const Result<std::int64_t> pid = children_.spawn(*node); !pid) {
    ProcessDown down;
    down.process = id;
    down.identity = node->identity;
    down.cause = pid.error().message;
    child_ended(down);
    co_return pid.error();
  }
  Task<Result<Found>> finding = ask_above(process(), this->id().local, coordinator, std::move(find),
                                          within + kControlDeadline);
  const Result<Found> found = co_await finding;
  if (!found) {
    children_.condemn(id, "it was not ready in time");
    co_return found.error();
  }
  if (coming_.erase(id) == 0) co_return Error{Errc::actor_down, "it came, and ended at once"};
  hooks_.node_came(host, id);
  co_return Result<void>{};
}

void LauncherActor::child_ended(const ProcessDown& ended) {
  ProcessDown down = ended;
  // A node that lost the coordinator ends for want of it: the coordinator's own end says why.
  down.consequence = down.consequence || down.exit_code == kExitLostLease;
  if (coming_.erase(down.process) > 0) {
    down.wanted = true;
    process().tell(agent_of<Coordinator>(kCoordinatorProcess), down);
  }
  process().process_down(notice_of(down));
  hooks_.down(down);
}

void LauncherActor::link_ended(const Contact& peer, const std::string& cause, bool fault) {
  if (ProcessId{peer.process} != kCoordinatorProcess) {
    report_link_end(process(), peer, cause, fault);
  } else if (cause == kSilence) {
    children_.condemn(kCoordinatorProcess, silence_text(silence_));
  } else {
    children_.suspect(kCoordinatorProcess, cause);
  }
}

}  // namespace sterna
