#include "launcher/probe/probe_messages.h"

#include "runtime/message/fields.h"

namespace sterna::launcher {

namespace {
// What a message asks for is done: neither for ever nor with more memory than our own orders.
constexpr std::uint32_t kMostTimes = 1000;
constexpr std::uint32_t kMostCodecs = 16;  // some 50 MB each
constexpr std::uint32_t kMostBytes = 16U << 20;
constexpr Duration kMostPatience = std::chrono::hours(1);
}  // namespace

STERNA_MESSAGE(ProberArgs)
STERNA_MESSAGE(Ping)
STERNA_MESSAGE(Load, FIELD(body, Body), FIELD(answer_bytes, AnswerBytes, at_most(kMostBytes)))
STERNA_MESSAGE(Loaded, FIELD(body, Body))
STERNA_MESSAGE(PeerProbed, FIELD(round_trip, RoundTrip),
               FIELD(bytes_per_second, BytesPerSecond, at_least(0)))
STERNA_MESSAGE(ProbePeer, FIELD(peer, Peer, not_empty), FIELD(pings, Pings, at_most(kMostTimes)),
               FIELD(loads, Loads, at_most(kMostTimes)),
               FIELD(load_bytes, LoadBytes, at_most(kMostBytes)),
               FIELD(patience, Patience, at_most(kMostPatience)))
STERNA_MESSAGE(PortsCounted, FIELD(free, Free))
STERNA_MESSAGE(CountPorts, FIELD(address, Address), FIELD(low, Low), FIELD(high, High))
STERNA_MESSAGE(LinkProbed, FIELD(round_trip, RoundTrip), FIELD(seconds, Seconds, at_least(0)))
STERNA_MESSAGE(ProbeLink, FIELD(peers, Peers, not_empty, at_most(kMostTimes)),
               FIELD(up_bytes, UpBytes, at_most(kMostBytes)),
               FIELD(down_bytes, DownBytes, at_most(kMostBytes)),
               FIELD(span, Span, at_most(kMostPatience)),
               FIELD(patience, Patience, at_most(kMostPatience)))
STERNA_FIELDS(CodecCost, FIELD(codec, Codec), FIELD(bytes_up, BytesUp, at_least(0)),
              FIELD(bytes_down, BytesDown, at_least(0)),
              FIELD(worker_seconds, WorkerSeconds, at_least(0)),
              FIELD(server_seconds, ServerSeconds, at_least(0)))
STERNA_MESSAGE(CodecsProbed, FIELD(costs, Costs))
STERNA_MESSAGE(ProbeCodecs, FIELD(job, Job), FIELD(codecs, Codecs, at_most(kMostCodecs)))
STERNA_MESSAGE(Finish)

}  // namespace sterna::launcher
