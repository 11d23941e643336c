// Named actors: from a name to a typed address, wherever in the run the actor lives.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "runtime/actor/ask_above.h"
#include "runtime/actor/process.h"
#include "runtime/cluster/cluster_messages.h"
#include "runtime/message/field_checks.h"

namespace sterna {

/// Waits up to `patience` for the named actor to be ready. Fails if it is dead (with the cause), if
/// it did not appear, or if this process is no part of a run. Duration::max() is a year.
inline Task<Result<AnyRef>> find_any(Process& process, std::string name, Duration patience) {
  const Result<ActorRef<Agent>> agent = process.agent().as<Agent>();
  if (!agent) co_return Error{Errc::unavailable, "this process is no part of a run"};
  patience = std::min(patience, kMostTime);
  Task<Result<Found>> asking =
      ask_above(process, LocalId{}, *agent, Find{name, patience}, patience + kControlDeadline);
  Result<Found> found = co_await asking;
  if (found) co_return found->actor;
  if (found.error().code == Errc::actor_down) process.misses_somebody();
  co_return std::move(found).error();
}

/// What finds: the run's directory, as find_any() asks it, or in a test of a few local actors a
/// map.
using Finder = std::function<Task<Result<AnyRef>>(Process&, std::string name, Duration patience)>;

/// The same for an address with interface I; another interface is an error.
template <class I>
Task<Result<ActorRef<I>>> find_actor(Process& process, std::string name, Duration patience,
                                     Finder finder = find_any) {
  STERNA_CO_ASSIGN(const AnyRef found, finder(process, name, patience));
  co_return found.as<I>().in(name);
}

}  // namespace sterna
