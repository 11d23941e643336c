// How the actors of a job find each other: by name, in the run's directory. Passed in, so that a
// test of a few local actors needs no directory.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/actor/process.h"

namespace sterna::actors {

/// Waits until the named actor is there, at most `patience`.
using Finder =
    std::function<Task<Result<AnyRef>>(Process& process, std::string name, Duration patience)>;

/// Asks the directory of the run that `process` belongs to.
Finder directory_finder();

/// The named actor, if it has interface I; the error names it.
template <class I>
Task<Result<ActorRef<I>>> find_peer(const Finder& finder, Process& process, std::string name,
                                    Duration patience) {
  Result<AnyRef> found = co_await finder(process, name, patience);
  if (!found) co_return std::move(found).error().in("looking for " + name);
  Result<ActorRef<I>> typed = found->as<I>();
  if (!typed) co_return std::move(typed).error().in("looking for " + name);
  co_return *typed;
}

template <class I>
Task<Result<std::vector<ActorRef<I>>>> find_peers(const Finder& finder, Process& process,
                                                  std::vector<std::string> names,
                                                  Duration patience) {
  std::vector<ActorRef<I>> peers;
  for (const std::string& name : names) {
    Result<ActorRef<I>> peer = co_await find_peer<I>(finder, process, name, patience);
    if (!peer) co_return std::move(peer).error();
    peers.push_back(*peer);
  }
  co_return peers;
}

}  // namespace sterna::actors
