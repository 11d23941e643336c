// MemoryNetwork: a transport between simulated processes. It carries the same frames as the real
// one and lets a test choose each message's delay, cut links, and stop a receiver from reading.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/sim/sim_loop.h"
#include "runtime/transport/transport.h"

namespace sterna {

class MemoryTransport;

class MemoryNetwork {
 public:
  static constexpr const char* kCut = "the connection was cut";

  explicit MemoryNetwork(SimLoop& loop) : loop_(loop) {}

  /// The one-way delay of the next message; messages of one channel never overtake each other.
  void set_delay(std::function<Duration(const std::string& from, const std::string& to)> delay) {
    delay_ = std::move(delay);
  }
  /// Breaks every connection between two processes (by name), which hear of that cause; new ones
  /// may be made.
  void cut(const std::string& a, const std::string& b, const std::string& cause = kCut);
  /// The same, but only `a` sees it.
  void cut_unseen(const std::string& a, const std::string& b, const std::string& cause = kCut);
  /// The same, and `b` sees it `later`; what is made meanwhile is not touched.
  void cut_seen_late(const std::string& a, const std::string& b, Duration later);
  /// While parted, they make no new ones: who dials gets no answer until it gives up.
  void set_parted(const std::string& a, const std::string& b, bool parted);
  /// While stalled, what `from` says does not come to `to`; all of it comes afterwards, in order.
  void set_stalled(const std::string& from, const std::string& to, bool stalled);
  /// That process is there; nobody else's host can be isolated.
  void place(const PeerIdentity& who, std::string host) { hosts_[who.text()] = std::move(host); }
  void place_beside(const PeerIdentity& who, const PeerIdentity& other) {
    place(who, host_of(other));
  }
  /// While so, what is said on other hosts does not come to that one (`deaf`), or what is said
  /// there does not come to others (`mute`), ends of connections included, and none is made. What
  /// was sent comes afterwards, in order.
  void set_isolated(const std::string& host, bool deaf, bool mute);
  /// Where it is; "": nowhere in particular, as the launcher.
  const std::string& host_of(const PeerIdentity& who) const;
  /// Whether that one's host is cut off from the other's, at least one way.
  bool apart(const PeerIdentity& a, const PeerIdentity& b) const;
  /// Hears of each message as it is sent.
  using OnMessage = std::function<void(const std::string& from, const std::string& to,
                                       const std::vector<Bytes>& frames)>;
  void set_on_message(OnMessage hook) { on_message_ = std::move(hook); }
  /// The process of that name says no more: it was killed.
  void silence(const std::string& name);
  /// While paused, what arrives for `name` waits, also that a connection is gone: a process that
  /// was stopped, or is stuck.
  void set_paused(const std::string& name, bool paused);

  SimLoop& loop() { return loop_; }

 private:
  friend class MemoryTransport;
  /// The ends that `a` has of its connections with `b`, oldest first.
  std::vector<std::pair<MemoryTransport*, ChannelId>> ends_of(const std::string& a,
                                                              const std::string& b) const;
  /// What `from` says now comes to `to`.
  bool comes(const PeerIdentity& from, const PeerIdentity& to) const;
  bool host_comes(const PeerIdentity& from, const PeerIdentity& to) const;
  void flush(const std::function<bool(const std::string& from, const std::string& to)>& which);

  /// That a connection has ended, where nobody there can hear it.
  struct UnheardEnd {
    PeerIdentity from;
    MemoryTransport* to;
    std::weak_ptr<bool> alive;
    ChannelId channel;
  };
  SimLoop& loop_;
  std::function<Duration(const std::string&, const std::string&)> delay_;
  std::map<std::string, MemoryTransport*> endpoints_;  // by endpoint
  std::unordered_set<std::string> paused_;
  std::set<std::pair<std::string, std::string>> parted_;   // the lower name first
  std::set<std::pair<std::string, std::string>> stalled_;  // from, to
  std::map<std::string, std::string> hosts_;               // by identity
  std::set<std::string> deaf_;                             // hosts
  std::set<std::string> mute_;
  std::vector<UnheardEnd> unheard_ends_;
  OnMessage on_message_;
};

class MemoryTransport final : public Transport {
 public:
  MemoryTransport(MemoryNetwork& network, PeerIdentity self, Credentials credentials);
  ~MemoryTransport() override;

  void set_events(Events& events) override { events_ = &events; }
  Result<void> listen(Contact& self) override;
  void admit(const Contact& peer) override;
  void announce(const Contact& next) override;
  void revoke(const PeerIdentity& peer) override;
  Result<ChannelId> dial(Lane lane, const Contact& peer) override;
  Result<void> send(ChannelId channel, std::span<const OutFrame> frames) override;
  void mute(ChannelId channel) override;
  const TransportCounters& counters() const override { return counters_; }

 private:
  friend class MemoryNetwork;
  using Message = std::vector<Bytes>;
  /// One end of a connection.
  struct Channel {
    Lane lane = Lane::control;
    MemoryTransport* peer = nullptr;  // null until the handshake has arrived
    ChannelId peer_channel = 0;
    PeerIdentity identity;
    Time last_arrival{};
    bool muted = false;
    std::deque<Message> unsent;  // before the handshake, or while it is stalled
  };

  void transmit(ChannelId channel, Message message);
  void arrive(ChannelId channel, Message message);
  void deliver(ChannelId channel, const Message& message);
  void connect(ChannelId channel, const std::string& endpoint, Time gives_up);
  bool lets_in(const PeerIdentity& peer, const std::string& public_key) const;
  void close(ChannelId channel, const std::string& cause, bool denied = false);
  void close_now(ChannelId channel, const std::string& cause, bool denied);
  void send_unsent(ChannelId channel);
  void later(Duration delay, std::function<void()> work);
  Time arrival(Channel& channel, const std::string& to);

  MemoryNetwork& network_;
  PeerIdentity self_;
  Credentials credentials_;
  Events* events_ = nullptr;
  std::unordered_map<ChannelId, Channel> channels_;
  std::map<std::string, Contact> admitted_;
  std::vector<Contact> announced_;
  std::deque<std::function<void()>> held_;  // what happens when it is no longer paused
  std::string endpoint_;
  ChannelId next_ = 1;
  TransportCounters counters_;
  bool silent_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sterna
