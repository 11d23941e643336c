#include "runtime/process.h"

#include <algorithm>
#include <cassert>

namespace sterna {

namespace {
// Per turn of the loop, so that neither mail nor timers starve the sockets.
constexpr int kMailBudget = 512;
constexpr int kTimerBudget = 128;
// How long those who watch a peer whose link was lost wait for its node's word on the cause.
constexpr Duration kNodeSpeaksWithin = std::chrono::seconds(1);
// How many causes of death are remembered for those who ask later.
constexpr std::size_t kEpitaphs = 1024;
}  // namespace

// ---- the tasks of an actor
// -----------------------------------------------------------------------

RootPromise::RootPromise(Process::Cell& cell, const detail::Ticket& asked_by)
    : ticket(asked_by), next(cell.roots), cell_(cell) {
  if (next != nullptr) next->previous_ = this;
  cell.roots = this;
}

RootPromise::~RootPromise() {
  if (next != nullptr) next->previous_ = previous_;
  (previous_ != nullptr ? previous_->next : cell_.roots) = next;
}

/// Those who watch a process whose link was lost, until its node has said why or time is up.
class Process::Mourning final : public Timers::Target {
 public:
  Mourning(Process& process, DownNotice notice) : process_(process), notice_(std::move(notice)) {}
  void timer_fired() override {
    Process& process = process_;
    process.notify_watchers_of(notice_);
    std::erase_if(process.mourning_, [this](const auto& held) { return held.get() == this; });
  }

 private:
  Process& process_;
  DownNotice notice_;
};

void Poster::post(std::function<void()> work) const {
  if (loop_ == nullptr) return;
  loop_->post([process = process_, actor = actor_, work = std::move(work)] {
    const auto alive = process.lock();
    if (alive && (*alive)->alive(actor)) work();
  });
}

// ---- life of the process
// -------------------------------------------------------------------------

Process::Process(const ProcessEnvironment& environment, ProcessOptions options)
    : environment_(environment),
      options_(std::move(options)),
      alive_token_(std::make_shared<Process*>(this)) {
  cells_.emplace_back();  // slot 0 stands for "outside any actor"
  asks_.emplace_back();
  if (environment_.transport != nullptr) {
    Links::Owner& owner = *this;
    links_ = std::make_unique<Links>(owner, *environment_.transport, environment_.loop, timers_,
                                     environment_.random, environment_.log, options_.link);
  }
  environment_.loop.add(*this);
}

Process::~Process() {
  on_death_ = nullptr;
  for (std::uint32_t slot = 1; slot < cells_.size(); ++slot) {
    if (cells_[slot].actor) {
      bury_one({(static_cast<std::uint64_t>(cells_[slot].generation) << 32) | slot},
               "the process ends");
    }
  }
  alive_token_.reset();
  environment_.loop.remove(*this);
  while (queue_head_ != nullptr) delete std::exchange(queue_head_, queue_head_->next);
}

ActorId Process::adopt(std::unique_ptr<ActorBase> actor, const detail::ActorClass& type,
                       LocalId owner) {
  std::uint32_t slot = 0;
  if (free_cells_.empty()) {
    slot = static_cast<std::uint32_t>(cells_.size());
    cells_.emplace_back();
  } else {
    slot = free_cells_.back();
    free_cells_.pop_back();
  }
  Cell& cell = cells_[slot];
  const LocalId local{(static_cast<std::uint64_t>(cell.generation) << 32) | slot};
  cell.actor = std::move(actor);
  cell.type = &type;
  cell.owner = owner;
  cell.dying = false;
  cell.actor->process_ = this;
  cell.actor->local_ = local;
  ++live_;
  if (owner && alive(owner)) {
    auto& children = cell_of(owner).children;
    if (!children) children = std::make_unique<std::vector<LocalId>>();
    children->push_back(local);
  }
  cell.actor->started();
  return {id(), local};
}

bool Process::alive(LocalId actor) const {
  const std::uint32_t slot = slot_of(actor);
  return slot != 0 && slot < cells_.size() && cells_[slot].actor != nullptr &&
         cells_[slot].generation == generation_of(actor);
}

bool Process::doomed(LocalId actor) const { return !alive(actor) || cells_[slot_of(actor)].dying; }

ActorBase* Process::find(LocalId actor) {
  return alive(actor) ? cells_[slot_of(actor)].actor.get() : nullptr;
}

void Process::kill(LocalId actor, const std::string& cause) {
  if (!alive(actor) || cell_of(actor).dying) return;
  cell_of(actor).dying = true;
  dying_.emplace_back(actor, cause);
}

void Process::request_stop() {
  std::vector<ActorBase*> top;
  for (Cell& cell : cells_) {
    if (cell.actor && !cell.owner) top.push_back(cell.actor.get());
  }
  for (ActorBase* actor : top) actor->stop_requested();
}

void Process::bury() {
  while (!dying_.empty()) {
    const auto [actor, cause] = std::move(dying_.back());
    dying_.pop_back();
    bury_one(actor, cause);
  }
}

void Process::bury_one(LocalId actor, const std::string& cause) {
  if (!alive(actor)) return;
  Cell& cell = cell_of(actor);
  // Those who wait for its answers learn first; then everything it waited in goes.
  const Error down{Errc::actor_down, "the actor died: " + (cause.empty() ? "it stopped" : cause)};
  while (cell.roots != nullptr) {
    RootPromise* root = cell.roots;
    const detail::Ticket ticket = root->ticket;
    root->handle.destroy();
    reply(ticket, std::make_unique<FailureMail>(down), Kind::FAILURE);
  }
  const auto children = std::move(cell.children);
  std::unique_ptr<ActorBase> remains = std::move(cell.actor);
  cell.type = nullptr;
  if (++cell.generation != 0) free_cells_.push_back(slot_of(actor));  // a worn-out slot retires
  --live_;
  std::erase_if(local_watches_, [&](const auto& watch) { return watch.second == actor; });
  if (!cause.empty()) {
    epitaphs_.emplace_back(actor, cause);
    if (epitaphs_.size() > kEpitaphs) epitaphs_.pop_front();
  }
  remains.reset();
  if (children) {
    for (const LocalId child : *children) bury_one(child, "its owner died");
  }
  const PeerIdentity& self = options_.link.identity;
  notify_watchers(
      {id(), actor},
      {{id(), actor}, self.name, self.incarnation, cause.empty() ? "it stopped" : cause});
  if (on_death_) on_death_(actor, cause);
}

std::string Process::cause_of(LocalId actor) const {
  for (const auto& [dead, cause] : epitaphs_) {
    if (dead == actor) return cause;
  }
  return "it stopped, or never was";
}

// ---- turning
// -------------------------------------------------------------------------------------

bool Process::ready() {
  return queue_head_ != nullptr || !dying_.empty() || timers_.next() <= loop().now();
}

void Process::turn() {
  timers_.fire(loop().now(), kTimerBudget);
  if (!dying_.empty()) bury();
  for (int budget = kMailBudget; budget > 0 && queue_head_ != nullptr; --budget) {
    const std::unique_ptr<Mail> mail(std::exchange(queue_head_, queue_head_->next));
    if (queue_head_ == nullptr) queue_tail_ = nullptr;
    --queued_;
    dispatch(*mail);
    if (!dying_.empty()) bury();
  }
}

void Process::enqueue(std::unique_ptr<Mail> mail) {
  Mail* last = mail.release();
  (queue_tail_ != nullptr ? queue_tail_->next : queue_head_) = last;
  queue_tail_ = last;
  ++queued_;
}

void Process::dispatch(Mail& mail) {
  sender_ = mail.source;
  switch (mail.kind) {
    case Kind::TELL:
    case Kind::ASK:
      dispatch_to_actor(mail);
      break;
    case Kind::REPLY:
      if (detail::PendingAsk* ask = end_ask(mail.correlation)) ask->answer(mail);
      break;
    case Kind::FAILURE:
      if (detail::PendingAsk* ask = end_ask(mail.correlation)) {
        ask->fail(std::move(static_cast<FailureMail&>(mail).error));
      }
      break;
    case Kind::CANCEL:
      cancel_handler({mail.source, mail.correlation, mail.target});
      break;
  }
  sender_ = {};
  if (mail.charge != 0) links_->consumed(mail.source.process, mail);
}

void Process::dispatch_to_actor(Mail& mail) {
  const detail::Ticket ticket{mail.source, mail.kind == Kind::ASK ? mail.correlation : 0,
                              mail.target};
  if (!alive(mail.target)) {
    reply(ticket,
          std::make_unique<FailureMail>(
              Error{Errc::actor_down, "the actor is dead: " + cause_of(mail.target)}),
          Kind::FAILURE);
    return;
  }
  Cell& cell = cell_of(mail.target);
  const detail::HandlerEntry* handler =
      mail.type == nullptr ? nullptr : cell.type->find(mail.type->type_id);
  if (handler == nullptr) {
    // An address of the wrong interface, made by hand; the typed API cannot send this.
    reply(ticket,
          std::make_unique<FailureMail>(
              Error{Errc::remote, "the actor does not accept this message"}),
          Kind::FAILURE);
    return;
  }
  try {
    handler->invoke(*cell.actor, mail, ticket);
  } catch (...) {
    handler_threw(cell, ticket, std::current_exception());
  }
}

void Process::handler_threw(Cell& cell, const detail::Ticket& ticket,
                            std::exception_ptr exception) {
  std::string what = "unknown exception";
  try {
    std::rethrow_exception(std::move(exception));
  } catch (const std::exception& error) {
    what = error.what();
  } catch (...) {  // NOLINT(bugprone-empty-catch): the text above stands
  }
  reply(ticket, std::make_unique<FailureMail>(Error{Errc::remote, "its handler threw: " + what}),
        Kind::FAILURE);
  kill(cell.actor->local_, "a handler threw: " + what);
}

void Process::cancel_handler(const detail::Ticket& ticket) {
  if (!alive(ticket.asked)) return;
  for (RootPromise* root = cell_of(ticket.asked).roots; root != nullptr; root = root->next) {
    // A process's asks are numbered across its actors.
    if (root->ticket.correlation == ticket.correlation &&
        root->ticket.asker.process == ticket.asker.process) {
      root->handle.destroy();
      return;
    }
  }
}

void Process::run_task(LocalId actor, Task<void> task) {
  if (alive(actor)) run_handler(cell_of(actor), detail::Ticket{{}, 0, actor}, std::move(task));
}

// ---- asking
// --------------------------------------------------------------------------------------

void Process::start_ask(detail::PendingAsk& ask, std::unique_ptr<Mail> mail, LocalId source,
                        ActorId target, Duration deadline) {
  if (asks_.size() - free_asks_.size() > options_.max_asks) {
    ask.fail(Error{Errc::overloaded, "too many asks in flight"});
    return;
  }
  std::uint32_t slot = 0;
  if (free_asks_.empty()) {
    slot = static_cast<std::uint32_t>(asks_.size());
    asks_.emplace_back();
  } else {
    slot = free_asks_.back();
    free_asks_.pop_back();
  }
  Ask& entry = asks_[slot];
  entry.ask = &ask;
  entry.target = target;
  ask.process_ = this;
  ask.correlation_ = (static_cast<std::uint64_t>(entry.generation) << 32) | slot;
  ask.timer_ = timers_.arm(loop().now() + deadline, ask);
  post_mail(std::move(mail), Kind::ASK, source, target, ask.correlation_, deadline.count());
}

Process::Ask* Process::find_ask(std::uint64_t correlation) {
  const auto slot = static_cast<std::uint32_t>(correlation);
  if (slot == 0 || slot >= asks_.size()) return nullptr;
  Ask& entry = asks_[slot];
  return entry.ask != nullptr && entry.generation == correlation >> 32 ? &entry : nullptr;
}

/// Takes the ask out of the table, disarmed; null if it has ended.
detail::PendingAsk* Process::end_ask(std::uint64_t correlation) {
  Ask* entry = find_ask(correlation);
  if (entry == nullptr) return nullptr;
  detail::PendingAsk* ask = std::exchange(entry->ask, nullptr);
  if (++entry->generation == 0) entry->generation = 1;
  free_asks_.push_back(static_cast<std::uint32_t>(correlation));
  timers_.cancel(std::exchange(ask->timer_, 0));
  ask->correlation_ = 0;
  return ask;
}

void Process::move_ask(std::uint64_t correlation, detail::PendingAsk& ask, Timers::Id timer,
                       Timers::Target& target) {
  if (Ask* entry = find_ask(correlation)) entry->ask = &ask;
  timers_.retarget(timer, target);
}

void Process::withdraw_ask(std::uint64_t correlation) {
  const Ask* entry = find_ask(correlation);
  if (entry == nullptr) return;
  const ActorId target = entry->target;
  end_ask(correlation);
  post_mail(std::make_unique<EmptyMail>(), Kind::CANCEL, {}, target, correlation, 0);
}

void Process::fail_asks_to(ProcessId process, const Error& error) {
  std::vector<std::uint64_t> ending;
  for (std::uint32_t slot = 1; slot < asks_.size(); ++slot) {
    const Ask& entry = asks_[slot];
    if (entry.ask != nullptr && entry.target.process == process)
      ending.push_back(entry.ask->correlation_);
  }
  for (const std::uint64_t correlation : ending) {
    if (detail::PendingAsk* ask = end_ask(correlation)) ask->fail(error);
  }
  if (!dying_.empty()) bury();
}

void Process::post_mail(std::unique_ptr<Mail> mail, Kind kind, LocalId source, ActorId target,
                        std::uint64_t correlation, std::int64_t deadline_ns) {
  mail->kind = kind;
  mail->correlation = correlation;
  mail->deadline_ns = deadline_ns;
  mail->target = target.local;
  mail->source = {id(), source};
  if (target.process == id()) {
    if (queued_ >= options_.max_mail && kind != Kind::REPLY && kind != Kind::FAILURE) {
      failed_to_send({{}, {}, correlation, kind}, target,
                     Error{Errc::overloaded, "the process's queue is full"});
      return;
    }
    enqueue(std::move(mail));
    return;
  }
  Header header;
  header.target = target.local;
  header.source = source;
  header.correlation = correlation;
  header.kind = kind;
  header.type_id = mail->type == nullptr ? 0 : mail->type->type_id;
  header.deadline_ns = deadline_ns;
  if (!links_) {
    failed_to_send(header, target, Error{Errc::actor_down, "this process has no links to others"});
    return;
  }
  const Result<void> sent = links_->send(target.process, header, std::move(mail));
  if (!sent) failed_to_send(header, target, sent.error());
}

void Process::reply(const detail::Ticket& ticket, std::unique_ptr<Mail> answer, Kind kind) {
  if (ticket.correlation == 0) return;
  post_mail(std::move(answer), kind, ticket.asked, {ticket.asker.process, {}}, ticket.correlation,
            0);
}

// ---- watching
// ------------------------------------------------------------------------------------

void Process::watch(LocalId watcher, ActorId actor) {
  if (actor.process == id() && !alive(actor.local)) {
    if (ActorBase* base = find(watcher)) {
      const PeerIdentity& self = options_.link.identity;
      base->down({actor, self.name, self.incarnation, cause_of(actor.local)});
    }
    return;
  }
  local_watches_.emplace(actor, watcher);
  if (actor.process != id() && links_) links_->send_watch(actor.process, actor.local);
}

void Process::notify_watchers(ActorId actor, const DownNotice& notice) {
  std::vector<LocalId> watchers;
  for (auto [at, end] = local_watches_.equal_range(actor); at != end; ++at)
    watchers.push_back(at->second);
  local_watches_.erase(actor);
  for (const LocalId watcher : watchers) {
    if (ActorBase* base = find(watcher)) base->down(notice);
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
  std::vector<ActorId> watched;
  for (const auto& [actor, watcher] : local_watches_) {
    if (actor.process == process_notice.actor.process) watched.push_back(actor);
  }
  std::sort(watched.begin(), watched.end());
  watched.erase(std::unique(watched.begin(), watched.end()), watched.end());
  for (const ActorId actor : watched) {
    DownNotice notice = process_notice;
    notice.actor = actor;
    notify_watchers(actor, notice);
  }
}

void Process::process_down(const DownNotice& notice) {
  const ProcessId process = notice.actor.process;
  if (links_) links_->drop(process, notice.cause);
  fail_asks_to(process,
               Error{Errc::actor_down, notice.name + "#" + std::to_string(notice.incarnation) +
                                           " is down: " + notice.cause});
  notify_watchers_of(notice);
  std::erase_if(remote_watchers_, [&](const auto& watch) { return watch.second == process; });
  if (!dying_.empty()) bury();
}

void Process::blame_sender(const std::string& cause) {
  if (links_ && sender_.process != id()) links_->blame(sender_.process, cause);
}

// ---- links
// ---------------------------------------------------------------------------------------

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
  } else if (header.kind == Kind::TELL && error.code == Errc::overloaded) {
    log("a message is dropped: " + error.message);
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
  const std::string who =
      peer.identity.name.empty() ? "process " + std::to_string(peer.process) : peer.identity.text();
  fail_asks_to(process, Error{Errc::actor_down, who + " is down: " + cause});
  DownNotice notice{{process, {}}, peer.identity.name, peer.identity.incarnation, cause};
  if (introducer_ && !fault) {
    // The node knows better why (an exit code, a signal), and speaks within moments.
    mourning_.push_back(std::make_unique<Mourning>(*this, std::move(notice)));
    timers_.arm(loop().now() + kNodeSpeaksWithin, *mourning_.back());
  } else {
    notify_watchers_of(notice);
  }
  std::erase_if(remote_watchers_, [&](const auto& watch) { return watch.second == process; });
  if (on_link_end_) on_link_end_(peer, cause, fault);
  if (!dying_.empty()) bury();
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

// ---- what actors call
// ----------------------------------------------------------------------------

ActorId ActorBase::id() const { return {process_->id(), local_}; }
Time ActorBase::now() const { return process_->loop().now(); }
ActorId ActorBase::sender() const { return process_->sender(); }
Sleep ActorBase::sleep(Duration duration) { return {process_->timers(), now() + duration}; }
void ActorBase::run(Task<void> task) { process_->run_task(local_, std::move(task)); }
Poster ActorBase::poster() const { return process_->poster(local_); }
void ActorBase::watch(ActorId actor) { process_->watch(local_, actor); }
void ActorBase::stop() { process_->kill(local_, ""); }
void ActorBase::fail(const std::string& cause) { process_->kill(local_, cause); }
void ActorBase::log(std::string_view line) const { process_->log(line); }

}  // namespace sterna
