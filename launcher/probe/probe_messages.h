// The messages of the actors with which `sterna doctor`, or a run that has codecs to choose, lets
// the hosts probe each other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/probe/codec_choice.h"
#include "launcher/probe/probe.capnp.h"
#include "runtime/base/clock.h"
#include "runtime/message/actor_ref.h"
#include "runtime/message/message.h"

namespace sterna::launcher {

struct ProberArgs {
  using Wire = schema::ProberArgs;
  STERNA_DECLARE_MESSAGE(ProberArgs);
};

/// Answered at once.
struct Ping {
  using Wire = schema::Ping;
  using Reply = void;
  STERNA_DECLARE_MESSAGE(Ping);
};

struct Loaded {
  using Wire = schema::Loaded;
  static constexpr Lane kLane = Lane::data;
  Bytes body;
  STERNA_DECLARE_MESSAGE(Loaded);
};
/// Bytes that take the way to a prober, which answers with `answer_bytes` others once it has all.
struct Load {
  using Wire = schema::Load;
  using Reply = Loaded;
  static constexpr Lane kLane = Lane::data;
  Bytes body;
  std::uint32_t answer_bytes = 0;
  STERNA_DECLARE_MESSAGE(Load);
};

struct PeerProbed {
  using Wire = schema::PeerProbed;
  Duration round_trip{};        ///< the median
  double bytes_per_second = 0;  ///< 0: it was not measured
  STERNA_DECLARE_MESSAGE(PeerProbed);
};
/// Has a prober find the one named `peer`, ping it `pings` times and send it `loads` Loads at once.
/// An error says that the two do not reach each other.
struct ProbePeer {
  using Wire = schema::ProbePeer;
  using Reply = PeerProbed;
  std::string peer;
  std::uint32_t pings = 1;
  std::uint32_t loads = 0;
  std::uint32_t load_bytes = 0;
  Duration patience{};  ///< for each step: the connection, a ping, a load
  STERNA_DECLARE_MESSAGE(ProbePeer);
};

struct PortsCounted {
  using Wire = schema::PortsCounted;
  std::uint32_t free = 0;
  STERNA_DECLARE_MESSAGE(PortsCounted);
};
/// Asks how many of the ports low..high can be bound at this address of the prober's host.
struct CountPorts {
  using Wire = schema::CountPorts;
  using Reply = PortsCounted;
  std::string address;
  std::uint16_t low = 0;
  std::uint16_t high = 0;
  STERNA_DECLARE_MESSAGE(CountPorts);
};

struct LinkProbed {
  using Wire = schema::LinkProbed;
  Duration round_trip{};  ///< the median of the slowest peer's
  double seconds = 0;     ///< for one exchange with all peers, while others follow it
  STERNA_DECLARE_MESSAGE(LinkProbed);
};
/// Has a prober find the ones named `peers`, ping them, and exchange Loads with all of them, again
/// and again for `span`, several rounds under way at a time.
struct ProbeLink {
  using Wire = schema::ProbeLink;
  using Reply = LinkProbed;
  std::vector<std::string> peers;
  std::uint32_t up_bytes = 0;    ///< to each
  std::uint32_t down_bytes = 0;  ///< from each in return
  Duration span{};
  Duration patience{};  ///< for each step: the connection, a ping, a load
  STERNA_DECLARE_MESSAGE(ProbeLink);
};

struct CodecsProbed {
  using Wire = schema::CodecsProbed;
  std::vector<CodecCost> costs;
  STERNA_DECLARE_MESSAGE(CodecsProbed);
};
/// Asks what the codecs cost on the prober's host (launcher/probe/codec_speed.h).
struct ProbeCodecs {
  using Wire = schema::ProbeCodecs;
  using Reply = CodecsProbed;
  Bytes job;  ///< pack()ed: the actors' JobConfig
  std::vector<std::string> codecs;
  STERNA_DECLARE_MESSAGE(ProbeCodecs);
};

/// The prober ends.
struct Finish {
  using Wire = schema::Finish;
  STERNA_DECLARE_MESSAGE(Finish);
};

struct ProberInterface
    : Interface<Ping, Load, ProbePeer, CountPorts, ProbeLink, ProbeCodecs, Finish> {};

}  // namespace sterna::launcher
