#include "runtime/actor/process.h"

#include <algorithm>
#include <cassert>
#include <string>

namespace sterna {

namespace {
// Per turn of the loop, so that neither mail nor timers starve the sockets.
constexpr int kMailBudget = 512;
constexpr int kTimerBudget = 128;
// A loop that comes to its timers so late has stood still: stopped, or swapped out.
constexpr Duration kPause = std::chrono::milliseconds(500);
// How many causes of death are remembered for those who ask later.
constexpr std::size_t kEpitaphs = 1024;
}  // namespace

std::string threw(std::string_view place, const std::exception_ptr& exception) {
  std::string what = "unknown exception";
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception& error) {
    what = error.what();
  } catch (...) {  // NOLINT(bugprone-empty-catch): the text above stands
  }
  return std::string(place) + " threw: " + what;
}

RootPromise::RootPromise(Process& process, Process::Cell& cell, const detail::Ticket& asked_by)
    : Handler({asked_by.asker.process, asked_by.correlation}),
      ticket(asked_by),
      next(cell.roots),
      all_(process.handlers()),
      cell_(cell),
      waiting_(process.waiting_for(asked_by)) {
  all_.add(*this);
  if (waiting_ != nullptr) {
    ++waiting_->handlers;
    waiting_->bytes += ticket.bytes;
  }
  if (next != nullptr) next->previous_ = this;
  cell.roots = this;
}

RootPromise::~RootPromise() {
  all_.remove(*this);
  if (waiting_ != nullptr) {
    --waiting_->handlers;
    waiting_->bytes -= ticket.bytes;
  }
  if (next != nullptr) next->previous_ = previous_;
  (previous_ != nullptr ? previous_->next : cell_.roots) = next;
}

/// Hands on what has gathered of a trace, for who reads it while the process runs.
class Process::TraceFlush final : public Timers::Target {
 public:
  TraceFlush(Tracer& tracer, Timers& timers, const Clock& clock)
      : tracer_(tracer), timers_(timers), clock_(clock) {
    arm();
  }
  TraceFlush(const TraceFlush&) = delete;
  TraceFlush& operator=(const TraceFlush&) = delete;
  ~TraceFlush() { timers_.cancel(timer_); }
  void timer_fired() override {
    tracer_.flush();
    arm();
  }

 private:
  static constexpr Duration kInterval = std::chrono::milliseconds(200);
  void arm() { timer_ = timers_.arm(clock_.now() + kInterval, *this); }
  Tracer& tracer_;
  Timers& timers_;
  const Clock& clock_;
  Timers::Id timer_ = 0;
};

// ---- life of the process

Process::Process(const ProcessEnvironment& environment, ProcessOptions options)
    : environment_(environment),
      options_(std::move(options)),
      tracer_(std::make_shared<Tracer>(environment.loop)),
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
  // Who is buried now may still lose links, and those who listened are being buried too.
  on_death_ = nullptr;
  on_link_end_ = nullptr;
  on_link_trouble_ = nullptr;
  on_link_pace_ = nullptr;
  introducer_ = nullptr;
  for (std::uint32_t slot = 1; slot < cells_.size(); ++slot) {
    // The others go with those who own them.
    if (cells_[slot].actor && !alive(cells_[slot].owner)) {
      bury_one({(static_cast<std::uint64_t>(cells_[slot].generation) << 32) | slot},
               "the process ends");
    }
  }
  if (unsaid_ != 0) log("(and " + std::to_string(unsaid_) + " more failures, unsaid)");
  alive_token_.reset();
  environment_.loop.remove(*this);
}

bool Process::start_trace(TracedSteps steps, std::uint64_t most_bytes) {
  if (tracer_->started()) return true;  // another actor has, which shares the process
  if (!environment_.open_trace) return false;
  std::unique_ptr<TextSink> sink = environment_.open_trace(most_bytes);
  if (sink == nullptr) return false;
  const LinkOptions& self = options_.link;
  tracer_->start({.name = self.identity.name,
                  .host = self.host,
                  .incarnation = self.identity.incarnation,
                  .process = self.self.value,
                  .run = self.run},
                 steps, std::move(sink));
  trace_flush_ = std::make_unique<TraceFlush>(*tracer_, timers_, loop());
  if (links_ == nullptr) return true;
  links_->set_on_round_trip([tracer = tracer_](const RoundTrip& trip) {
    tracer->note_round_trip(
        {trip.host, trip.asked.ns, trip.answered.ns, trip.held.count(), trip.came.ns});
  });
  return true;
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
    if (children->size() == children->capacity()) {
      std::erase_if(*children, [this](LocalId child) { return !alive(child); });
      // Unless that made room for many it is not worth doing again soon.
      if (2 * children->size() >= children->capacity()) {
        children->reserve(2 * children->capacity() + 1);
      }
    }
    children->push_back(local);
  }
  run_code_of(local, "started", [&cell] { cell.actor->started(); });
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
  for (ActorBase* actor : top) {
    run_code_of(actor->local_, "stop_requested", [actor] { actor->stop_requested(); });
  }
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
  const LocalId owner = cell.owner;
  std::unique_ptr<ActorBase> remains = std::move(cell.actor);
  cell.type = nullptr;
  if (++cell.generation != 0) free_cells_.push_back(slot_of(actor));  // a worn-out slot retires
  --live_;
  watches_.forget(actor);
  if (!cause.empty()) {
    if (alive(owner)) log_failure("a light actor failed: " + cause);
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

bool Process::ready() {
  return !queue_.empty() || !dying_.empty() || timers_.next() <= loop().now();
}

void Process::turn() {
  const Time now = loop().now();
  if (const Duration late = now - std::max(timers_.next(), paused_until_); late >= kPause) {
    stood_still_ += late;
    paused_until_ = now;
  }
  timers_.fire(now, kTimerBudget);
  if (!dying_.empty()) bury();
  for (int budget = kMailBudget; budget > 0 && !queue_.empty(); --budget) {
    const std::unique_ptr<Mail> mail = queue_.pop();
    dispatch(*mail);
    if (!dying_.empty()) bury();
  }
}

void Process::enqueue(std::unique_ptr<Mail> mail) { queue_.push(std::move(mail)); }

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
                              mail.target, mail.charge};
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
  if (const Waiting* waiting = waiting_for(ticket);
      waiting != nullptr && (waiting->handlers >= options_.max_waiting_handlers ||
                             waiting->bytes >= options_.max_waiting_bytes())) {
    Error error{Errc::overloaded, "too many asks wait for answers"};
    if (ticket.correlation == 0) return log_failure("what was told is dropped: " + error.message);
    reply(ticket, std::make_unique<FailureMail>(std::move(error)), Kind::FAILURE);
    return;
  }
  try {
    handler->invoke(*cell.actor, mail, ticket);
  } catch (...) {
    handler_threw(cell, ticket, std::current_exception());
  }
}

void Process::handler_threw(Cell& cell, const detail::Ticket& ticket,
                            const std::exception_ptr& exception) {
  const std::string cause = threw("handler", exception);
  reply(ticket, std::make_unique<FailureMail>(Error{Errc::remote, "its " + cause}), Kind::FAILURE);
  kill(cell.actor->local_, "a " + cause);
}

void Process::cancel_handler(const detail::Ticket& ticket) {
  auto* root =
      static_cast<RootPromise*>(handlers_.find({ticket.asker.process, ticket.correlation}));
  if (root != nullptr && root->ticket.asked == ticket.asked) root->handle.destroy();
}

/// Nobody waits any more for the answers to what that process asked.
void Process::cancel_handlers_for(ProcessId asker) {
  std::vector<std::uint64_t> asked;
  for (const Cell& cell : cells_) {
    for (const RootPromise* root = cell.roots; root != nullptr; root = root->next) {
      const detail::Ticket& ticket = root->ticket;
      if (ticket.correlation != 0 && ticket.asker.process == asker) {
        asked.push_back(ticket.correlation);
      }
    }
  }
  for (const std::uint64_t correlation : asked) {
    // What others held may have ended it.
    auto* root = static_cast<RootPromise*>(handlers_.find({asker, correlation}));
    if (root != nullptr) root->handle.destroy();
  }
}

void Process::run_task(LocalId actor, Task<void> task) {
  if (alive(actor)) run_handler(cell_of(actor), detail::Ticket{{}, 0, actor}, std::move(task));
}

}  // namespace sterna
