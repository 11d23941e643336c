#include "actors/peers.h"

#include "runtime/directory.h"

namespace sterna::actors {

Finder directory_finder() {
  return [](Process& process, std::string name, Duration patience) -> Task<Result<AnyRef>> {
    const Result<ActorRef<Agent>> agent = process.agent().as<Agent>();
    if (!agent) co_return Error{Errc::unavailable, "this process is no part of a run"};
    Future<Found> answer =
        process.ask(*agent, Find{std::move(name), patience}, patience + kControlDeadline);
    const Result<Found> found = co_await answer;
    if (!found) co_return found.error();
    co_return found->actor;
  };
}

}  // namespace sterna::actors
