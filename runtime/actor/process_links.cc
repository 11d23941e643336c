// Process: what it hears from its links, and who watches whom across them.
#include <utility>

#include "runtime/actor/process.h"

namespace sterna {

namespace {
// How long those who watch a peer whose link was lost wait for its node's word on the cause.
constexpr Duration kNodeSpeaksWithin = std::chrono::seconds(1);
/// Who asks for one wants to know of a moment ago.
constexpr std::size_t kMostDead = 1024;
}  // namespace

// ---- watching

void Process::watch(LocalId watcher, ActorId actor) {
  if (actor.process == id() && !alive(actor.local)) {
    if (ActorBase* base = find(watcher)) {
      const PeerIdentity& self = options_.link.identity;
      const DownNotice notice{actor, self.name, self.incarnation, cause_of(actor.local)};
      run_code_of(watcher, "down", [&] { base->down(notice); });
    }
    return;
  }
  if (!watches_.add(watcher, actor)) return;
  if (actor.process != id() && links_) links_->send_watch(actor.process, actor.local);
}

void Process::notify_watchers(ActorId actor, const DownNotice& notice) {
  for (const LocalId watcher : watches_.take_watchers_of(actor)) {
    if (ActorBase* base = find(watcher)) {
      run_code_of(watcher, "down", [&] { base->down(notice); });
    }
  }
  std::vector<ProcessId> remote;
  for (auto [at, end] = remote_watchers_.equal_range(actor); at != end; ++at)
    remote.push_back(at->second);
  remote_watchers_.erase(actor);
  for (const ProcessId process : remote) {
    if (links_->identity_of(process) != nullptr) links_->send_down(process, notice);
  }
}

void Process::watch_requested(ProcessId from, LocalId actor) {
  const ActorId watched{id(), actor};
  if (!alive(actor)) {
    const PeerIdentity& self = options_.link.identity;
    links_->send_down(from, {watched, self.name, self.incarnation, cause_of(actor)});
    return;
  }
  for (auto [at, end] = remote_watchers_.equal_range(watched); at != end; ++at) {
    if (at->second == from) return;
  }
  remote_watchers_.emplace(watched, from);
}

void Process::down_received(const DownNotice& notice) {
  notify_watchers(notice.actor, notice);
  if (!dying_.empty()) bury();
}

void Process::notify_watchers_of(const DownNotice& process_notice) {
  for (const ActorId actor : watches_.watched_of(process_notice.actor.process)) {
    DownNotice notice = process_notice;
    notice.actor = actor;
    notify_watchers(actor, notice);
  }
}

void Process::process_down(const DownNotice& notice) {
  const ProcessId process = notice.actor.process;
  if (process == agent_.id.process) ++agent_losses_;
  dead_.insert(process);
  if (dead_.size() > kMostDead) dead_.erase(dead_.begin());
  if (links_) links_->drop(process, notice.cause);
  const std::string who = notice.name + "#" + std::to_string(notice.incarnation);
  part_from(process, Error{Errc::actor_down, who + " is down: " + notice.cause});
  after_this([this, notice] { notify_watchers_of(notice); });
}

/// Ends what goes on with a process that is gone. Nobody's handler may be interrupted by that, so
/// it happens once the present one is through.
void Process::part_from(ProcessId process, const Error& error) {
  std::erase_if(remote_watchers_, [&](const auto& watch) { return watch.second == process; });
  after_this([this, process, error, asks = asks_to(process)] {
    for (const std::uint64_t correlation : asks) {
      if (detail::PendingAsk* ask = end_ask(correlation)) ask->fail(error);
    }
    cancel_handlers_for(process);
    std::erase_if(waiting_handlers_, [](const auto& entry) { return entry.second.handlers == 0; });
  });
}

void Process::after_this(std::function<void()> work) {
  loop().post([this, work = std::move(work), alive = std::weak_ptr<Process*>(alive_token_)] {
    if (alive.expired()) return;
    work();
    if (!dying_.empty()) bury();
  });
}

const PeerIdentity* Process::identity_of(ProcessId process) const {
  if (process == id()) return &options_.link.identity;
  return links_ ? links_->identity_of(process) : nullptr;
}

void Process::blame_sender(const std::string& cause) {
  if (links_ && sender_.process != id()) links_->blame(sender_.process, cause);
}

// ---- links

Expected Process::expect(const Header& header, ProcessId from) {
  if (header.kind == Kind::REPLY) {
    const Ask* ask = find_ask(header.correlation);
    if (ask == nullptr) return {};
    if (ask->target.process != from) return {nullptr, true};
    const MessageType* type = ask->ask->reply_type();
    return {type, (type == nullptr) != (header.type_id == 0)};
  }
  if (!alive(header.target)) return {};
  const detail::HandlerEntry* handler = cell_of(header.target).type->find(header.type_id);
  return {handler == nullptr ? nullptr : handler->type, handler == nullptr};
}

void Process::deliver(std::unique_ptr<Mail> mail) {
  if (mail->kind == Kind::REPLY || mail->kind == Kind::FAILURE) {
    const Ask* ask = find_ask(mail->correlation);
    if (ask == nullptr) {
      mail->correlation = 0;  // it has ended meanwhile; another may take its number
    } else if (ask->target.process != mail->source.process) {
      links_->blame(mail->source.process, "it answered what another process was asked");
      return;
    }
  }
  enqueue(std::move(mail));
}

void Process::failed_to_send(const Header& header, ActorId target, const Error& error) {
  if (header.kind == Kind::ASK) {
    // Through the queue: the asker may still be inside ask().
    auto mail = std::make_unique<FailureMail>(error);
    mail->kind = Kind::FAILURE;
    mail->correlation = header.correlation;
    mail->source = target;
    enqueue(std::move(mail));
  } else if (header.kind == Kind::REPLY) {
    // Never dropped: the asker learns at once why there is no answer.
    reply({target, header.correlation, header.source},
          std::make_unique<FailureMail>(Error(error).in("the answer could not be sent")),
          Kind::FAILURE);
  } else if (error.code == Errc::overloaded || error.code == Errc::invalid_argument) {
    log_failure("what was told failed: a message is dropped: " + error.message);
  }
}

void Process::introduce(ProcessId peer) {
  if (introducer_) {
    introducer_(peer);
  } else {
    loop().post([this, peer, alive = std::weak_ptr<Process*>(alive_token_)] {
      if (!alive.expired()) links_->unreachable(peer, "nobody introduced this process");
    });
  }
}

void Process::link_ended(const Contact& peer, const std::string& cause, bool fault) {
  const ProcessId process{peer.process};
  if (process == agent_.id.process) ++agent_losses_;
  const std::string who =
      peer.identity.name.empty() ? "process " + std::to_string(peer.process) : peer.identity.text();
  // First of all: actors may die of what follows, and whoever hears of that should know of this.
  if (on_link_end_) on_link_end_(peer, cause, fault);
  part_from(process, Error{Errc::actor_down, who + " is down: " + cause});
  DownNotice notice{{process, {}}, peer.identity.name, peer.identity.incarnation, cause};
  if (introducer_ && !fault) {
    // The node knows better why (an exit code, a signal), and speaks within moments.
    mourning_.push_back(std::make_unique<Mourning>(*this, std::move(notice)));
    timers_.arm(loop().now() + kNodeSpeaksWithin, *mourning_.back());
  } else {
    after_this([this, notice = std::move(notice)] { notify_watchers_of(notice); });
  }
}

void Process::link_trouble(const Contact& peer, const std::string& cause, Duration lasts,
                           bool over) {
  if (on_link_trouble_) on_link_trouble_(peer, cause, lasts, over);
}

void Process::link_pace(const Contact& peer, std::uint64_t rate, Duration lasts, bool over) {
  if (on_link_pace_) on_link_pace_(peer, rate, lasts, over);
}

LinkStatistics Process::statistics() {
  LinkStatistics all;
  all.loop_lag = links_->loop_lag();
  all.queued_bytes = links_->queued_bytes();
  for (int lane = 0; lane < kLanes; ++lane) {
    all.bytes_in += links_->counters().bytes_in[static_cast<std::size_t>(lane)];
    all.bytes_out += links_->counters().bytes_out[static_cast<std::size_t>(lane)];
  }
  all.actors = live_;
  return all;
}

}  // namespace sterna
