// Process: its table of pending asks, and where mail goes: to its own queue, or to a link.
#include "runtime/actor/process.h"

#include <algorithm>
#include <string>
#include <utility>

namespace sterna {

namespace {
/// Between two lines that say with what handlers of what was told have failed.
constexpr Duration kBetweenFailures = std::chrono::seconds(1);

/// Whether an ask ends so without an answer.
bool is_end_of_ask(Errc code) {
  return code == Errc::actor_down || code == Errc::deadline || code == Errc::cancelled ||
         code == Errc::overloaded;
}
}  // namespace

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
  entry.deadline = deadline;
  entry.stood_still = stood_still_;
  entry.postponed = false;
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

/// At the ask's deadline: another timer, if this process stood still meanwhile, which is no fault
/// of who was asked; for so long as it may have lost of its time, once. 0: the ask ends.
Timers::Id Process::postpone_ask(std::uint64_t correlation, Timers::Target& target) {
  Ask* entry = find_ask(correlation);
  if (entry == nullptr || entry->postponed || entry->stood_still == stood_still_) return 0;
  entry->postponed = true;
  const Duration lost = std::min(stood_still_ - entry->stood_still, entry->deadline);
  return timers_.arm(loop().now() + lost, target);
}

std::vector<std::uint64_t> Process::asks_to(ProcessId process) const {
  std::vector<std::uint64_t> all;
  for (std::uint32_t slot = 1; slot < asks_.size(); ++slot) {
    const Ask& entry = asks_[slot];
    if (entry.ask != nullptr && entry.target.process == process) {
      all.push_back(entry.ask->correlation_);
    }
  }
  return all;
}

void Process::post_mail(std::unique_ptr<Mail> mail, Kind kind, LocalId source, ActorId target,
                        std::uint64_t correlation, std::int64_t deadline_ns) {
  mail->kind = kind;
  mail->correlation = correlation;
  mail->deadline_ns = deadline_ns;
  mail->target = target.local;
  mail->source = {id(), source};
  if (target.process == id()) {
    if (queue_.size() >= options_.max_mail && kind != Kind::REPLY && kind != Kind::FAILURE) {
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

void Process::answer_error(const detail::Ticket& ticket, Error error) {
  // Whoever told it waits for no answer.
  if (ticket.correlation == 0) return log_failure("what was told failed: " + error.message);
  // The asker would take the loss of another for that of the actor which answers.
  if (is_end_of_ask(error.code) && !cell_of(ticket.asked).type->speaks_of_others) {
    error.code = Errc::remote;
  }
  reply(ticket, std::make_unique<FailureMail>(std::move(error)), Kind::FAILURE);
}

/// What nobody may hear of otherwise, at most once a while.
void Process::log_failure(const std::string& line) {
  const Time now = loop().now();
  if (now < next_failure_) {
    ++unsaid_;
    return;
  }
  next_failure_ = now + kBetweenFailures;
  const std::uint64_t more = std::exchange(unsaid_, 0);
  log(line + (more == 0 ? "" : " (and " + std::to_string(more) + " more before)"));
}

void Process::reply(const detail::Ticket& ticket, std::unique_ptr<Mail> answer, Kind kind) {
  if (ticket.correlation == 0) return;
  post_mail(std::move(answer), kind, ticket.asked, {ticket.asker.process, {}}, ticket.correlation,
            0);
}

}  // namespace sterna
