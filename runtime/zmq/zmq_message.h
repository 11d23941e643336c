// Messages at the border to libzmq: received frames that can be kept, and sending without copies.
#pragma once

#include <zmq.h>

#include <array>
#include <memory>
#include <span>
#include <string_view>

#include "runtime/transport/message_limits.h"
#include "runtime/zmq/zmq_socket.h"

namespace sterna {

/// One message received from a ROUTER, reused for the next so that its slots are set up only once.
class ZmqMessage final : public InMessage {
 public:
  ZmqMessage();
  ~ZmqMessage();
  ZmqMessage(const ZmqMessage&) = delete;
  ZmqMessage& operator=(const ZmqMessage&) = delete;

  /// Receives one whole message if there is one, however many frames it has.
  bool receive(const ZmqSocket& socket);
  /// Gives the frames back. Frames that were kept live on.
  void release();

  /// The connection it came over, as the ROUTER names it.
  std::string_view routing_id();
  /// The descriptor of the connection it came over; -1 if unknown.
  int descriptor();
  /// True if every frame came from the peer that authenticated as `user`.
  bool all_from(std::string_view user);
  /// Who authenticated; empty where the transport knows by itself (the dialling side).
  std::string_view user();
  std::size_t bytes() const { return bytes_; }

  /// None if there were too many: such a message can be refused, not read.
  std::size_t frames() const override { return overflow_ ? 0 : count_; }
  ByteView frame(std::size_t index) const override;
  Bytes keep(std::size_t index) override;

 private:
  bool receive_frame(const ZmqSocket& socket, zmq_msg_t& frame);

  zmq_msg_t routing_id_;
  mutable std::array<zmq_msg_t, kMostFrames> frames_;
  std::array<Bytes, kMostFrames> kept_;
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
  bool overflow_ = false;
  bool any_kept_ = false;
};

/// Sends one message to `routing_id`, whole or not at all. Frames with an owner and at least 64 KB
/// are sent in place; the owner is let go on an I/O thread once they are out.
Result<void> send_message(const ZmqSocket& socket, std::string_view routing_id,
                          std::span<const OutFrame> frames);

}  // namespace sterna
