// ZmqTransport: a turn of the loop, and what arrives in it.
#include <algorithm>

#include "runtime/zmq/zmq_endpoints.h"
#include "runtime/zmq/zmq_transport_state.h"

namespace sterna {
namespace {

// What one socket may bring in one turn, so that timers and the other lane get theirs.
constexpr int kMessagesPerTurn = 128;
constexpr std::size_t kBytesPerTurn = 4U << 20;

}  // namespace

void ZmqTransport::turn() {
  graveyard_.clear();
  zap_.turn();
  for (const auto& port : ports_) {
    if (port->monitor.maybe()) drain_monitor(*port);
  }
  expire_dials();
  tally();
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
      port->allowance = std::clamp(port->found, 1, kMessagesPerTurn);
    }
    ready = ready || port->monitor.maybe() || !port->closing.empty() || !port->parted.empty();
  }
  return ready;
}

Time ZmqTransport::next_deadline() { return std::min(dial_deadline(), next_tally_); }

Time ZmqTransport::dial_deadline() {
  while (!dials_.empty()) {
    const Channel* channel = find(dials_.front().second);
    if (channel != nullptr && !channel->answered && !channel->closing) return dials_.front().first;
    dials_.pop_front();
  }
  return kNever;
}

void ZmqTransport::expire_dials() {
  while (dial_deadline() <= loop_.now()) {
    Channel& channel = *find(dials_.front().second);
    dials_.pop_front();
    close_later(channel, "silence: no answer from " + unspelt(channel.spelling));
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
             " lane (the peer ended, or it sent an oversized frame)");
      port.parted.clear();
    }
    port.watch.rest();
    port.allowance = std::clamp(port.found, 1, kMessagesPerTurn);
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
  if (message_.frames() == 1 && FrameBatchReader::is_batch(message_.frame(0)))
    return dispatch_frame_batch(port, *channel);
  events_->received(channel->id, port.lane, channel->identity, message_);
  return 1;
}

int ZmqTransport::dispatch_frame_batch(Port& port, Channel& channel) {
  FrameBatchReader batch(message_.frame(0));
  int messages = 0;
  // A message may end the channel; it lives on until the next turn.
  for (ByteView frame = batch.next(); !frame.empty() && !channel.deaf; frame = batch.next()) {
    FrameBatchMessage message(frame);
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

}  // namespace sterna
