// DisturbedTransport: a transport whose network can be made a bad one on purpose, to inject a
// fault: for a while all that arrives is held back for some time, or is thrown away.
//
// It sits under the links, so what comes late or not at all is theirs to mend, as with any network.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/loop/loop.h"
#include "runtime/transport/transport.h"

namespace sterna {

class DisturbedTransport final : public Transport, private Transport::Events, private Loop::Source {
 public:
  /// Bytes that are held back at a time; what comes beyond is thrown away. Few peers that keep to
  /// their credit come near it.
  static constexpr std::size_t kMostHeld = 512U << 20;

  /// `loop` must outlive it.
  DisturbedTransport(std::unique_ptr<Transport> network, Loop& loop,
                     std::size_t most_held = kMostHeld);
  ~DisturbedTransport() override;

  /// For `lasts` from now, what arrives comes `by` later, in its order, ends of channels too.
  void delay(Duration by, Duration lasts);
  /// For `lasts` from now, messages that arrive are thrown away.
  void drop(Duration lasts);
  /// Messages that were thrown away.
  std::uint64_t dropped() const { return dropped_; }

  void set_events(Transport::Events& events) override;
  Result<void> listen(Contact& self) override { return network_->listen(self); }
  void admit(const Contact& peer) override { network_->admit(peer); }
  void announce(const Contact& next) override { network_->announce(next); }
  void revoke(const PeerIdentity& peer) override;
  Result<ChannelId> dial(Lane lane, const Contact& peer) override {
    return network_->dial(lane, peer);
  }
  Result<void> send(ChannelId channel, std::span<const OutFrame> frames) override {
    return network_->send(channel, frames);
  }
  void mute(ChannelId channel) override;
  const TransportCounters& counters() const override { return network_->counters(); }

 private:
  struct End {
    std::string cause;
    bool denied = false;
  };
  /// A message, or the end of its channel.
  struct Held {
    Time due;
    ChannelId channel = 0;
    Lane lane = Lane::control;
    PeerIdentity from;
    std::vector<Bytes> frames;
    std::size_t bytes = 0;
    std::optional<End> end;
  };

  void received(ChannelId channel, Lane lane, const PeerIdentity& from,
                InMessage& message) override;
  void closed(ChannelId channel, std::string_view cause, bool denied) override;
  void noticed(std::string_view line) override { events_->noticed(line); }
  void turn() override;
  bool ready() override { return !held_.empty() && held_.front().due <= loop_.now(); }
  Time next_deadline() override { return held_.empty() ? kNever : held_.front().due; }

  bool holds_back(Time now) const { return now < delays_until_ || !held_.empty(); }
  void hold(Held held, Time now);

  std::unique_ptr<Transport> network_;
  Loop& loop_;
  std::size_t most_held_;
  Transport::Events* events_ = nullptr;
  Time drops_until_;
  Time delays_until_;
  Duration delay_{};
  std::deque<Held> held_;  // the due times do not fall
  std::size_t held_bytes_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace sterna
