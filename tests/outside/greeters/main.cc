// Greeters: each finds all of them by name, greets them, and stops by itself once all have their
// answers.
// `greeters` alone runs three of them on this machine; the launcher runs them on any hosts.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "greeting.capnp.h"
#include "runtime/cluster/find_actor.h"
#include "runtime/main.h"

namespace {

using namespace sterna;
constexpr Duration kPatience = std::chrono::seconds(20);
constexpr std::uint32_t kAtHome = 3;

struct GreeterArgs {
  using Wire = wire::GreeterArgs;
  std::string greeting;
  std::uint32_t count = 1;
  STERNA_INLINE_MESSAGE(GreeterArgs, FIELD(greeting, Greeting), FIELD(count, Count, at_least(1)))
};
struct Greeting {
  using Wire = wire::Greeting;
  std::string text;
  STERNA_INLINE_MESSAGE(Greeting, FIELD(text, Text))
};
struct Greet {
  using Wire = wire::Greet;
  using Reply = Greeting;
  std::string text;
  STERNA_INLINE_MESSAGE(Greet, FIELD(text, Text))
};
/// Its sender has all its answers.
struct Bye {
  using Wire = wire::Bye;
  using Reply = void;
  STERNA_INLINE_MESSAGE(Bye)
};
struct Greeter : Interface<Greet, Bye> {};

std::string name_of(std::uint32_t index) { return "greeter" + std::to_string(index); }

class GreeterActor final : public Actor<Greeter> {
 public:
  explicit GreeterActor(GreeterArgs args) : args_(std::move(args)) {}

  Greeting on(Greet greet) {
    log("was greeted: " + greet.text);
    return {args_.greeting};
  }
  void on(Bye) {
    ++byes_;
    stop_when_done();
  }

 private:
  void started() override { run(meet_all()); }

  Task<void> meet_all() {
    // Itself too: it does not know which of them it is.
    std::vector<ActorRef<Greeter>> peers;
    for (std::uint32_t index = 0; index < args_.count; ++index) {
      const std::string name = name_of(index);
      Task<Result<ActorRef<Greeter>>> search = find_actor<Greeter>(process(), name, kPatience);
      const Result<ActorRef<Greeter>> peer = co_await search;
      if (!peer) co_return fail(peer.error().message);
      Future<Greeting> asked = ask(*peer, Greet{args_.greeting}, kPatience);
      const Result<Greeting> answer = co_await asked;
      if (!answer) co_return fail(name + ": " + answer.error().message);
      log(name + " answered: " + answer->text);
      peers.push_back(*peer);
    }
    // Nobody stops before all have said this, so it always arrives; who heard it may stop at once,
    // and then its answer may not.
    for (const ActorRef<Greeter>& peer : peers) {
      Future<void> asked = ask(peer, Bye{}, kPatience);
      const Result<void> heard = co_await asked;
      if (!heard && heard.error().code != Errc::actor_down) co_return fail(heard.error().message);
    }
    said_bye_ = true;
    stop_when_done();
  }
  void stop_when_done() {
    if (said_bye_ && byes_ == args_.count) stop();
  }

  GreeterArgs args_;
  std::uint32_t byes_ = 0;
  bool said_bye_ = false;
};

int run_at_home(Cluster& cluster) {
  std::uint32_t done = 0;
  cluster.set_events({.progress = {},
                      .down = [&](const ProcessDown& down) { done += down.wanted; },
                      .status = {}});
  std::vector<ActorSpec> specs;
  for (std::uint32_t index = 0; index < kAtHome; ++index) {
    specs.push_back({name_of(index), "greeter", pack(GreeterArgs{"hello", kAtHome})});
  }
  if (const auto started = cluster.start_actors(specs); !started) {
    std::fprintf(stderr, "%s\n", started.error().message.c_str());
    return 1;
  }
  cluster.run_until([&] { return done == kAtHome || cluster.failure() || cluster.interrupted(); },
                    cluster.loop().now() + kPatience);
  std::printf("%u greeters greeted each other\n", done);
  return done == kAtHome ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Registry registry;
  registry.add<GreeterActor, GreeterArgs>("greeter");
  return sterna::main(argc, argv, registry, run_at_home);
}
