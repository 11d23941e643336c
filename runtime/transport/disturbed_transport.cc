#include "runtime/transport/disturbed_transport.h"

#include <algorithm>
#include <utility>

#include "runtime/transport/owned_message.h"

namespace sterna {

namespace {

/// In one turn; the loop has others to serve.
constexpr int kMostInTurn = 256;
}  // namespace

DisturbedTransport::DisturbedTransport(std::unique_ptr<Transport> network, Loop& loop,
                                       std::size_t most_held)
    : network_(std::move(network)), loop_(loop), most_held_(most_held) {
  loop_.add(*this);
}

DisturbedTransport::~DisturbedTransport() { loop_.remove(*this); }

void DisturbedTransport::set_events(Transport::Events& events) {
  events_ = &events;
  network_->set_events(*this);
}

void DisturbedTransport::delay(Duration by, Duration lasts) {
  delay_ = by;
  delays_until_ = loop_.now() + lasts;
}

void DisturbedTransport::drop(Duration lasts) {
  drops_until_ = std::max(drops_until_, loop_.now() + lasts);
}

void DisturbedTransport::revoke(const PeerIdentity& peer) {
  std::erase_if(held_, [&](const Held& held) {
    if (held.end || held.from != peer) return false;
    held_bytes_ -= held.bytes;
    return true;
  });
  network_->revoke(peer);
}

void DisturbedTransport::mute(ChannelId channel) {
  std::erase_if(held_, [&](const Held& held) {
    if (held.channel != channel) return false;
    held_bytes_ -= held.bytes;
    return true;
  });
  network_->mute(channel);
}

void DisturbedTransport::received(ChannelId channel, Lane lane, const PeerIdentity& from,
                                  InMessage& message) {
  if (drops_until_ == Time{} && delays_until_ == Time{}) {
    return events_->received(channel, lane, from, message);
  }
  const Time now = loop_.now();
  if (now < drops_until_ || held_bytes_ > most_held_) {
    ++dropped_;
    return;
  }
  if (!holds_back(now)) return events_->received(channel, lane, from, message);
  Held held{.due = {}, .channel = channel, .lane = lane, .from = from, .frames = {}, .end = {}};
  for (std::size_t i = 0; i < message.frames(); ++i) {
    held.frames.push_back(message.keep(i));
    held.bytes += held.frames.back().view().size();
  }
  hold(std::move(held), now);
}

void DisturbedTransport::closed(ChannelId channel, std::string_view cause, bool denied) {
  const Time now = loop_.now();
  if (!holds_back(now)) return events_->closed(channel, cause, denied);
  Held held{.due = {}, .channel = channel, .from = {}, .frames = {}, .end = {}};
  held.end = End{std::string(cause), denied};
  hold(std::move(held), now);
}

/// Behind what is held already, also where the delay is shorter by now.
void DisturbedTransport::hold(Held held, Time now) {
  held.due = now < delays_until_ ? now + delay_ : now;
  if (!held_.empty()) held.due = std::max(held.due, held_.back().due);
  held_bytes_ += held.bytes;
  held_.push_back(std::move(held));
}

void DisturbedTransport::turn() {
  for (int i = 0; i < kMostInTurn && ready(); ++i) {
    // Out of the queue before anybody hears of it: who does may mute the channel.
    const Held held = std::move(held_.front());
    held_.pop_front();
    held_bytes_ -= held.bytes;
    if (held.end) {
      events_->closed(held.channel, held.end->cause, held.end->denied);
    } else {
      OwnedMessage message(held.frames);
      events_->received(held.channel, held.lane, held.from, message);
    }
  }
}

}  // namespace sterna
