#include "runtime/sim/memory_network.h"

#include <algorithm>

namespace sterna {

namespace {

/// A received message whose frames already own their bytes.
class MemoryMessage final : public InMessage {
 public:
  explicit MemoryMessage(const std::vector<Bytes>& frames) : frames_(frames) {}
  std::size_t frames() const override { return frames_.size(); }
  ByteView frame(std::size_t index) const override { return frames_[index].view(); }
  Bytes keep(std::size_t index) override { return frames_[index]; }

 private:
  const std::vector<Bytes>& frames_;
};

}  // namespace

void MemoryNetwork::cut(const std::string& a, const std::string& b) {
  cut_unseen(a, b);
  cut_unseen(b, a);
}

void MemoryNetwork::cut_unseen(const std::string& a, const std::string& b) {
  for (const auto& [endpoint, transport] : endpoints_) {
    if (transport->self_.name != a) continue;
    std::vector<ChannelId> broken;
    for (const auto& [id, channel] : transport->channels_) {
      if (channel.identity.name == b) broken.push_back(id);
    }
    std::sort(broken.begin(), broken.end());
    for (const ChannelId id : broken) transport->close(id, "the connection was cut");
  }
}

void MemoryNetwork::set_parted(const std::string& a, const std::string& b, bool parted) {
  if (parted) {
    parted_.insert(std::minmax(a, b));
  } else {
    parted_.erase(std::minmax(a, b));
  }
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
    auto held = std::exchange(transport->held_, {});
    for (auto& [channel, message] : held) transport->deliver(channel, message);
  }
}

MemoryTransport::MemoryTransport(MemoryNetwork& network, PeerIdentity self, Credentials credentials)
    : network_(network), self_(std::move(self)), credentials_(std::move(credentials)) {}

MemoryTransport::~MemoryTransport() {
  network_.endpoints_.erase(endpoint_);
  for (auto& [id, channel] : channels_) {
    if (channel.peer == nullptr) continue;
    // What is under way comes before.
    const Duration delay = arrival(channel, channel.peer->self_.name) - network_.loop().now();
    channel.peer->later(delay, [peer = channel.peer, id = channel.peer_channel] {
      peer->close(id, "the peer is gone");
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

void MemoryTransport::admit(const Contact& peer) { admitted_[peer.identity.name] = peer; }

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
  later(Duration(1), [this, id, endpoint] { connect(id, endpoint); });
  return id;
}

void MemoryTransport::connect(ChannelId id, const std::string& endpoint) {
  const auto mine = channels_.find(id);
  if (mine == channels_.end()) return;
  const auto found = network_.endpoints_.find(endpoint);
  const bool parted =
      network_.parted_.contains(std::minmax(self_.name, mine->second.identity.name));
  if (parted || found == network_.endpoints_.end()) {
    close(id, "nobody listens at " + endpoint);
    return;
  }
  MemoryTransport& peer = *found->second;
  const auto admitted = peer.admitted_.find(self_.name);
  if (admitted == peer.admitted_.end() || admitted->second.identity != self_ ||
      admitted->second.public_key != credentials_.public_key) {
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
  auto unsent = std::exchange(mine->second.unsent, {});
  for (Message& message : unsent) transmit(id, std::move(message));
}

Result<void> MemoryTransport::send(ChannelId id, std::span<const OutFrame> frames) {
  const auto found = channels_.find(id);
  if (found == channels_.end()) return Error{Errc::actor_down, "no such connection"};
  if (silent_) return {};
  Message message;
  for (const OutFrame& frame : frames) message.push_back(copy_bytes(frame.view));
  if (found->second.peer == nullptr) {
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
    held_.emplace_back(id, std::move(message));
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
  MemoryMessage received(message);
  const PeerIdentity from = found->second.identity;
  events_->received(id, found->second.lane, from, received);
}

void MemoryTransport::close(ChannelId id, const std::string& cause, bool denied) {
  if (channels_.erase(id) == 0) return;
  ++counters_.disconnects;
  events_->closed(id, cause, denied);
}

void MemoryTransport::mute(ChannelId id) {
  const auto found = channels_.find(id);
  if (found != channels_.end()) found->second.muted = true;
}

}  // namespace sterna
