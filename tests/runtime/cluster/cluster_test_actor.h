// An actor for the tests of clusters, simulated and real: it holds a number, speaks with others by
// name, mourns them, and can be made to fail or to block its loop.
#pragma once

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/actor/process.h"
#include "runtime/actor/registry.h"
#include "runtime/cluster/find_actor.h"
#include "runtime/cluster/peer.h"
#include "runtime/message/fields.h"
#include "tests/runtime/cluster/cluster_test.capnp.h"

namespace sterna::test {

namespace wire = schema::test;

struct PeerArgs {
  using Wire = wire::PeerArgs;
  std::int64_t total = 0;
  std::string fail_with;
  std::string asks = {};   ///< another by its name, again and again
  std::string until = {};  ///< there is a file of this path; then it ends
  STERNA_INLINE_MESSAGE(PeerArgs, FIELD(total, Total), FIELD(fail_with, FailWith),
                        FIELD(asks, Asks), FIELD(until, Until))
};
struct Balance {
  using Wire = wire::Balance;
  std::int64_t value = 0;
  STERNA_INLINE_MESSAGE(Balance, FIELD(value, Value))
};
struct Deposit {
  using Wire = wire::Deposit;
  using Reply = Balance;
  std::int64_t amount = 0;
  STERNA_INLINE_MESSAGE(Deposit, FIELD(amount, Amount))
};
/// A Deposit made at the actor of that name.
struct Relay {
  using Wire = wire::Relay;
  using Reply = Balance;
  std::string name;
  std::int64_t amount = 0;
  STERNA_INLINE_MESSAGE(Relay, FIELD(name, Name), FIELD(amount, Amount))
};
/// The same, through a Peer that is kept: where the actor is lost its next incarnation is asked.
struct RelayAgain {
  using Wire = wire::RelayAgain;
  using Reply = Balance;
  std::string name;
  std::int64_t amount = 0;
  STERNA_INLINE_MESSAGE(RelayAgain, FIELD(name, Name), FIELD(amount, Amount))
};
struct Obituary {
  using Wire = wire::Obituary;
  std::string name;
  std::uint64_t incarnation = 0;
  std::string cause;
  STERNA_INLINE_MESSAGE(Obituary, FIELD(name, Name), FIELD(incarnation, Incarnation),
                        FIELD(cause, Cause))
};
/// Watches the actor of that name; answered when it dies.
struct Mourn {
  using Wire = wire::Mourn;
  using Reply = Obituary;
  std::string name;
  STERNA_INLINE_MESSAGE(Mourn, FIELD(name, Name))
};
struct Fail {
  using Wire = wire::Fail;
  std::string cause;
  STERNA_INLINE_MESSAGE(Fail, FIELD(cause, Cause))
};
/// Puts a number into the memory that outlives the process; the one that was there. -1: there is no
/// such memory.
struct Keep {
  using Wire = wire::Keep;
  using Reply = Balance;
  std::int64_t value = 0;
  STERNA_INLINE_MESSAGE(Keep, FIELD(value, Value))
};
/// Blocks the whole process for so long.
struct Block {
  using Wire = wire::Block;
  std::int64_t milliseconds = 0;
  STERNA_INLINE_MESSAGE(Block, FIELD(milliseconds, Milliseconds))
};

struct Peer : Interface<Deposit, Relay, RelayAgain, Mourn, Fail, Block, Keep> {};

class PeerActor final : public Actor<Peer> {
 public:
  explicit PeerActor(PeerArgs args) : args_(std::move(args)), total_(args_.total) {}

  Balance on(Deposit deposit) {
    // Whoever was asked by name is known to be ready.
    if (!std::exchange(asked_, true)) log("is asked");
    return {total_ += deposit.amount};
  }
  Task<Result<Balance>> on(Relay relay) {
    Result<ActorRef<Peer>> peer = co_await find_actor<Peer>(process(), relay.name, kPatience);
    if (!peer) co_return peer.error();
    auto asked = ask(*peer, Deposit{relay.amount}, kPatience);
    co_return co_await asked;
  }
  Task<Result<Balance>> on(RelayAgain relay) {
    Task<Result<Balance>> asking = known(relay.name).ask_again(Deposit{relay.amount}, kPatience);
    co_return co_await asking;
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
  Balance on(Keep keep) {
    KeptMemory* const memory = process().kept_memory();
    if (!kept_.owner && memory != nullptr) {
      if (auto region = memory->take(kKept)) kept_ = *region;
    }
    if (!kept_.owner) return {-1};
    const auto at = [&](std::byte* place) -> std::int64_t& {
      return *reinterpret_cast<std::int64_t*>(place);
    };
    std::int64_t& first = at(kept_.bytes.data());
    const std::int64_t before = std::exchange(first, keep.value);
    std::int64_t& last = at(kept_.bytes.last(sizeof(std::int64_t)).data());
    if (std::exchange(last, keep.value) != before) return {-3};  // of other times
    return {before};
  }
  void on(Fail how) { fail(how.cause); }
  void on(Block block) {
    std::this_thread::sleep_for(std::chrono::milliseconds(block.milliseconds));
  }

 private:
  static constexpr Duration kPatience = std::chrono::seconds(5);
  /// More than one piece, should it go to another host.
  static constexpr std::size_t kKept = ReadKept::kMost + sizeof(std::int64_t);
  void started() override {
    log("started with " + std::to_string(total_));
    if (!args_.fail_with.empty()) fail(args_.fail_with);
    if (!args_.asks.empty()) run(ask_until());
  }
  Task<Result<void>> ask_until() {
    while (!std::filesystem::exists(args_.until)) {
      STERNA_CO_TRY(known(args_.asks).ask_again(Deposit{1}, kPatience));
      co_await sleep(std::chrono::milliseconds(10));
    }
    stop();
    co_return {};
  }
  /// Found once; it stays in the map, as others of its questions may be under way.
  sterna::Peer<Peer>& known(const std::string& name) {
    return known_.try_emplace(name, *this, name, kPatience).first->second;
  }
  void down(const DownNotice& notice) override {
    deaths_.push_back(notice);
    died_.notify_all();
  }

  PeerArgs args_;
  std::int64_t total_;
  bool asked_ = false;
  KeptMemory::Region kept_;
  std::map<std::string, sterna::Peer<Peer>> known_;
  std::vector<DownNotice> deaths_;
  Condition died_;
};

inline Registry peer_registry() {
  Registry registry;
  registry.add<PeerActor, PeerArgs>("peer");
  return registry;
}

}  // namespace sterna::test
