#include "runtime/zmq_transport.h"

#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>

#include "runtime/zmq_endpoints.h"

namespace sterna {
namespace {

// What one socket may bring in one turn, so that timers and the other lane get theirs.
constexpr int kMessagesPerTurn = 128;
constexpr std::size_t kBytesPerTurn = 4U << 20;
// A lost channel's last messages may still lie unread; they are waited for this many turns.
constexpr int kTurnsToDrain = 64;
constexpr std::size_t kMostNotices = 1024;
constexpr std::size_t kMostTombstones = 4096;
constexpr int kBacklog = 4096;  // as many may dial at once
constexpr std::size_t kLongestClaim = 64;

constexpr int kBoundEvents = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED |
                             ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                             ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
constexpr int kDialEvents = ZMQ_EVENT_CLOSED | ZMQ_EVENT_DISCONNECTED |
                            ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                            ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};

int milliseconds(Duration duration) {
  return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
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

struct ZmqTransport::Channel {
  ChannelId id = 0;
  Port* port = nullptr;
  std::string routing_id;
  PeerIdentity identity;
  std::string user;      // identity as ZAP wrote it; empty where we dialled
  std::string spelling;  // of the endpoint dialled
  std::string cause;     // why it is closing, or will be
  BatchWriter gathered;  // sent in this turn
  bool answered = false;
  bool deaf = false;   // what still arrives is dropped
  bool muted = false;  // ... and nothing more is reported
  bool closing = false;
};

/// One ROUTER and what is known about its connections.
struct ZmqTransport::Port {
  Lane lane = Lane::control;
  bool dials = false;
  ZmqSocket socket;
  SocketWatch watch;
  SocketMonitor monitor;
  std::unordered_map<std::string, Channel*, TextHash, std::equal_to<>> by_routing_id;
  std::unordered_map<std::string, Channel*> by_spelling;  // dialling
  std::unordered_map<int, ChannelId> by_descriptor;       // bound; 0 before the first message
  // Connections that are over, so that a late message does not introduce them anew (bounded).
  std::unordered_set<std::string, TextHash, std::equal_to<>> tombstones;
  std::deque<std::string> buried;
  int failed_handshakes = 0;  // whose disconnections are still to be told
  std::vector<ChannelId> closing;
  std::vector<int> parted;  // descriptors lost before a message was read, which may lie unread
  int turns_to_drain = 0;
  // Receiving once more than there are messages costs a system call, so a turn begins with as many
  // as the last one found and doubles while there are more.
  int allowance = 1;
  int found = 0;
};

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
  STERNA_TRY(socket.set(ZMQ_RECONNECT_IVL, -1));
  STERNA_TRY(socket.set(ZMQ_IMMEDIATE, 0));
  STERNA_TRY(socket.set(ZMQ_MAXMSGSIZE, options_.max_frame_bytes[lane]));
  STERNA_TRY(socket.set(ZMQ_SNDHWM, options_.high_water_mark));
  STERNA_TRY(socket.set(ZMQ_RCVHWM, options_.high_water_mark));
  STERNA_TRY(socket.set(ZMQ_LINGER, milliseconds(options_.linger)));
  STERNA_TRY(socket.set(ZMQ_CONNECT_TIMEOUT, milliseconds(options_.connect_timeout)));
  STERNA_TRY(socket.set(ZMQ_HANDSHAKE_IVL, milliseconds(options_.handshake_timeout)));
  STERNA_TRY(socket.set(ZMQ_HEARTBEAT_IVL, milliseconds(options_.heartbeat)));
  STERNA_TRY(socket.set(ZMQ_HEARTBEAT_TIMEOUT, milliseconds(options_.heartbeat_timeout)));
  STERNA_TRY(socket.set(ZMQ_HEARTBEAT_TTL, milliseconds(options_.heartbeat_timeout)));
  STERNA_TRY(socket.set(ZMQ_BACKLOG, kBacklog));
  STERNA_TRY(socket.set(ZMQ_ZAP_DOMAIN, std::string_view(ZapHandler::kDomain)));
  if (!port.dials) {
    STERNA_TRY(socket.set(ZMQ_IPV6, is_v6(options_.bind_address)));
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
      STERNA_ASSIGN(endpoint, ipc_endpoint(options_.directory, self_, lane));
      STERNA_TRY(bound(lane).socket.bind(endpoint));
      socket_files_.push_back(endpoint.substr(endpoint.find('/') + 2));
    } else {
      STERNA_TRY(bind_tcp(lane, endpoint));
    }
  }
  return {};
}

Result<void> ZmqTransport::bind_tcp(Lane lane, std::string& endpoint) {
  const std::string& address = options_.bind_address;
  if (address.empty() || address == "*" || address == "0.0.0.0" || address == "::") {
    return Error{Errc::invalid_argument,
                 "the address to listen at is '" + address + "': name one of this host's own"};
  }
  ZmqSocket& socket = bound(lane).socket;
  std::vector<int> ports = {0};
  if (options_.port_low != 0) {
    ports = ports_to_try(options_.port_low, options_.port_high, options_.port_hash);
  }
  for (const int port : ports) {
    const Result<void> bound = socket.bind(tcp_endpoint(address, port));
    if (bound) {
      endpoint = socket.last_endpoint();
      return {};
    }
    if (bound.error().code != Errc::already_exists) return bound.error();
  }
  return Error{Errc::already_exists,
               "every port of " + std::to_string(options_.port_low) + "-" +
                   std::to_string(options_.port_high) + " is in use at " + address +
                   ": widen the range (each actor takes two) or stop what holds them"};
}

void ZmqTransport::admit(const Contact& peer) {
  if (!admissions_.admit(peer)) return;
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
  const std::string& endpoint = lane == Lane::control ? peer.control_endpoint : peer.data_endpoint;
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
  STERNA_TRY(socket.connect(spelling));
  Channel& channel = add_channel(port, std::move(routing_id), peer.identity);
  channel.spelling = std::move(spelling);
  port.by_spelling[channel.spelling] = &channel;
  dials_.emplace_back(loop_.now() + options_.connect_timeout + options_.handshake_timeout,
                      channel.id);
  port.watch.touch();
  return channel.id;
}

Result<void> ZmqTransport::send(ChannelId id, std::span<const OutFrame> frames) {
  if (frames.empty() || frames.size() > kMostFrames) {
    return Error{Errc::invalid_argument,
                 "a message of " + std::to_string(frames.size()) + " frames"};
  }
  Channel* channel = find(id);
  if (channel == nullptr || channel->muted) {
    return Error{Errc::actor_down, "the connection is gone"};
  }
  if (channel->closing) return Error{Errc::actor_down, channel->cause};
  if (BatchWriter::takes(frames)) {
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
    const std::string cause = std::move(channel->cause);
    forget(*channel);
    if (!silent && events_ != nullptr) events_->closed(id, cause);
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
  if (events_ == nullptr || noticed_.size() > kMostNotices) return;
  if (!noticed_.insert(line).second) return;
  events_->noticed(noticed_.size() > kMostNotices ? "further refusals are counted, not logged"
                                                  : std::string_view(line));
}

// ---- the loop ----------------------------------------------------------------------------------

void ZmqTransport::turn() {
  graveyard_.clear();
  zap_.turn();
  for (const auto& port : ports_) {
    if (port->monitor.maybe()) drain_monitor(*port);
  }
  expire_dials();
  for (const auto& port : ports_) receive(*port);
}

bool ZmqTransport::ready() {
  send_all_gathered();  // the turn is over
  bool ready = zap_.ready();
  for (const auto& port : ports_) {
    const bool looked_at = port->watch.maybe();
    if (port->watch.readable()) {
      ready = true;
    } else if (looked_at) {
      port->allowance = std::max(1, port->found);
    }
    ready = ready || port->monitor.maybe() || !port->closing.empty() || !port->parted.empty();
  }
  return ready;
}

Time ZmqTransport::next_deadline() {
  while (!dials_.empty()) {
    const Channel* channel = find(dials_.front().second);
    if (channel != nullptr && !channel->answered && !channel->closing) return dials_.front().first;
    dials_.pop_front();
  }
  return kNever;
}

void ZmqTransport::expire_dials() {
  while (next_deadline() <= loop_.now()) {
    Channel& channel = *find(dials_.front().second);
    dials_.pop_front();
    close_later(channel, "no answer from " + channel.spelling);
  }
}

void ZmqTransport::receive(Port& port) {
  if (!port.watch.maybe() && port.closing.empty() && port.parted.empty()) return;
  port.found = 0;
  std::size_t bytes = 0;
  bool drained = false;
  while (port.found < port.allowance && bytes < kBytesPerTurn) {
    if (!message_.receive(port.socket)) {
      drained = true;
      break;
    }
    bytes += message_.bytes();
    port.found += dispatch(port);
    message_.release();
  }
  if (drained) {
    if (!port.parted.empty()) {
      notice(self_.text() + " lost a connection before its first message on the " +
             (port.lane == Lane::control ? "control" : "data") +
             " lane (the peer closed it, or sent an oversized frame)");
      port.parted.clear();
    }
    port.watch.rest();
    port.allowance = std::max(1, port.found);
  } else if (port.found >= port.allowance) {
    port.allowance = std::min(2 * port.allowance, kMessagesPerTurn);
  }
  if (!port.closing.empty() && (drained || --port.turns_to_drain <= 0)) report_closed(port);
}

/// Hands over what message_ holds; how many messages that were.
int ZmqTransport::dispatch(Port& port) {
  const std::string_view routing_id = message_.routing_id();
  const auto found = port.by_routing_id.find(routing_id);
  Channel* channel =
      found != port.by_routing_id.end() ? found->second : introduce(port, std::string(routing_id));
  if (channel == nullptr || channel->deaf || events_ == nullptr) {
    ++counters_.muted_messages;
    return 1;
  }
  if (!port.dials && !message_.all_from(channel->user)) {
    blame(*channel, "frames that another peer sent");
    return 1;
  }
  if (message_.frames() == 1 && BatchReader::is_batch(message_.frame(0)))
    return dispatch_batch(port, *channel);
  events_->received(channel->id, port.lane, channel->identity, message_);
  return 1;
}

int ZmqTransport::dispatch_batch(Port& port, Channel& channel) {
  BatchReader batch(message_.frame(0));
  int messages = 0;
  // A message may end the channel; it lives on until the next turn.
  for (ByteView frame = batch.next(); !frame.empty() && !channel.deaf; frame = batch.next()) {
    BatchedMessage message(frame);
    events_->received(channel.id, port.lane, channel.identity, message);
    ++messages;
  }
  if (batch.malformed() && !channel.deaf) {
    // No envelope begins like a batch, so this is refused like any other malformed message.
    events_->received(channel.id, port.lane, channel.identity, message_);
  }
  return std::max(1, messages);
}

/// The first message of a connection that was accepted: from now on it is a channel.
ZmqTransport::Channel* ZmqTransport::introduce(Port& port, const std::string& routing_id) {
  if (port.dials || port.tombstones.contains(routing_id)) return nullptr;
  // The descriptor may have belonged to another connection, whose end must be known first.
  drain_monitor(port);
  const std::string user(message_.user());
  Result<PeerIdentity> identity = parse_identity(user);
  if (!identity) return nullptr;
  Channel& channel = add_channel(port, routing_id, std::move(identity).value());
  channel.user = user;
  if (!admissions_.admitted(channel.identity)) channel.deaf = channel.muted = true;
  const int descriptor = message_.descriptor();
  const auto connection = port.by_descriptor.find(descriptor);
  if (connection == port.by_descriptor.end()) {
    std::erase(port.parted, descriptor);
    close_later(channel, std::string(kConnectionLost));  // it said something and left
  } else {
    Channel* before = find(connection->second);
    if (before != nullptr) close_later(*before, std::string(kConnectionLost));
    connection->second = channel.id;
  }
  return &channel;
}

void ZmqTransport::blame(Channel& channel, const char* cause) {
  channel.deaf = true;
  notice(channel.identity.text() + " is muted: it sent " + cause);
  close_later(channel, std::string("it sent ") + cause);
}

// ---- what the monitors tell --------------------------------------------------------------------

void ZmqTransport::drain_monitor(Port& port) {
  SocketMonitor::Event event;
  while (port.monitor.next(event)) {
    if (port.dials) {
      dial_event(port, event);
    } else {
      bound_event(port, event);
    }
  }
}

void ZmqTransport::bound_event(Port& port, const SocketMonitor::Event& event) {
  const int descriptor = static_cast<int>(event.value);
  switch (event.kind) {
    case ZMQ_EVENT_ACCEPTED:
      port.by_descriptor[descriptor] = 0;
      break;
    case ZMQ_EVENT_DISCONNECTED: {
      const auto connection = port.by_descriptor.extract(descriptor);
      const ChannelId id = connection.empty() ? 0 : connection.mapped();
      if (id != 0) {
        ++counters_.disconnects;
        if (Channel* channel = find(id)) close_later(*channel, std::string(kConnectionLost));
      } else if (port.failed_handshakes > 0) {
        --port.failed_handshakes;  // counted when it failed
      } else {
        ++counters_.disconnects;
        port.parted.push_back(descriptor);
        port.watch.touch();
      }
      break;
    }
    case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:  // the ZAP handler has counted and told it
      ++port.failed_handshakes;
      break;
    case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
    case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
      ++port.failed_handshakes;
      ++counters_.handshake_failures;
      notice("a handshake failed at " + event.endpoint + " of " + self_.text() +
             ": a peer without valid credentials, or not one of ours");
      break;
    default:
      break;
  }
}

void ZmqTransport::dial_event(Port& port, const SocketMonitor::Event& event) {
  const auto found = port.by_spelling.find(event.endpoint);
  if (found == port.by_spelling.end()) return;  // of a channel that is forgotten
  Channel& channel = *found->second;
  const std::string& peer = channel.identity.text();
  switch (event.kind) {
    case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
      channel.answered = true;
      break;
    case ZMQ_EVENT_CLOSED:
      close_later(channel, "nobody answers at " + event.endpoint);
      break;
    case ZMQ_EVENT_DISCONNECTED:
      if (channel.answered) ++counters_.disconnects;
      close_later(channel, channel.cause.empty() ? std::string(kConnectionLost) : channel.cause);
      break;
    case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
      ++counters_.handshake_failures;
      channel.cause = peer + " does not admit " + self_.text();
      notice(channel.cause);
      break;
    case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
    case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
      ++counters_.handshake_failures;
      channel.cause = "the handshake with " + peer + " failed (is its key another?)";
      notice(channel.cause);
      break;
    default:
      break;
  }
}

}  // namespace sterna
