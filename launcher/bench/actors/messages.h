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
  void encode(Wire::Builder out, WireWriter& writer) const { out.adoptBody(writer.data(body)); }
  static Result<Echo> decode(Wire::Reader in, WireReader& reader) {
    return Echo{reader.bytes(in.getBody())};
  }
};

struct NoArgs {
  using Wire = wire::NoArgs;
  void encode(Wire::Builder, WireWriter&) const {}
  static Result<NoArgs> decode(Wire::Reader, WireReader&) { return NoArgs{}; }
};

struct Rate {
  using Wire = wire::Rate;
  std::uint64_t exchanges = 0;
  Duration duration{};
  double per_second() const {
    return static_cast<double>(exchanges) * 1e9 / static_cast<double>(duration.count());
  }
  void encode(Wire::Builder out, WireWriter&) const {
    out.setExchanges(exchanges);
    out.setNanoseconds(duration.count());
  }
  static Result<Rate> decode(Wire::Reader in, WireReader&) {
    return Rate{in.getExchanges(), Duration(in.getNanoseconds())};
  }
};

struct EchoInterface : Interface<Echo> {};

/// Asks `targets` round robin, `window` asks in flight together, for `duration`.
struct Drive {
  using Wire = wire::Drive;
  using Reply = Rate;
  std::vector<ActorRef<EchoInterface>> targets;
  std::uint32_t window = 1;
  Duration duration{};
  void encode(Wire::Builder out, WireWriter& writer) const;
  static Result<Drive> decode(Wire::Reader in, WireReader& reader);
};

/// The same over raw ZeroMQ sockets.
struct DriveRaw {
  using Wire = wire::DriveRaw;
  using Reply = Rate;
  std::vector<std::string> endpoints;
  std::vector<std::string> server_keys;  ///< Z85, one per endpoint, or none
  std::uint32_t window = 1;
  Duration duration{};
  void encode(Wire::Builder out, WireWriter& writer) const;
  static Result<DriveRaw> decode(Wire::Reader in, WireReader& reader);
};

struct Serving {
  using Wire = wire::Serving;
  std::string endpoint;
  std::string server_key;
  void encode(Wire::Builder out, WireWriter&) const {
    out.setEndpoint(endpoint);
    out.setServerKey(server_key);
  }
  static Result<Serving> decode(Wire::Reader in, WireReader&) {
    return Serving{in.getEndpoint(), in.getServerKey()};
  }
};

/// Starts a raw ROUTER that sends every message back.
struct ServeRaw {
  using Wire = wire::ServeRaw;
  using Reply = Serving;
  std::string endpoint;
  bool curve = false;
  void encode(Wire::Builder out, WireWriter&) const {
    out.setEndpoint(endpoint);
    out.setCurve(curve);
  }
  static Result<ServeRaw> decode(Wire::Reader in, WireReader&) {
    return ServeRaw{in.getEndpoint(), in.getCurve()};
  }
};

/// Ends it.
struct StopRaw {
  using Wire = wire::StopRaw;
  using Reply = void;
  void encode(Wire::Builder, WireWriter&) const {}
  static Result<StopRaw> decode(Wire::Reader, WireReader&) { return StopRaw{}; }
};

/// One process of the benchmark: it echoes, asks others, and does both over raw sockets.
struct BenchPeer : Interface<Drive, DriveRaw, ServeRaw, StopRaw> {};

}  // namespace sterna::launcher
