#include "launcher/probe_messages.h"

namespace sterna::launcher {

void Load::encode(Wire::Builder wire, WireWriter& writer) const {
  wire.adoptBody(writer.data(body));
}

Result<Load> Load::decode(Wire::Reader wire, WireReader& reader) {
  return Load{reader.bytes(wire.getBody())};
}

void PeerProbed::encode(Wire::Builder wire, WireWriter&) const {
  wire.setRoundTrip(round_trip.count());
  wire.setBytesPerSecond(bytes_per_second);
}

Result<PeerProbed> PeerProbed::decode(Wire::Reader wire, WireReader&) {
  return PeerProbed{Duration(wire.getRoundTrip()), wire.getBytesPerSecond()};
}

void ProbePeer::encode(Wire::Builder wire, WireWriter&) const {
  wire.setPeer(peer);
  wire.setPings(pings);
  wire.setLoads(loads);
  wire.setLoadBytes(load_bytes);
  wire.setPatience(patience.count());
}

Result<ProbePeer> ProbePeer::decode(Wire::Reader wire, WireReader&) {
  // What it asks for is done: neither for ever nor with more memory than the doctor's own orders.
  constexpr std::uint32_t kMostTimes = 1000;
  constexpr std::uint32_t kMostBytes = 16U << 20;
  constexpr Duration kMostPatience = std::chrono::hours(1);
  ProbePeer probe{wire.getPeer(), wire.getPings(), wire.getLoads(), wire.getLoadBytes(),
                  Duration(wire.getPatience())};
  if (probe.pings > kMostTimes || probe.loads > kMostTimes || probe.load_bytes > kMostBytes ||
      probe.patience < Duration::zero() || probe.patience > kMostPatience) {
    return Error{Errc::malformed, "a probe that would take too much"};
  }
  return probe;
}

void PortsCounted::encode(Wire::Builder wire, WireWriter&) const { wire.setFree(free); }

Result<PortsCounted> PortsCounted::decode(Wire::Reader wire, WireReader&) {
  return PortsCounted{wire.getFree()};
}

void CountPorts::encode(Wire::Builder wire, WireWriter&) const {
  wire.setAddress(address);
  wire.setLow(low);
  wire.setHigh(high);
}

Result<CountPorts> CountPorts::decode(Wire::Reader wire, WireReader&) {
  return CountPorts{wire.getAddress(), wire.getLow(), wire.getHigh()};
}

}  // namespace sterna::launcher
