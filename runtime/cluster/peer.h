// Peer<I>: an actor that another one asks by name, wherever in the run it lives.
//
//   Peer<Counter> counter(*this, "counter", kPatience);
//   STERNA_CO_ASSIGN(const Total total, counter.ask(Add{1}, kDeadline));
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runtime/actor/byte_window.h"
#include "runtime/cluster/find_actor.h"

namespace sterna {

/// Stays where it is while a question is under way.
template <class I>
class Peer {
 public:
  /// `patience`: until an actor of that name is there.
  template <class Asker>
  Peer(const Actor<Asker>& asker, std::string name, Duration patience, Finder finder = find_any)
      : process_(&asker.process()),
        asker_(asker.self().id.local),
        name_(std::move(name)),
        patience_(patience),
        finder_(std::move(finder)) {}

  const std::string& name() const { return name_; }

  /// Waits until the actor is there. The error names it.
  Task<Result<void>> find() {
    Task<Result<ActorRef<I>>> finding = find_actor<I>(*process_, name_, patience_, finder_);
    Result<ActorRef<I>> found = co_await std::move(finding);
    STERNA_CO_ASSIGN(actor_, std::move(found).in("looking for " + name_));
    lost_ = false;
    co_return Result<void>{};
  }

  /// The question leaves at once, unless the actor has to be found first; await the answer when it
  /// is needed.
  template <class M>
  Task<Result<ReplyTo<M>>> ask(M message, Duration deadline) {
    Task<Result<ReplyTo<M>>> question = put(std::move(message), deadline);
    question.start();
    return question;
  }

  /// As ask(), once `bytes` of the window are free: what the question and its answer take of the
  /// link. They are taken until the answer has come. The deadline counts from then.
  template <class M>
  Task<Result<ReplyTo<M>>> ask_within(ByteWindow& window, std::uint64_t bytes, M message,
                                      Duration deadline) {
    Task<Result<ReplyTo<M>>> question = put_within(window, bytes, std::move(message), deadline);
    question.start();
    return question;
  }

  /// Goes to the actor that was found last.
  template <class M>
  void tell(M message) {
    process_->send_tell(asker_, actor_, std::move(message));
  }

 private:
  template <class M>
  Task<Result<ReplyTo<M>>> put_within(ByteWindow& window, std::uint64_t bytes, M message,
                                      Duration deadline) {
    auto free = window.take(bytes);
    const ByteWindow::Share share = co_await free;
    Task<Result<ReplyTo<M>>> question = put(std::move(message), deadline);
    co_return co_await std::move(question);
  }

  template <class M>
  Task<Result<ReplyTo<M>>> put(M message, Duration deadline) {
    if (!actor_ || lost_) STERNA_CO_TRY(find());
    const ActorRef<I> asked = actor_;
    Future<ReplyTo<M>> answer = process_->send_ask(asker_, asked, std::move(message), deadline);
    Result<ReplyTo<M>> result = co_await answer;
    // A lost link is an end for who has asked: whether the question arrived is not known, and today
    // nobody asks again. Whoever asks next asks the actor that then has the name.
    if (!result && result.error().code == Errc::actor_down && asked == actor_) lost_ = true;
    co_return result;
  }

  Process* process_;
  LocalId asker_;
  std::string name_;
  Duration patience_;
  Finder finder_;
  ActorRef<I> actor_;
  bool lost_ = false;  ///< that actor, or the link to it
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
