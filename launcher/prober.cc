#include "launcher/prober.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "runtime/directory.h"
#include "runtime/numeric_address.h"

namespace sterna::launcher {
namespace {

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

Task<Result<PeerProbed>> ProberActor::on(ProbePeer probe) {
  auto finding = find_actor<ProberInterface>(process(), probe.peer, probe.patience);
  const Result<ActorRef<ProberInterface>> peer = co_await std::move(finding);
  if (!peer) co_return peer.error();
  std::vector<Duration> taken;
  // The first opens the connection and is not measured.
  for (std::uint32_t i = 0; i <= probe.pings; ++i) {
    const Time began = now();
    Future<void> answer = ask(*peer, Ping{}, probe.patience);
    const Result<void> pong = co_await answer;
    if (!pong) co_return pong.error();
    if (i > 0 || probe.pings == 0) taken.push_back(now() - began);
  }
  std::nth_element(taken.begin(), taken.begin() + static_cast<std::ptrdiff_t>(taken.size() / 2),
                   taken.end());
  PeerProbed probed{taken[taken.size() / 2], 0};
  if (probe.loads > 0) {
    auto loading = load(*peer, probe);
    const Result<double> rate = co_await std::move(loading);
    if (!rate) co_return rate.error();
    probed.bytes_per_second = *rate;
  }
  co_return probed;
}

Task<Result<double>> ProberActor::load(ActorRef<ProberInterface> peer, ProbePeer probe) {
  const Bytes body = share(make_buffer(probe.load_bytes));
  const Time began = now();
  std::vector<Future<void>> answers;
  for (std::uint32_t i = 0; i < probe.loads; ++i) {
    answers.push_back(ask(peer, Load{body}, probe.patience * probe.loads));
  }
  for (Future<void>& answer : answers) {
    const Result<void> done = co_await answer;
    if (!done) co_return done.error();
  }
  const double seconds = std::chrono::duration<double>(now() - began).count();
  co_return static_cast<double>(probe.loads) * probe.load_bytes / std::max(seconds, 1e-9);
}

Task<Result<PortsCounted>> ProberActor::on(CountPorts count) {
  auto counting = compute([count]() -> Result<PortsCounted> {
    STERNA_ASSIGN(const std::string address, numeric_address(count.address));
    PortsCounted counted;
    for (int port = count.low; port <= count.high; ++port) counted.free += is_free(address, port);
    return counted;
  });
  co_return co_await std::move(counting);
}

void register_prober(Registry& registry) { registry.add<ProberActor, ProberArgs>(kProberType); }

}  // namespace sterna::launcher
