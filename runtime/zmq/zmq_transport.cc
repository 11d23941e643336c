// ZmqTransport: its sockets, and the connections made, used and ended over them.
#include "runtime/zmq/zmq_transport.h"

#include <unistd.h>
#include <limits>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/transport/numeric_address.h"
#include "runtime/zmq/zmq_endpoints.h"
#include "runtime/zmq/zmq_transport_state.h"

namespace sterna {
namespace {

// A lost channel's last messages may still lie unread; they are waited for this many turns.
constexpr int kTurnsToDrain = 64;
constexpr std::size_t kMostNotices = 1024;
constexpr std::size_t kMostTombstones = 4096;
constexpr int kBacklog = 4096;  // as many may dial at once
constexpr int kProbes = 3;      // unanswered, and the kernel gives a connection up
constexpr std::size_t kLongestClaim = 64;

constexpr int kBoundEvents = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED |
                             ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                             ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
constexpr int kDialEvents = ZMQ_EVENT_CLOSED | ZMQ_EVENT_DISCONNECTED |
                            ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                            ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;

int milliseconds(Duration duration) {
  const auto count = std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
  return static_cast<int>(std::min<std::int64_t>(count, std::numeric_limits<int>::max()));
}

// Asked for always, libzmq would write IPv4 addresses as IPv6 ones.
int is_v6(const std::string& address) {
  return std::count(address.begin(), address.end(), ':') > 1 ? 1 : 0;
}

/// A peer's words, fit for a log line.
std::string printable(std::string_view text) {
  std::string clean(text.substr(0, kLongestClaim));
  std::replace_if(
      clean.begin(), clean.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return clean;
}

}  // namespace

Result<std::unique_ptr<ZmqTransport>> ZmqTransport::create(UvLoop& loop, PeerIdentity self,
                                                           Credentials credentials,
                                                           ZmqOptions options) {
  std::unique_ptr<ZmqTransport> transport(
      new ZmqTransport(loop, std::move(self), std::move(credentials), std::move(options)));
  STERNA_TRY(transport->open());
  return transport;
}

ZmqTransport::ZmqTransport(UvLoop& loop, PeerIdentity self, Credentials credentials,
                           ZmqOptions options)
    : loop_(loop),
      self_(std::move(self)),
      credentials_(std::move(credentials)),
      options_(std::move(options)),
      context_(kLanes),
      zap_(admissions_,
           [this](std::string_view address, std::string_view claimed, std::string_view reason) {
             ++counters_.authentication_denials;
             notice(self_.text() + " denied a peer" +
                    (address.empty() ? "" : " at " + printable(address)) +
                    (claimed.empty() ? "" : " that claims to be " + printable(claimed)) + ": " +
                    std::string(reason));
           }) {
  loop_.add(*this);
}

ZmqTransport::~ZmqTransport() {
  loop_.remove(*this);
  send_all_gathered();
  for (const std::string& file : socket_files_) unlink(file.c_str());  // libzmq leaves them behind
}

Result<void> ZmqTransport::open() {
  // Before any socket that asks it.
  STERNA_TRY(zap_.start(context_, loop_.uv()));
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    ports_[i] = std::make_unique<Port>();
    ports_[i]->lane = static_cast<Lane>(i / 2);
    ports_[i]->dials = i % 2 == 1;
    STERNA_TRY(open_port(*ports_[i]));
  }
  return {};
}

// Everything here must be set before the socket binds or connects.
Result<void> ZmqTransport::open_port(Port& port) {
  const auto lane = static_cast<std::size_t>(port.lane);
  STERNA_ASSIGN(port.socket, ZmqSocket::open(context_, ZMQ_ROUTER));
  ZmqSocket& socket = port.socket;
  STERNA_TRY(socket.set(ZMQ_AFFINITY, std::uint64_t{1} << lane));
  STERNA_TRY(socket.set(ZMQ_ROUTER_MANDATORY, 1));
  STERNA_TRY(socket.set(ZMQ_ROUTER_HANDOVER, 0));
  // Never, as far as anybody will see: what is lost is forgotten, and dialled anew if wanted. Not
  // -1, with which libzmq 4.3.4 drops what a connection that it lost has brought and nobody has
  // read yet: an answer, where the peer ended after it.
  STERNA_TRY(socket.set(ZMQ_RECONNECT_IVL, milliseconds(std::chrono::hours(24))));
  STERNA_TRY(socket.set(ZMQ_IMMEDIATE, 0));
  STERNA_TRY(socket.set(ZMQ_MAXMSGSIZE, options_.max_frame_bytes[lane]));
  STERNA_TRY(socket.set(ZMQ_SNDHWM, options_.high_water_mark));
  STERNA_TRY(socket.set(ZMQ_RCVHWM, options_.high_water_mark));
  STERNA_TRY(socket.set(ZMQ_LINGER, milliseconds(options_.linger)));
  STERNA_TRY(socket.set(ZMQ_CONNECT_TIMEOUT, milliseconds(options_.connect_timeout)));
  const bool strangers = !port.dials && options_.kind == ZmqOptions::Kind::tcp;
  STERNA_TRY(socket.set(ZMQ_HANDSHAKE_IVL, milliseconds(strangers ? options_.handshake_timeout
                                                                  : options_.answer_timeout)));
  const int probe = std::max(1, milliseconds(options_.dead_after) / 1000 / (kProbes + 1));
  STERNA_TRY(socket.set(ZMQ_TCP_KEEPALIVE, 1));
  STERNA_TRY(socket.set(ZMQ_TCP_KEEPALIVE_IDLE, probe));  // seconds, as the next
  STERNA_TRY(socket.set(ZMQ_TCP_KEEPALIVE_INTVL, probe));
  STERNA_TRY(socket.set(ZMQ_TCP_KEEPALIVE_CNT, kProbes));
  STERNA_TRY(socket.set(ZMQ_TCP_MAXRT, milliseconds(options_.dead_after)));
  STERNA_TRY(socket.set(ZMQ_BACKLOG, kBacklog));
  STERNA_TRY(socket.set(ZMQ_ZAP_DOMAIN, std::string_view(ZapHandler::kDomain)));
  if (!port.dials) {
    if (options_.kind == ZmqOptions::Kind::tcp && options_.curve) {
      STERNA_TRY(socket.set(ZMQ_CURVE_SERVER, 1));
      STERNA_TRY(socket.set(ZMQ_CURVE_SECRETKEY, std::string_view(credentials_.secret_key)));
    } else {
      STERNA_TRY(socket.set(ZMQ_PLAIN_SERVER, 1));
    }
  }
  const std::string name = std::to_string(lane) + (port.dials ? "-dials" : "-bound");
  STERNA_TRY(port.monitor.start(context_, loop_.uv(), socket, name,
                                port.dials ? kDialEvents : kBoundEvents));
  return port.watch.start(loop_.uv(), socket);
}

// ---- listening and admitting -------------------------------------------------------------------

Result<void> ZmqTransport::listen(Contact& self) {
  for (const Lane lane : {Lane::control, Lane::data}) {
    std::string& endpoint = lane == Lane::control ? self.control_endpoint : self.data_endpoint;
    if (options_.kind == ZmqOptions::Kind::ipc) {
      STERNA_TRY(bind_ipc(lane, endpoint));
    } else {
      STERNA_TRY(bind_tcp(lane, endpoint));
    }
  }
  if (options_.neighbourhood == 0) return {};
  if (const Result<void> near = listen_to_neighbours(); !near) {
    options_.neighbourhood = 0;
    notice(self_.text() + " talks tcp with its neighbours too: " + near.error().message);
  }
  self.neighbourhood = options_.neighbourhood;
  return {};
}

Result<void> ZmqTransport::bind_ipc(Lane lane, std::string& endpoint) {
  STERNA_ASSIGN(endpoint, free_ipc_endpoint(options_.directory, self_, lane));
  STERNA_TRY(bound(lane).socket.bind(endpoint));
  socket_files_.push_back(endpoint.substr(endpoint.find('/') + 2));
  return {};
}

/// A listener keeps what its socket was told when it was bound: the one on tcp stays with CURVE.
Result<void> ZmqTransport::listen_to_neighbours() {
  for (const Lane lane : {Lane::control, Lane::data}) {
    STERNA_TRY(bound(lane).socket.set(ZMQ_PLAIN_SERVER, 1));
    STERNA_TRY(bound(lane).socket.set(ZMQ_HANDSHAKE_IVL, milliseconds(options_.answer_timeout)));
    std::string endpoint;
    STERNA_TRY(bind_ipc(lane, endpoint));
  }
  return {};
}

bool ZmqTransport::is_neighbour(const Contact& peer) const {
  return options_.neighbourhood != 0 && peer.neighbourhood == options_.neighbourhood;
}

Result<void> ZmqTransport::bind_tcp(Lane lane, std::string& endpoint) {
  const std::string& told = options_.bind_address;
  if (told.empty() || told == "*" || told == "0.0.0.0" || told == "::") {
    return Error{Errc::invalid_argument,
                 "the address to listen at is '" + told + "': name one of this host's own"};
  }
  // libzmq binds addresses and network cards, but not names.
  STERNA_ASSIGN(const std::string address, numeric_address(told));
  ZmqSocket& socket = bound(lane).socket;
  STERNA_TRY(socket.set(ZMQ_IPV6, is_v6(address)));
  std::vector<int> ports = {0};
  if (options_.port_low != 0) {
    ports = ports_to_try(options_.port_low, options_.port_high, options_.port_hash);
  }
  for (const int port : ports) {
    const Result<void> bound = socket.bind(tcp_endpoint(address, port));
    if (bound) {
      endpoint = socket.last_endpoint();
      // Who dials a name has libzmq look it up, on the thread that carries the whole lane: where it
      // is what we listen at, we have.
      if (!options_.address.empty() && options_.address != told && options_.address != address) {
        const std::string found = endpoint.substr(endpoint.rfind(':') + 1);
        endpoint = tcp_endpoint(options_.address, std::stoi(found));
      }
      return {};
    }
    if (bound.error().code != Errc::already_exists) return bound.error();
  }
  return Error{Errc::already_exists,
               "every port of " + std::to_string(options_.port_low) + "-" +
                   std::to_string(options_.port_high) + " is in use at " + address +
                   ": widen the range (each actor takes two) or stop what holds them"};
}

/// Where strangers have keys, a token opens the door to neighbours only.
Contact ZmqTransport::as_let_in(const Contact& peer) const {
  Contact known = peer;
  if (options_.neighbourhood != 0 && options_.curve && !is_neighbour(peer)) {
    known.token_hash.clear();
  }
  return known;
}

void ZmqTransport::announce(const Contact& next) { admissions_.announce(as_let_in(next)); }

void ZmqTransport::admit(const Contact& peer) {
  if (!admissions_.admit(as_let_in(peer))) return;
  for (auto& [id, channel] : channels_) {
    if (channel->identity.name == peer.identity.name &&
        channel->identity.incarnation < peer.identity.incarnation) {
      channel->deaf = true;
      close_later(*channel, peer.identity.text() + " took its place");
    }
  }
}

void ZmqTransport::revoke(const PeerIdentity& peer) {
  admissions_.revoke(peer);
  std::vector<ChannelId> channels;
  for (const auto& [id, channel] : channels_) {
    if (channel->identity == peer) channels.push_back(id);
  }
  for (const ChannelId id : channels) mute(id);
}

// ---- channels ----------------------------------------------------------------------------------

ZmqTransport::Channel& ZmqTransport::add_channel(Port& port, std::string routing_id,
                                                 PeerIdentity identity) {
  auto channel = std::make_unique<Channel>();
  channel->id = next_channel_++;
  channel->port = &port;
  channel->routing_id = std::move(routing_id);
  channel->identity = std::move(identity);
  port.by_routing_id[channel->routing_id] = channel.get();
  return *(channels_[channel->id] = std::move(channel));
}

ZmqTransport::Channel* ZmqTransport::find(ChannelId id) {
  const auto found = channels_.find(id);
  return found == channels_.end() ? nullptr : found->second.get();
}

Result<ChannelId> ZmqTransport::dial(Lane lane, const Contact& peer) {
  Port& port = dialling(lane);
  ZmqSocket& socket = port.socket;
  std::string endpoint = lane == Lane::control ? peer.control_endpoint : peer.data_endpoint;
  // Its name leads to a neighbour, not its word: one of ours cannot stand in for another.
  if (is_neighbour(peer)) endpoint = ipc_endpoint(options_.directory, peer.identity, lane);
  if (endpoint.empty()) {
    return Error{Errc::invalid_argument, peer.identity.text() + " does not listen"};
  }
  const std::uint64_t serial = next_dial_++;
  std::string spelling;
  for (std::uint64_t i = 0; i < kSpellings && spelling.empty(); ++i) {
    STERNA_ASSIGN(spelling, spell(endpoint, static_cast<int>((serial + i) % kSpellings)));
    if (port.by_spelling.contains(spelling)) spelling.clear();
  }
  if (spelling.empty()) {
    return Error{Errc::overloaded, "too many connections to " + endpoint + " at once"};
  }
  // These hold for connections made from now on.
  STERNA_TRY(socket.set(ZMQ_IPV6, is_v6(endpoint.substr(endpoint.find("//")))));
  if (is_tcp(endpoint) && options_.curve) {
    if (peer.public_key.empty()) {
      return Error{Errc::invalid_argument,
                   "no public key of " + peer.identity.text() + " is known"};
    }
    STERNA_TRY(socket.set(ZMQ_CURVE_SERVERKEY, std::string_view(peer.public_key)));
    STERNA_TRY(socket.set(ZMQ_CURVE_PUBLICKEY, std::string_view(credentials_.public_key)));
    STERNA_TRY(socket.set(ZMQ_CURVE_SECRETKEY, std::string_view(credentials_.secret_key)));
  } else {
    STERNA_TRY(socket.set(ZMQ_PLAIN_USERNAME, std::string_view(self_.text())));
    STERNA_TRY(socket.set(ZMQ_PLAIN_PASSWORD, std::string_view(credentials_.token)));
  }
  std::string routing_id = peer.identity.text() + "#" + std::to_string(serial);
  STERNA_TRY(socket.set(ZMQ_CONNECT_ROUTING_ID, std::string_view(routing_id)));
  const Time dialled = loop_.now();
  STERNA_TRY(socket.connect(spelling));
  Channel& channel = add_channel(port, std::move(routing_id), peer.identity);
  channel.spelling = std::move(spelling);
  port.by_spelling[channel.spelling] = &channel;
  channel.dialled = dialled;
  dials_.emplace_back(channel.dialled + options_.connect_timeout + options_.answer_timeout,
                      channel.id);
  port.watch.touch();
  return channel.id;
}

Result<void> ZmqTransport::send(ChannelId id, std::span<const OutFrame> frames) {
  Channel* channel = find(id);
  if (channel == nullptr) return Error{Errc::actor_down, "the connection is gone"};
  // The peer would drop the connection for it, and no word of why.
  const auto lane = static_cast<std::size_t>(channel->port->lane);
  STERNA_TRY(check_message(frames, options_.max_frame_bytes[lane]));
  if (channel->muted) return Error{Errc::actor_down, "the connection is gone"};
  if (channel->closing) return Error{Errc::actor_down, channel->cause};
  if (frames.size() == 1 && frames[0].view.size() > kLargestBatchedFrame &&
      FrameBatchReader::is_batch(frames[0].view)) {
    return Error{Errc::invalid_argument, "a frame that begins like a batch"};
  }
  if (FrameBatchWriter::takes(frames)) {
    if (channel->gathered.empty()) gathered_.push_back(id);
    channel->gathered.add(frames[0].view);
    return channel->gathered.full() ? send_gathered(*channel) : Result<void>();
  }
  STERNA_TRY(send_gathered(*channel));
  Port& port = *channel->port;
  Result<void> sent = send_message(port.socket, channel->routing_id, frames);
  port.watch.touch();
  if (!sent) close_later(*channel, sent.error().message);
  return sent;
}

Result<void> ZmqTransport::send_gathered(Channel& channel) {
  if (channel.gathered.empty()) return {};
  Port& port = *channel.port;
  const OutFrame frame{channel.gathered.frame(), nullptr};
  Result<void> sent = send_message(port.socket, channel.routing_id, {&frame, 1});
  channel.gathered.clear();
  port.watch.touch();
  if (!sent) close_later(channel, sent.error().message);
  return sent;
}

void ZmqTransport::send_all_gathered() {
  for (const ChannelId id : gathered_) {
    // A failure is told like any other end of the connection.
    if (Channel* channel = find(id)) (void)send_gathered(*channel).ok();
  }
  gathered_.clear();
}

void ZmqTransport::mute(ChannelId id) {
  Channel* channel = find(id);
  if (channel == nullptr) return;
  (void)send_gathered(*channel).ok();  // the last words; whether they arrive is not asked
  if (channel->port->dials) {
    forget(*channel);  // what we dialled we can end
  } else {
    channel->deaf = channel->muted = true;
  }
}

/// Reported in the next turn, once what it still sent has been read.
void ZmqTransport::close_later(Channel& channel, std::string cause) {
  if (channel.closing) return;
  channel.closing = true;
  channel.cause = std::move(cause);
  Port& port = *channel.port;
  port.closing.push_back(channel.id);
  port.turns_to_drain = kTurnsToDrain;
  port.watch.touch();
}

void ZmqTransport::report_closed(Port& port) {
  for (const ChannelId id : std::exchange(port.closing, {})) {
    Channel* channel = find(id);
    if (channel == nullptr) continue;
    const bool silent = channel->muted;
    const bool denied = channel->denied;
    const std::string cause = std::move(channel->cause);
    forget(*channel);
    if (!silent && events_ != nullptr) events_->closed(id, cause, denied);
  }
}

void ZmqTransport::forget(Channel& channel) {
  Port& port = *channel.port;
  port.by_routing_id.erase(channel.routing_id);
  if (port.dials) {
    port.by_spelling.erase(channel.spelling);
    // It may be gone already: libzmq ends what it has lost.
    zmq_disconnect(port.socket.get(), channel.spelling.c_str());
    port.watch.touch();
  } else if (port.tombstones.insert(channel.routing_id).second) {
    port.buried.push_back(channel.routing_id);
    if (port.buried.size() > kMostTombstones) {
      port.tombstones.erase(port.buried.front());
      port.buried.pop_front();
    }
  }
  channel.deaf = true;  // the rest of a batch may lie before us
  auto node = channels_.extract(channel.id);
  graveyard_.push_back(std::move(node.mapped()));
}

void ZmqTransport::notice(const std::string& line) {
  if (events_ == nullptr) return;
  if (noticed_.size() <= kMostNotices && noticed_.insert(line).second) {
    events_->noticed(noticed_.size() > kMostNotices ? "further refusals are counted, not logged"
                                                    : std::string_view(line));
    return;
  }
  ++unsaid_;
  if (next_tally_ == kNever) next_tally_ = loop_.now() + options_.tally_every;
}

/// What a flood of refusals comes to, in a line.
void ZmqTransport::tally() {
  if (loop_.now() < next_tally_) return;
  next_tally_ = kNever;
  events_->noticed(self_.text() + " refused " + std::to_string(std::exchange(unsaid_, 0)) +
                   " more like those; in all " + std::to_string(counters_.authentication_denials) +
                   " denied, " + std::to_string(counters_.handshake_failures) +
                   " failed handshakes, " + std::to_string(counters_.muted_messages) +
                   " messages of muted peers");
}

}  // namespace sterna
