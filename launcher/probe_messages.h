// The messages of the actors with which `sterna doctor` lets the hosts probe each other.
#pragma once

#include <cstdint>
#include <string>

#include "launcher/schema/probe.capnp.h"
#include "runtime/actor_ref.h"
#include "runtime/base/clock.h"
#include "runtime/message.h"

namespace sterna::launcher {

struct ProberArgs {
  using Wire = schema::ProberArgs;
  void encode(Wire::Builder, WireWriter&) const {}
  static Result<ProberArgs> decode(Wire::Reader, WireReader&) { return ProberArgs{}; }
};

/// Answered at once.
struct Ping {
  using Wire = schema::Ping;
  using Reply = void;
  void encode(Wire::Builder, WireWriter&) const {}
  static Result<Ping> decode(Wire::Reader, WireReader&) { return Ping{}; }
};

/// Answered when all of it is there.
struct Load {
  using Wire = schema::Load;
  using Reply = void;
  static constexpr Lane kLane = Lane::data;
  Bytes body;
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<Load> decode(Wire::Reader wire, WireReader& reader);
};

struct PeerProbed {
  using Wire = schema::PeerProbed;
  Duration round_trip{};        ///< the median
  double bytes_per_second = 0;  ///< 0: it was not measured
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<PeerProbed> decode(Wire::Reader wire, WireReader& reader);
};
/// Finds the named prober, pings it so often, and sends it so many loads at once. An error says
/// that the two do not reach each other.
struct ProbePeer {
  using Wire = schema::ProbePeer;
  using Reply = PeerProbed;
  std::string peer;
  std::uint32_t pings = 1;
  std::uint32_t loads = 0;
  std::uint32_t load_bytes = 0;
  Duration patience{};  ///< for each step: the connection, a ping, a load
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<ProbePeer> decode(Wire::Reader wire, WireReader& reader);
};

struct PortsCounted {
  using Wire = schema::PortsCounted;
  std::uint32_t free = 0;
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<PortsCounted> decode(Wire::Reader wire, WireReader& reader);
};
/// How many ports of low..high can be bound at this address of the prober's host.
struct CountPorts {
  using Wire = schema::CountPorts;
  using Reply = PortsCounted;
  std::string address;
  std::uint16_t low = 0;
  std::uint16_t high = 0;
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<CountPorts> decode(Wire::Reader wire, WireReader& reader);
};

struct ProberInterface : Interface<Ping, Load, ProbePeer, CountPorts> {};

}  // namespace sterna::launcher
