// Peer<I>: an actor that another one asks by name, wherever in the run it lives.
//
//   Peer<Counter> counter(*this, "counter", kPatience);
//   STERNA_CO_ASSIGN(const Total total, counter.ask(Add{1}, kDeadline));
//
// An actor that was lost may be started again: its next incarnation is found under the same name. A
// message that says kAskedAgain is then asked again, as often as it takes; the asker only waits.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/actor/byte_window.h"
#include "runtime/cluster/find_actor.h"

namespace sterna {

/// Who asks does not mind whether a message was heard once or twice: it says itself what it is
/// about, and the answer is the same.
template <class M>
concept AskedAgain = requires {
  requires M::kAskedAgain;
};

/// Stays where it is while a question is under way.
template <class I>
class Peer {
 public:
  /// Between a lost question and the same one again.
  static constexpr Duration kAgainAfter = std::chrono::milliseconds(20);

  /// `patience`: until an actor of that name is there.
  template <class Asker>
  Peer(const Actor<Asker>& asker, std::string name, Duration patience, Finder finder = find_any)
      : process_(&asker.process()),
        asker_(asker.self().id.local),
        name_(std::move(name)),
        patience_(patience),
        finder_(std::move(finder)) {}

  const std::string& name() const { return name_; }
  /// The actor that was found last is gone, and who asks next has to find another first.
  bool lost() const { return lost_; }
  /// Of the actor that was found last.
  ProcessId process() const { return actor_.id.process; }
  /// It is known to be dead, and no other has been found; else only the link may be lost.
  bool gone() const { return lost_ && process_->is_dead(process()); }
  /// It is known to be this one now.
  void is_at(ActorRef<I> actor) {
    actor_ = actor;
    lost_ = false;
  }

  /// Waits until the actor is there. The error names it.
  Task<Result<void>> find() {
    Task<Result<ActorRef<I>>> finding = find_actor<I>(*process_, name_, patience_, finder_);
    Result<ActorRef<I>> found = co_await finding;
    STERNA_CO_ASSIGN(actor_, std::move(found).in("looking for " + name_));
    lost_ = false;
    co_return Result<void>{};
  }

  /// The question leaves at once, unless the actor has to be found first; await the answer when it
  /// is needed. The deadline is of each time that it is asked.
  template <class M>
  NamedTask<Result<ReplyTo<M>>> ask(M message, Duration deadline) {
    Task<Result<ReplyTo<M>>> question = put(std::move(message), deadline);
    question.start();
    return question;
  }

  /// As ask(), once `bytes` of the window are free: what the question and its answer take of the
  /// link. They are taken until the answer has come. The deadline counts from then.
  template <class M>
  NamedTask<Result<ReplyTo<M>>> ask_within(ByteWindow& window, std::uint64_t bytes, M message,
                                           Duration deadline) {
    Task<Result<ReplyTo<M>>> question = put_within(window, bytes, std::move(message), deadline);
    question.start();
    return question;
  }

  /// As these, and again where the actor is lost, like a message that says kAskedAgain.
  template <class M>
  NamedTask<Result<ReplyTo<M>>> ask_again(M message, Duration deadline) {
    Task<Result<ReplyTo<M>>> question = put<M, true>(std::move(message), deadline);
    question.start();
    return question;
  }
  template <class M>
  NamedTask<Result<ReplyTo<M>>> ask_again_within(ByteWindow& window, std::uint64_t bytes, M message,
                                                 Duration deadline) {
    Task<Result<ReplyTo<M>>> question =
        put_within<M, true>(window, bytes, std::move(message), deadline);
    question.start();
    return question;
  }

  /// Goes to the actor that was found last.
  template <class M>
  void tell(M message) {
    process_->send_tell(asker_, actor_, std::move(message));
  }

 private:
  template <class M, bool kAgain = AskedAgain<M>>
  Task<Result<ReplyTo<M>>> put_within(ByteWindow& window, std::uint64_t bytes, M message,
                                      Duration deadline) {
    auto free = window.take(bytes);
    const ByteWindow::Share share = co_await free;
    Task<Result<ReplyTo<M>>> question = put<M, kAgain>(std::move(message), deadline);
    co_return co_await question;
  }

  template <class M, bool kAgain = AskedAgain<M>>
  Task<Result<ReplyTo<M>>> put(M message, Duration deadline) {
    if (!actor_) STERNA_CO_TRY(find());
    if constexpr (kAgain) {
      STERNA_CO_TRY(find_again());
      Task<Result<ReplyTo<M>>> question = put_again(std::move(message), deadline);
      co_return co_await question;
    } else {
      if (lost_) STERNA_CO_TRY(find());
      const ActorRef<I> asked = actor_;
      Future<ReplyTo<M>> answer = process_->send_ask(asker_, asked, std::move(message), deadline);
      Result<ReplyTo<M>> result = co_await answer;
      // Whether the question arrived is not known. Whoever asks next asks the actor that then has
      // the name.
      if (is_loss(result) && asked == actor_) lost_ = true;
      co_return result;
    }
  }

  template <class M>
  Task<Result<ReplyTo<M>>> put_again(M message, Duration deadline) {
    ActorRef<I> lost;
    Time give_up = kNever;
    while (true) {
      const ActorRef<I> asked = actor_;
      Future<ReplyTo<M>> answer = process_->send_ask(asker_, asked, M(message), deadline);
      Result<ReplyTo<M>> result = co_await answer;
      if (!is_loss(result)) co_return result;
      if (asked == actor_) lost_ = true;
      // That it is gone may be known here before it is where it is looked for. How often it comes
      // again is not decided here.
      const Time now = process_->loop().now();
      if (asked != lost) give_up = now + patience_;
      lost = asked;
      if (now >= give_up) co_return result;
      co_await Sleep(process_->timers(), now + kAgainAfter);
      Task<Result<void>> finding = find_again();
      const Result<void> found = co_await finding;
      if (!found) co_return result;
    }
  }

  /// Until there is one to be asked; once for all questions that were lost together.
  Task<Result<void>> find_again() {
    while (lost_) {
      if (!finding_.expired()) {
        co_await Sleep(process_->timers(), process_->loop().now() + kAgainAfter);
        continue;
      }
      const auto own = std::make_shared<bool>(true);
      finding_ = own;
      Task<Result<void>> finding = find();
      const Result<void> found = co_await finding;
      finding_.reset();
      if (found) break;
      // It may be on its way, and take long.
      if (found.error().code != Errc::deadline) co_return found;
      co_await Sleep(process_->timers(), process_->loop().now() + kAgainAfter);
    }
    co_return Result<void>{};
  }

  template <class T>
  static bool is_loss(const Result<T>& result) {
    return !result && result.error().code == Errc::actor_down;
  }

  Process* process_;
  LocalId asker_;
  std::string name_;
  Duration patience_;
  Finder finder_;
  ActorRef<I> actor_;
  bool lost_ = false;            ///< that actor, or the link to it
  std::weak_ptr<bool> finding_;  ///< somebody looks for another one
};

/// One for each name, once all are there.
template <class I, class Asker>
Task<Result<std::vector<Peer<I>>>> find_peers(const Actor<Asker>& asker,
                                              std::vector<std::string> names, Duration patience,
                                              Finder finder = find_any) {
  std::vector<Peer<I>> peers;
  for (std::string& name : names) {
    peers.emplace_back(asker, std::move(name), patience, finder);
    STERNA_CO_TRY(peers.back().find());
  }
  co_return peers;
}

}  // namespace sterna
