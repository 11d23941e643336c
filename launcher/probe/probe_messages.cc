#include "launcher/probe/probe_messages.h"

#include <cmath>

namespace sterna::launcher {
namespace {

// What a message asks for is done: neither for ever nor with more memory than our own orders.
constexpr std::uint32_t kMostTimes = 1000;
constexpr std::uint32_t kMostCodecs = 16;  // some 50 MB each
constexpr std::uint32_t kMostBytes = 16U << 20;
constexpr Duration kMostPatience = std::chrono::hours(1);

Error takes_too_much() { return {Errc::malformed, "a probe that would take too much"}; }

bool is_bearable(Duration duration) {
  return duration >= Duration::zero() && duration <= kMostPatience;
}

void set_texts(capnp::List<capnp::Text>::Builder out, const std::vector<std::string>& texts) {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    out.set(static_cast<unsigned>(i), texts[i].c_str());
  }
}

Result<std::vector<std::string>> texts(capnp::List<capnp::Text>::Reader in) {
  if (in.size() > kMostTimes) return takes_too_much();
  std::vector<std::string> all;
  for (const auto text : in) all.emplace_back(text);
  return all;
}

bool is_cost(double number) { return std::isfinite(number) && number >= 0; }

}  // namespace

void Load::encode(Wire::Builder wire, WireWriter& writer) const {
  wire.adoptBody(writer.data(body));
  wire.setAnswerBytes(answer_bytes);
}

Result<Load> Load::decode(Wire::Reader wire, WireReader& reader) {
  if (wire.getAnswerBytes() > kMostBytes) return takes_too_much();
  return Load{reader.bytes(wire.getBody()), wire.getAnswerBytes()};
}

void Loaded::encode(Wire::Builder wire, WireWriter& writer) const {
  wire.adoptBody(writer.data(body));
}

Result<Loaded> Loaded::decode(Wire::Reader wire, WireReader& reader) {
  return Loaded{reader.bytes(wire.getBody())};
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
  ProbePeer probe{wire.getPeer(), wire.getPings(), wire.getLoads(), wire.getLoadBytes(),
                  Duration(wire.getPatience())};
  if (probe.pings > kMostTimes || probe.loads > kMostTimes || probe.load_bytes > kMostBytes ||
      !is_bearable(probe.patience)) {
    return takes_too_much();
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

void LinkProbed::encode(Wire::Builder wire, WireWriter&) const {
  wire.setRoundTrip(round_trip.count());
  wire.setSeconds(seconds);
}

Result<LinkProbed> LinkProbed::decode(Wire::Reader wire, WireReader&) {
  if (!is_cost(wire.getSeconds()) || wire.getRoundTrip() < 0) {
    return Error{Errc::malformed, "a link of no time"};
  }
  return LinkProbed{Duration(wire.getRoundTrip()), wire.getSeconds()};
}

void ProbeLink::encode(Wire::Builder wire, WireWriter&) const {
  set_texts(wire.initPeers(static_cast<unsigned>(peers.size())), peers);
  wire.setUpBytes(up_bytes);
  wire.setDownBytes(down_bytes);
  wire.setSpan(span.count());
  wire.setPatience(patience.count());
}

Result<ProbeLink> ProbeLink::decode(Wire::Reader wire, WireReader&) {
  ProbeLink probe;
  STERNA_ASSIGN(probe.peers, texts(wire.getPeers()));
  probe.up_bytes = wire.getUpBytes();
  probe.down_bytes = wire.getDownBytes();
  probe.span = Duration(wire.getSpan());
  probe.patience = Duration(wire.getPatience());
  if (probe.peers.empty() || probe.up_bytes > kMostBytes || probe.down_bytes > kMostBytes ||
      !is_bearable(probe.span) || !is_bearable(probe.patience)) {
    return takes_too_much();
  }
  return probe;
}

void CodecsProbed::encode(Wire::Builder wire, WireWriter&) const {
  auto list = wire.initCosts(static_cast<unsigned>(costs.size()));
  for (std::size_t i = 0; i < costs.size(); ++i) {
    auto cost = list[static_cast<unsigned>(i)];
    cost.setCodec(costs[i].codec);
    cost.setBytesUp(costs[i].bytes_up);
    cost.setBytesDown(costs[i].bytes_down);
    cost.setWorkerSeconds(costs[i].worker_seconds);
    cost.setServerSeconds(costs[i].server_seconds);
  }
}

Result<CodecsProbed> CodecsProbed::decode(Wire::Reader wire, WireReader&) {
  CodecsProbed probed;
  for (const auto cost : wire.getCosts()) {
    probed.costs.push_back({cost.getCodec(), cost.getBytesUp(), cost.getBytesDown(),
                            cost.getWorkerSeconds(), cost.getServerSeconds()});
    const CodecCost& last = probed.costs.back();
    if (!is_cost(last.bytes_up) || !is_cost(last.bytes_down) || !is_cost(last.worker_seconds) ||
        !is_cost(last.server_seconds)) {
      return Error{Errc::malformed, "a codec of no cost"};
    }
  }
  return probed;
}

void ProbeCodecs::encode(Wire::Builder wire, WireWriter& writer) const {
  wire.adoptJob(writer.data(job));
  set_texts(wire.initCodecs(static_cast<unsigned>(codecs.size())), codecs);
}

Result<ProbeCodecs> ProbeCodecs::decode(Wire::Reader wire, WireReader& reader) {
  ProbeCodecs probe{reader.bytes(wire.getJob()), {}};
  if (wire.getCodecs().size() > kMostCodecs) return takes_too_much();
  STERNA_ASSIGN(probe.codecs, texts(wire.getCodecs()));
  return probe;
}

}  // namespace sterna::launcher
