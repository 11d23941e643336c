// Transport: carries multi-frame messages between processes, on two lanes, and says who sent them.
//
// The lowest seam: no sessions, no sequence numbers, no credits (links add them), so the ZeroMQ
// transport and the in-memory one carry the same frames. Loop thread only. What it must guarantee:
// messages of one channel arrive whole, in order, at most once, from the peer that authenticated.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/base/result.h"

namespace sterna {

/// Small messages go on `control`, never behind the large ones on `data`.
enum class Lane : std::uint8_t { control, data };
constexpr int kLanes = 2;

/// One lane's connection to one peer. Transport-local, never reused, never 0.
using ChannelId = std::uint64_t;

/// Who a peer proved to be: a process's name and incarnation, "name#incarnation" in logs.
struct PeerIdentity {
  std::string name;
  std::uint64_t incarnation = 0;
  friend bool operator==(const PeerIdentity&, const PeerIdentity&) = default;
  std::string text() const { return name + "#" + std::to_string(incarnation); }
};

/// Where and how a process can be reached. Secrets are not in here.
struct Contact {
  std::uint64_t process = 0;
  PeerIdentity identity;
  std::string control_endpoint;  ///< "ipc://..." or "tcp://host:port"; empty if it does not listen
  std::string data_endpoint;
  std::string public_key;  ///< CURVE, Z85 (40 characters); empty without CURVE
  std::string token_hash;  ///< hex of the hash of its ipc token; what an acceptor checks
  /// Drawn by the node whose processes also reach each other over ipc; 0: it does not listen there.
  std::uint64_t neighbourhood = 0;
};

/// A process's own secrets: issued per task and incarnation, never on argv or in the environment.
struct Credentials {
  std::string public_key;  ///< Z85
  std::string secret_key;  ///< Z85
  std::string token;       ///< for ipc
};

/// A frame to send. Copied unless `owner` is set; then sent in place, kept alive until it is out.
struct OutFrame {
  ByteView view;
  std::shared_ptr<const void> owner;
};

/// A received message. Valid during Events::received; keep() makes a frame outlive it. frames() is
/// 0 where it had more than 64, which no message of ours has: such a one can be refused, not read.
class InMessage {
 public:
  virtual std::size_t frames() const = 0;
  virtual ByteView frame(std::size_t index) const = 0;
  virtual Bytes keep(std::size_t index) = 0;

 protected:
  ~InMessage() = default;
};

/// The cause of the end of a connection of which only that much is known; each end may have it.
constexpr std::string_view kConnectionLost =
    "connection lost (the peer ended or was started again, or it sent an oversized frame)";

/// What a transport counted; each is also one log line per peer.
struct TransportCounters {
  std::uint64_t authentication_denials = 0;  ///< no valid key or token, or another incarnation's
  std::uint64_t handshake_failures = 0;
  std::uint64_t disconnects = 0;
  std::uint64_t muted_messages = 0;
};

class Transport {
 public:
  class Events {
   public:
    /// A message from an authenticated peer. The first one on a new channel introduces the channel.
    virtual void received(ChannelId channel, Lane lane, const PeerIdentity& from,
                          InMessage& message) = 0;
    /// The channel is gone; nothing more arrives on it and sends fail. `denied`: the peer does not
    /// let us in, and would not the next time.
    virtual void closed(ChannelId channel, std::string_view cause, bool denied) = 0;
    /// One line worth logging about a peer (denied, handshake failed, ...).
    virtual void noticed(std::string_view line) = 0;

   protected:
    ~Events() = default;
  };

  virtual ~Transport() = default;

  /// Must be called once, before anything else.
  virtual void set_events(Events& events) = 0;
  /// Binds both lanes; fills in the endpoints of `self` by which others reach it.
  virtual Result<void> listen(Contact& self) = 0;
  /// Lets this peer in when it dials (its key or token hash), replacing lower incarnations of it.
  virtual void admit(const Contact& peer) = 0;
  /// Lets `next` in, too, when it dials, beside the lower incarnation that is there: until it is
  /// admitted itself, or one above it is.
  virtual void announce(const Contact& next) = 0;
  /// Stops letting in and hearing `peer` (an identity, all its channels).
  virtual void revoke(const PeerIdentity& peer) = 0;
  /// Starts a connection; messages sent on it wait for the handshake. Failure shows as closed().
  virtual Result<ChannelId> dial(Lane lane, const Contact& peer) = 0;
  /// Sends one message whole, or nothing. Never blocks. invalid_argument: no channel takes such a
  /// message; any other error: this channel takes none any more, and closed() follows if it has not
  /// been called.
  virtual Result<void> send(ChannelId channel, std::span<const OutFrame> frames) = 0;
  /// Drops what still arrives on the channel (a ROUTER cannot disconnect one peer) and forgets it.
  virtual void mute(ChannelId channel) = 0;
  virtual const TransportCounters& counters() const = 0;
};

}  // namespace sterna
