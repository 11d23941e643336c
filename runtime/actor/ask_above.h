// ask_above(): a question for the process above, which may be lost and come again.
#pragma once

#include <utility>

#include "runtime/actor/process.h"

namespace sterna {

/// Asks `above`, the agent of the process above (Process::agent), for the actor `asker`. Where the
/// link to it ended before it answered it is asked again, by then maybe its next incarnation: the
/// message says itself what it is about. The deadline is of each time that it is asked.
template <class I, class M>
Task<Result<ReplyTo<M>>> ask_above(Process& process, LocalId asker, ActorRef<I> above, M message,
                                   Duration deadline) {
  while (true) {
    const std::uint64_t losses = process.agent_losses();
    Future<ReplyTo<M>> answer = process.send_ask(asker, above, M(message), deadline);
    Result<ReplyTo<M>> result = co_await answer;
    const bool lost = !result && result.error().code == Errc::actor_down;
    if (!lost || losses == process.agent_losses()) co_return result;
  }
}

}  // namespace sterna
