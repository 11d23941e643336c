// Named actors: from a name to a typed address, wherever in the run the actor lives.
#pragma once

#include <string>
#include <utility>

#include "runtime/actor/process.h"
#include "runtime/cluster/cluster_messages.h"

namespace sterna {

/// Waits up to `patience` for the named actor to be ready. Fails if it is dead (with the cause), if
/// it did not appear, or if this process is no part of a run.
inline Task<Result<AnyRef>> find_any(Process& process, std::string name, Duration patience) {
  const Result<ActorRef<Agent>> agent = process.agent().as<Agent>();
  if (!agent) co_return Error{Errc::unavailable, "this process is no part of a run"};
  Future<Found> answer = process.ask(*agent, Find{name, patience}, patience + kControlDeadline);
  const Result<Found> found = co_await answer;
  if (!found) co_return found.error();
  co_return found->actor;
}

/// The same for an address with interface I; another interface is an error.
template <class I>
Task<Result<ActorRef<I>>> find_actor(Process& process, std::string name, Duration patience) {
  const Result<AnyRef> found = co_await find_any(process, name, patience);
  if (!found) co_return found.error();
  Result<ActorRef<I>> typed = found->as<I>();
  if (!typed) co_return std::move(typed).error().in(name);
  co_return typed;
}

}  // namespace sterna
