// What actors call, and how a compute thread reaches one.
#include "runtime/actor/actor.h"

#include <stdexcept>

#include "runtime/actor/process.h"

namespace sterna {

void Poster::post(std::function<void()> work) const {
  if (loop_ == nullptr) return;
  loop_->post([process = process_, actor = actor_, work = std::move(work)] {
    const auto alive = process.lock();
    if (alive && (*alive)->alive(actor)) (*alive)->run_code_of(actor, "a post", work);
  });
}

Process& ActorBase::no_process() {
  throw std::logic_error("an actor has no process in its constructor: use started()");
}

ActorId ActorBase::id() const { return {process().id(), local_}; }
const PeerIdentity& ActorBase::identity() const { return process().options().link.identity; }
Time ActorBase::now() const { return process().loop().now(); }
ActorId ActorBase::sender() const { return process().sender(); }
Sleep ActorBase::sleep(Duration duration) { return {process().timers(), now() + duration}; }
void ActorBase::run(Task<void> task) { process().run_task(local_, std::move(task)); }
void ActorBase::run(Task<Result<void>> task) { run(fail_unless(std::move(task))); }
Poster ActorBase::poster() const { return process().poster(local_); }
void ActorBase::watch(ActorId actor) { process().watch(local_, actor); }
void ActorBase::stop() { process().kill(local_, ""); }
void ActorBase::fail(const std::string& cause) { process().kill(local_, cause); }
void ActorBase::log(std::string_view line) const { process().log(line); }

Task<void> ActorBase::fail_unless(Task<Result<void>> task) {
  const Result<void> result = co_await task;
  if (!result) fail(result.error().message);
}

}  // namespace sterna
