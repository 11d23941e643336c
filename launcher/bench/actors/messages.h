// The messages of `sterna bench actors`, and the two interfaces it measures with.
#pragma once

#include <string>
#include <vector>

#include "launcher/bench/actors/bench.capnp.h"
#include "runtime/base/clock.h"
#include "runtime/message/actor_ref.h"
#include "runtime/message/message.h"

namespace sterna::launcher {

namespace wire = schema::bench;

/// An ask with a small body, answered with the same body.
struct Echo {
  using Wire = wire::Echo;
  using Reply = Echo;
  Bytes body;
  STERNA_DECLARE_MESSAGE(Echo);
};

struct NoArgs {
  using Wire = wire::NoArgs;
  STERNA_DECLARE_MESSAGE(NoArgs);
};

struct Rate {
  using Wire = wire::Rate;
  std::uint64_t exchanges = 0;
  Duration duration{};
  double per_second() const {
    return static_cast<double>(exchanges) * 1e9 / static_cast<double>(duration.count());
  }
  STERNA_DECLARE_MESSAGE(Rate);
};

struct EchoInterface : Interface<Echo> {};

/// Asks `targets` round robin, `window` asks in flight together, for `duration`.
struct Drive {
  using Wire = wire::Drive;
  using Reply = Rate;
  std::vector<ActorRef<EchoInterface>> targets;
  std::uint32_t window = 1;
  Duration duration{};
  STERNA_DECLARE_MESSAGE(Drive);
};

/// The same over raw ZeroMQ sockets.
struct DriveRaw {
  using Wire = wire::DriveRaw;
  using Reply = Rate;
  std::vector<std::string> endpoints;
  std::vector<std::string> server_keys;  ///< Z85, one per endpoint, or none
  std::uint32_t window = 1;
  Duration duration{};
  Result<void> check() const;
  STERNA_DECLARE_MESSAGE(DriveRaw);
};

struct Serving {
  using Wire = wire::Serving;
  std::string endpoint;
  std::string server_key;
  STERNA_DECLARE_MESSAGE(Serving);
};

/// Starts a raw ROUTER that sends every message back.
struct ServeRaw {
  using Wire = wire::ServeRaw;
  using Reply = Serving;
  std::string endpoint;
  bool curve = false;
  STERNA_DECLARE_MESSAGE(ServeRaw);
};

/// Ends it.
struct StopRaw {
  using Wire = wire::StopRaw;
  using Reply = void;
  STERNA_DECLARE_MESSAGE(StopRaw);
};

/// One process of the benchmark: it echoes, asks others, and does both over raw sockets.
struct BenchPeer : Interface<Drive, DriveRaw, ServeRaw, StopRaw> {};

}  // namespace sterna::launcher
