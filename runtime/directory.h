// Named actors: from a name to a typed address, wherever in the run the actor lives.
#pragma once

#include <string>
#include <utility>

#include "runtime/cluster_messages.h"
#include "runtime/process.h"

namespace sterna {

/// Waits up to `patience` for the named actor to be ready. Fails if it is dead (with the cause), if
/// it did not appear, if it has another interface, or if this process is no part of a run.
template <class I>
Task<Result<ActorRef<I>>> find_actor(Process& process, std::string name, Duration patience) {
  const Result<ActorRef<Agent>> agent = process.agent().as<Agent>();
  if (!agent) co_return Error{Errc::unavailable, "this process is no part of a run"};
  Future<Found> answer = process.ask(*agent, Find{name, patience}, patience + kControlDeadline);
  const Result<Found> found = co_await answer;
  if (!found) co_return found.error();
  Result<ActorRef<I>> typed = found->actor.template as<I>();
  if (!typed) co_return std::move(typed).error().in(name);
  co_return typed;
}

}  // namespace sterna
