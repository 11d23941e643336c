#include "launcher/probe/prober.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "actors/job/job.h"
#include "launcher/probe/codec_speed.h"
#include "runtime/cluster/find_actor.h"
#include "runtime/message/packed_message.h"
#include "runtime/transport/numeric_address.h"

namespace sterna::launcher {
namespace {

/// Of the probes of a link.
constexpr std::uint32_t kPings = 10;
/// Rounds whose answers are not there yet.
constexpr std::uint32_t kUnderWay = 4;
/// Times the span of a probe: rounds that take longer are measured one by one.
constexpr int kLongRound = 2;

/// Whether a socket of ours can listen there.
bool is_free(const std::string& address, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) {
    return false;
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  const int socket = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return false;
  // As libzmq does: what only waits for late packets is in nobody's way.
  const int yes = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  const bool bound = ::bind(socket, found->ai_addr, found->ai_addrlen) == 0;
  ::close(socket);
  return bound;
}

}  // namespace

Loaded ProberActor::on(Load load) {
  if (answer_.size() != load.answer_bytes) answer_ = share(make_buffer(load.answer_bytes));
  return {answer_};
}

Task<Result<PeerProbed>> ProberActor::on(ProbePeer probe) {
  STERNA_CO_ASSIGN(const auto peer,
                   find_actor<ProberInterface>(process(), probe.peer, probe.patience));
  PeerProbed probed;
  STERNA_CO_ASSIGN(probed.round_trip, round_trip(peer, probe.pings, probe.patience));
  if (probe.loads > 0) {
    STERNA_CO_ASSIGN(probed.bytes_per_second, load(peer, probe));
  }
  co_return probed;
}

/// The median.
Task<Result<Duration>> ProberActor::round_trip(ActorRef<ProberInterface> peer, std::uint32_t pings,
                                               Duration patience) {
  std::vector<Duration> taken;
  // The first opens the connection and is not measured.
  for (std::uint32_t i = 0; i <= pings; ++i) {
    const Time began = now();
    STERNA_CO_TRY(ask(peer, Ping{}, patience));
    if (i > 0 || pings == 0) taken.push_back(now() - began);
  }
  std::nth_element(taken.begin(), taken.begin() + static_cast<std::ptrdiff_t>(taken.size() / 2),
                   taken.end());
  co_return taken[taken.size() / 2];
}

Task<Result<double>> ProberActor::load(ActorRef<ProberInterface> peer, ProbePeer probe) {
  const Bytes body = share(make_buffer(probe.load_bytes));
  const Time began = now();
  std::vector<Future<Loaded>> answers;
  for (std::uint32_t i = 0; i < probe.loads; ++i) {
    answers.push_back(ask(peer, Load{body, 0}, probe.patience * probe.loads));
  }
  for (Future<Loaded>& answer : answers) STERNA_CO_TRY(std::move(answer));
  const double seconds = in_seconds(now() - began);
  co_return static_cast<double>(probe.loads) * probe.load_bytes / std::max(seconds, 1e-9);
}

Task<Result<PortsCounted>> ProberActor::on(CountPorts count) {
  auto counting = compute([count]() -> Result<PortsCounted> {
    STERNA_ASSIGN(const std::string address, numeric_address(count.address));
    PortsCounted counted;
    for (int port = count.low; port <= count.high; ++port) counted.free += is_free(address, port);
    return counted;
  });
  co_return co_await counting;
}

Task<Result<LinkProbed>> ProberActor::on(ProbeLink probe) {
  LinkProbed probed;
  std::vector<ActorRef<ProberInterface>> peers;
  for (const std::string& name : probe.peers) {
    STERNA_CO_ASSIGN(const auto peer, find_actor<ProberInterface>(process(), name, probe.patience));
    auto pinging = round_trip(peer, kPings, probe.patience);
    Result<Duration> ponged = co_await pinging;
    STERNA_CO_ASSIGN(const Duration taken, std::move(ponged).in(name));
    probed.round_trip = std::max(probed.round_trip, taken);
    peers.push_back(peer);
  }
  if (probe.up_bytes + probe.down_bytes > 0) {
    STERNA_CO_ASSIGN(probed.seconds, exchange(std::move(peers), std::move(probe)));
  }
  co_return probed;
}

/// Seconds a round. The first rounds, whose bytes find empty queues, do not count, unless the link
/// is so slow that a round takes long; what is under way at the end is not waited for by the clock:
/// by then others may be done.
Task<Result<double>> ProberActor::exchange(std::vector<ActorRef<ProberInterface>> peers,
                                           ProbeLink probe) {
  const Bytes body = share(make_buffer(probe.up_bytes));
  std::deque<std::vector<Future<Loaded>>> under_way;
  const Time began = now();
  Time counted_from = began;
  std::optional<double> seconds;
  for (std::uint32_t done = 0; !seconds || !under_way.empty(); ++done) {
    while (!seconds && under_way.size() < (done == 0 ? 1 : kUnderWay)) {
      std::vector<Future<Loaded>>& round = under_way.emplace_back();
      for (const auto& peer : peers) {
        round.push_back(ask(peer, Load{body, probe.down_bytes}, probe.patience));
      }
    }
    for (Future<Loaded>& answer : under_way.front()) STERNA_CO_TRY(std::move(answer));
    under_way.pop_front();
    const std::uint32_t rounds = done + 1;
    const Duration taken = now() - began;
    if (rounds == kUnderWay) counted_from = now();
    if (!seconds && rounds >= 2 * kUnderWay && taken >= probe.span) {
      seconds = in_seconds(now() - counted_from) / (rounds - kUnderWay);
    }
    if (!seconds && taken >= kLongRound * rounds * probe.span) {
      seconds = in_seconds(taken) / rounds;
    }
  }
  co_return *seconds;
}

Task<Result<CodecsProbed>> ProberActor::on(ProbeCodecs probe) {
  auto measuring = compute([probe = std::move(probe)]() -> Result<CodecsProbed> {
    STERNA_ASSIGN(const actors::JobConfig job, unpack<actors::JobConfig>(probe.job.view()));
    STERNA_ASSIGN(std::vector<CodecCost> costs, measure_codecs(job, probe.codecs));
    return CodecsProbed{std::move(costs)};
  });
  co_return co_await measuring;
}

void register_prober(Registry& registry) { registry.add<ProberActor, ProberArgs>(kProberType); }

}  // namespace sterna::launcher
