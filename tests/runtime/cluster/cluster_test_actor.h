// An actor for the tests of clusters, simulated and real: it holds a number, speaks with others by
// name, mourns them, and can be made to fail or to block its loop.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/actor/process.h"
#include "runtime/actor/registry.h"
#include "runtime/cluster/find_actor.h"
#include "tests/runtime/cluster/cluster_test.capnp.h"

namespace sterna::test {

namespace wire = schema::test;

struct PeerArgs {
  using Wire = wire::PeerArgs;
  std::int64_t total = 0;
  std::string fail_with;
  void encode(Wire::Builder out, WireWriter&) const {
    out.setTotal(total);
    out.setFailWith(fail_with);
  }
  static Result<PeerArgs> decode(Wire::Reader in, WireReader&) {
    return PeerArgs{in.getTotal(), in.getFailWith()};
  }
};
struct Balance {
  using Wire = wire::Balance;
  std::int64_t value = 0;
  void encode(Wire::Builder out, WireWriter&) const { out.setValue(value); }
  static Result<Balance> decode(Wire::Reader in, WireReader&) { return Balance{in.getValue()}; }
};
struct Deposit {
  using Wire = wire::Deposit;
  using Reply = Balance;
  std::int64_t amount = 0;
  void encode(Wire::Builder out, WireWriter&) const { out.setAmount(amount); }
  static Result<Deposit> decode(Wire::Reader in, WireReader&) { return Deposit{in.getAmount()}; }
};
/// A Deposit made at the actor of that name.
struct Relay {
  using Wire = wire::Relay;
  using Reply = Balance;
  std::string name;
  std::int64_t amount = 0;
  void encode(Wire::Builder out, WireWriter&) const {
    out.setName(name);
    out.setAmount(amount);
  }
  static Result<Relay> decode(Wire::Reader in, WireReader&) {
    return Relay{in.getName(), in.getAmount()};
  }
};
struct Obituary {
  using Wire = wire::Obituary;
  std::string name;
  std::uint64_t incarnation = 0;
  std::string cause;
  void encode(Wire::Builder out, WireWriter&) const {
    out.setName(name);
    out.setIncarnation(incarnation);
    out.setCause(cause);
  }
  static Result<Obituary> decode(Wire::Reader in, WireReader&) {
    return Obituary{in.getName(), in.getIncarnation(), in.getCause()};
  }
};
/// Watches the actor of that name; answered when it dies.
struct Mourn {
  using Wire = wire::Mourn;
  using Reply = Obituary;
  std::string name;
  void encode(Wire::Builder out, WireWriter&) const { out.setName(name); }
  static Result<Mourn> decode(Wire::Reader in, WireReader&) { return Mourn{in.getName()}; }
};
struct Fail {
  using Wire = wire::Fail;
  std::string cause;
  void encode(Wire::Builder out, WireWriter&) const { out.setCause(cause); }
  static Result<Fail> decode(Wire::Reader in, WireReader&) { return Fail{in.getCause()}; }
};
/// Blocks the whole process for so long.
struct Block {
  using Wire = wire::Block;
  std::int64_t milliseconds = 0;
  void encode(Wire::Builder out, WireWriter&) const { out.setMilliseconds(milliseconds); }
  static Result<Block> decode(Wire::Reader in, WireReader&) { return Block{in.getMilliseconds()}; }
};

struct Peer : Interface<Deposit, Relay, Mourn, Fail, Block> {};

class PeerActor final : public Actor<Peer> {
 public:
  explicit PeerActor(PeerArgs args) : args_(std::move(args)), total_(args_.total) {}

  Balance on(Deposit deposit) { return {total_ += deposit.amount}; }
  Task<Result<Balance>> on(Relay relay) {
    Result<ActorRef<Peer>> peer = co_await find_actor<Peer>(process(), relay.name, kPatience);
    if (!peer) co_return peer.error();
    co_return co_await ask(*peer, Deposit{relay.amount}, kPatience);
  }
  Task<Result<Obituary>> on(Mourn mourn) {
    Result<ActorRef<Peer>> peer = co_await find_actor<Peer>(process(), mourn.name, kPatience);
    if (!peer) co_return peer.error();
    watch(peer->id);
    while (true) {
      for (const DownNotice& notice : deaths_) {
        if (notice.actor == peer->id) {
          co_return Obituary{notice.name, notice.incarnation, notice.cause};
        }
      }
      co_await died_.wait();
    }
  }
  void on(Fail how) { fail(how.cause); }
  void on(Block block) {
    std::this_thread::sleep_for(std::chrono::milliseconds(block.milliseconds));
  }

 private:
  static constexpr Duration kPatience = std::chrono::seconds(5);
  void started() override {
    log("started with " + std::to_string(total_));
    if (!args_.fail_with.empty()) fail(args_.fail_with);
  }
  void down(const DownNotice& notice) override {
    deaths_.push_back(notice);
    died_.notify_all();
  }

  PeerArgs args_;
  std::int64_t total_;
  std::vector<DownNotice> deaths_;
  Condition died_;
};

inline Registry peer_registry() {
  Registry registry;
  registry.add<PeerActor, PeerArgs>("peer");
  return registry;
}

}  // namespace sterna::test
