#include "runtime/sim/memory_network.h"

#include <algorithm>

#include "runtime/transport/message_limits.h"
#include "runtime/transport/owned_message.h"

namespace sterna {

namespace {

/// As with the real transport and its kernel.
constexpr Duration kConnectTimeout = std::chrono::seconds(5);
constexpr Duration kConnectAgain = std::chrono::milliseconds(20);

}  // namespace

void MemoryNetwork::cut(const std::string& a, const std::string& b, const std::string& cause) {
  cut_unseen(a, b, cause);
  cut_unseen(b, a, cause);
}

void MemoryNetwork::cut_unseen(const std::string& a, const std::string& b,
                               const std::string& cause) {
  for (const auto& [transport, id] : ends_of(a, b)) transport->close(id, cause);
}

void MemoryNetwork::cut_seen_late(const std::string& a, const std::string& b, Duration later) {
  for (const auto& [transport, id] : ends_of(b, a)) {
    transport->later(later, [transport = transport, id = id] { transport->close(id, kCut); });
  }
  cut_unseen(a, b);
}

std::vector<std::pair<MemoryTransport*, ChannelId>> MemoryNetwork::ends_of(
    const std::string& a, const std::string& b) const {
  std::vector<std::pair<MemoryTransport*, ChannelId>> ends;
  for (const auto& [endpoint, transport] : endpoints_) {
    if (transport->self_.name != a) continue;
    std::vector<ChannelId> channels;
    for (const auto& [id, channel] : transport->channels_) {
      if (channel.identity.name == b) channels.push_back(id);
    }
    std::sort(channels.begin(), channels.end());
    for (const ChannelId id : channels) ends.emplace_back(transport, id);
  }
  return ends;
}

void MemoryNetwork::set_parted(const std::string& a, const std::string& b, bool parted) {
  if (parted) {
    parted_.insert(std::minmax(a, b));
  } else {
    parted_.erase(std::minmax(a, b));
  }
}

void MemoryNetwork::set_stalled(const std::string& from, const std::string& to, bool stalled) {
  if (stalled) {
    stalled_.insert({from, to});
    return;
  }
  stalled_.erase({from, to});
  flush(
      [&](const std::string& one, const std::string& other) { return one == from && other == to; });
}

void MemoryNetwork::flush(
    const std::function<bool(const std::string& from, const std::string& to)>& which) {
  for (const auto& [endpoint, transport] : endpoints_) {
    std::vector<ChannelId> stood;
    for (const auto& [id, channel] : transport->channels_) {
      const bool is_one = which(transport->self_.name, channel.identity.name);
      if (is_one && channel.peer != nullptr) stood.push_back(id);
    }
    std::sort(stood.begin(), stood.end());
    for (const ChannelId id : stood) transport->send_unsent(id);
  }
}

const std::string& MemoryNetwork::host_of(const PeerIdentity& who) const {
  static const std::string kHead;
  const auto found = hosts_.find(who.text());
  return found == hosts_.end() ? kHead : found->second;
}

bool MemoryNetwork::host_comes(const PeerIdentity& from, const PeerIdentity& to) const {
  if (deaf_.empty() && mute_.empty()) return true;
  const std::string& there = host_of(from);
  const std::string& here = host_of(to);
  return there == here || (!mute_.contains(there) && !deaf_.contains(here));
}

bool MemoryNetwork::comes(const PeerIdentity& from, const PeerIdentity& to) const {
  return !stalled_.contains({from.name, to.name}) && host_comes(from, to);
}

bool MemoryNetwork::apart(const PeerIdentity& a, const PeerIdentity& b) const {
  return !host_comes(a, b) || !host_comes(b, a);
}

void MemoryNetwork::set_isolated(const std::string& host, bool deaf, bool mute) {
  const auto set = [&](std::set<std::string>& hosts, bool there) {
    if (there) {
      hosts.insert(host);
    } else {
      hosts.erase(host);
    }
  };
  set(deaf_, deaf);
  set(mute_, mute);
  flush([](const std::string&, const std::string&) { return true; });
  std::vector<UnheardEnd> still;
  for (UnheardEnd& end : std::exchange(unheard_ends_, {})) {
    if (end.alive.expired()) continue;
    if (!comes(end.from, end.to->self_)) {
      still.push_back(std::move(end));
    } else {
      end.to->later(Duration(1), [to = end.to, channel = end.channel] {
        to->close(channel, std::string(kConnectionLost));
      });
    }
  }
  unheard_ends_ = std::move(still);
}

void MemoryNetwork::silence(const std::string& name) {
  for (const auto& [endpoint, transport] : endpoints_) {
    if (transport->self_.name == name) transport->silent_ = true;
  }
}

void MemoryNetwork::set_paused(const std::string& name, bool paused) {
  if (paused) {
    paused_.insert(name);
    return;
  }
  paused_.erase(name);
  for (const auto& [endpoint, transport] : endpoints_) {
    if (transport->self_.name != name) continue;
    const auto held = std::exchange(transport->held_, {});
    for (const auto& happens : held) happens();
  }
}

MemoryTransport::MemoryTransport(MemoryNetwork& network, PeerIdentity self, Credentials credentials)
    : network_(network), self_(std::move(self)), credentials_(std::move(credentials)) {}

MemoryTransport::~MemoryTransport() {
  network_.endpoints_.erase(endpoint_);
  for (auto& [id, channel] : channels_) {
    if (channel.peer == nullptr) continue;
    if (!network_.host_comes(self_, channel.peer->self_)) {
      network_.unheard_ends_.push_back(
          {self_, channel.peer, channel.peer->alive_, channel.peer_channel});
      continue;
    }
    // What is under way comes before.
    const Duration delay = arrival(channel, channel.peer->self_.name) - network_.loop().now();
    channel.peer->later(delay, [peer = channel.peer, id = channel.peer_channel] {
      peer->close(id, std::string(kConnectionLost));
    });
  }
  // Also of connections that only they still know.
  for (const auto& [endpoint, other] : network_.endpoints_) {
    for (auto& [id, channel] : other->channels_) {
      if (channel.peer == this) channel.peer = nullptr;
    }
  }
}

void MemoryTransport::later(Duration delay, std::function<void()> work) {
  network_.loop().after(delay, [alive = std::weak_ptr<bool>(alive_), work = std::move(work)] {
    if (!alive.expired()) work();
  });
}

Result<void> MemoryTransport::listen(Contact& self) {
  endpoint_ = "memory://" + self_.text();
  if (!network_.endpoints_.emplace(endpoint_, this).second) {
    return Error{Errc::already_exists, endpoint_ + " is in use"};
  }
  self.control_endpoint = self.data_endpoint = endpoint_;
  return {};
}

void MemoryTransport::admit(const Contact& peer) {
  admitted_[peer.identity.name] = peer;
  std::erase_if(announced_, [&](const Contact& next) {
    return next.identity.name == peer.identity.name &&
           next.identity.incarnation <= peer.identity.incarnation;
  });
}

void MemoryTransport::announce(const Contact& next) { announced_.push_back(next); }

bool MemoryTransport::lets_in(const PeerIdentity& peer, const std::string& public_key) const {
  const auto is_it = [&](const Contact& one) {
    return one.identity == peer && one.public_key == public_key;
  };
  const auto admitted = admitted_.find(peer.name);
  return (admitted != admitted_.end() && is_it(admitted->second)) ||
         std::ranges::any_of(announced_, is_it);
}

void MemoryTransport::revoke(const PeerIdentity& peer) {
  const auto found = admitted_.find(peer.name);
  if (found != admitted_.end() && found->second.identity == peer) admitted_.erase(found);
  for (auto& [id, channel] : channels_) {
    if (channel.identity == peer) channel.muted = true;
  }
}

Result<ChannelId> MemoryTransport::dial(Lane lane, const Contact& peer) {
  const ChannelId id = next_++;
  Channel& channel = channels_[id];
  channel.lane = lane;
  channel.identity = peer.identity;
  const std::string& endpoint = lane == Lane::control ? peer.control_endpoint : peer.data_endpoint;
  const Time gives_up = network_.loop().now() + kConnectTimeout;
  later(Duration(1), [this, id, endpoint, gives_up] { connect(id, endpoint, gives_up); });
  return id;
}

void MemoryTransport::connect(ChannelId id, const std::string& endpoint, Time gives_up) {
  const auto mine = channels_.find(id);
  if (mine == channels_.end()) return;
  // What is said to a host that is not reached is said again, for a while.
  const PeerIdentity& to = mine->second.identity;
  if (network_.parted_.contains(std::minmax(self_.name, to.name)) || network_.apart(self_, to)) {
    if (network_.loop().now() >= gives_up) {
      close(id, "no answer from " + endpoint);
    } else {
      later(kConnectAgain, [this, id, endpoint, gives_up] { connect(id, endpoint, gives_up); });
    }
    return;
  }
  const auto found = network_.endpoints_.find(endpoint);
  if (found == network_.endpoints_.end()) {
    close(id, "nobody listens at " + endpoint);
    return;
  }
  MemoryTransport& peer = *found->second;
  if (!peer.lets_in(self_, credentials_.public_key)) {
    ++peer.counters_.authentication_denials;
    peer.events_->noticed(self_.text() + " was denied");
    close(id, "denied", true);
    return;
  }
  const ChannelId theirs = peer.next_++;
  Channel& accepted = peer.channels_[theirs];
  accepted.lane = mine->second.lane;
  accepted.peer = this;
  accepted.peer_channel = id;
  accepted.identity = self_;
  mine->second.peer = &peer;
  mine->second.peer_channel = theirs;
  send_unsent(id);
}

void MemoryTransport::send_unsent(ChannelId id) {
  Channel& channel = channels_.at(id);
  if (!network_.comes(self_, channel.identity)) return;
  auto unsent = std::exchange(channel.unsent, {});
  for (Message& message : unsent) transmit(id, std::move(message));
}

Result<void> MemoryTransport::send(ChannelId id, std::span<const OutFrame> frames) {
  const auto found = channels_.find(id);
  if (found == channels_.end()) return Error{Errc::actor_down, "no such connection"};
  const auto lane = static_cast<std::size_t>(found->second.lane);
  STERNA_TRY(check_message(frames, kMaxFrameBytes[lane]));
  if (silent_) return {};
  Message message;
  for (const OutFrame& frame : frames) message.push_back(copy_bytes(frame.view));
  const std::string& to = found->second.identity.name;
  if (network_.on_message_) network_.on_message_(self_.name, to, message);
  if (found->second.peer == nullptr || !network_.comes(self_, found->second.identity)) {
    found->second.unsent.push_back(std::move(message));
  } else {
    transmit(id, std::move(message));
  }
  return {};
}

Time MemoryTransport::arrival(Channel& channel, const std::string& to) {
  const Duration delay = network_.delay_ ? network_.delay_(self_.name, to) : Duration(1000);
  channel.last_arrival = std::max(network_.loop().now() + delay, channel.last_arrival);
  return channel.last_arrival;
}

void MemoryTransport::transmit(ChannelId id, Message message) {
  Channel& channel = channels_.at(id);
  MemoryTransport* peer = channel.peer;
  const Duration delay = arrival(channel, peer->self_.name) - network_.loop().now();
  peer->later(delay, [peer, theirs = channel.peer_channel, message = std::move(message)]() mutable {
    peer->arrive(theirs, std::move(message));
  });
}

void MemoryTransport::arrive(ChannelId id, Message message) {
  if (network_.paused_.contains(self_.name)) {
    held_.emplace_back([this, id, message = std::move(message)] { deliver(id, message); });
  } else {
    deliver(id, message);
  }
}

void MemoryTransport::deliver(ChannelId id, const Message& message) {
  const auto found = channels_.find(id);
  if (found == channels_.end()) return;
  if (found->second.muted) {
    ++counters_.muted_messages;
    return;
  }
  OwnedMessage received(message);
  const PeerIdentity from = found->second.identity;
  events_->received(id, found->second.lane, from, received);
}

void MemoryTransport::close(ChannelId id, const std::string& cause, bool denied) {
  if (network_.paused_.contains(self_.name)) {
    held_.emplace_back([this, id, cause, denied] { close_now(id, cause, denied); });
  } else {
    close_now(id, cause, denied);
  }
}

void MemoryTransport::close_now(ChannelId id, const std::string& cause, bool denied) {
  if (channels_.erase(id) == 0) return;
  ++counters_.disconnects;
  events_->closed(id, cause, denied);
}

void MemoryTransport::mute(ChannelId id) {
  const auto found = channels_.find(id);
  if (found != channels_.end()) found->second.muted = true;
}

}  // namespace sterna
