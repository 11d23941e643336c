// RawPeer: a peer that speaks to a process through bare libzmq sockets, and so may say what no
// transport of ours would: nothing valid, too much, or what is not its to say.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/message/message.h"
#include "runtime/transport/transport.h"

namespace sterna::test {

using Frames = std::vector<std::string>;

/// Frames as a link would send them.
Frames frames_of(const Header& header, const Mail& mail);
template <Message M>
Frames frames_of(Header header, M message) {
  header.type_id = type_id_of<M>();
  return frames_of(header, MessageMail<M>(std::move(message)));
}

/// How a peer proves who it is. Without a user it does not even try.
struct Proof {
  std::string user;  ///< "name#incarnation", as said over ipc
  Credentials credentials;
};

class RawPeer {
 public:
  RawPeer();
  ~RawPeer();
  RawPeer(const RawPeer&) = delete;
  RawPeer& operator=(const RawPeer&) = delete;

  /// Opens a connection to one lane of `to`; what is sent next goes there.
  void dial(const Contact& to, Lane lane, const Proof& proof);
  void send(const Frames& frames);
  /// Waits for a message, at most some seconds.
  void hear();

 private:
  void* context_;
  std::vector<void*> sockets_;
};

/// A connection over a bare ipc socket, ZMTP 3 spoken by hand: libzmq sends no half messages.
class RawConnection {
 public:
  /// Shakes hands (PLAIN); blocks, at most some seconds.
  RawConnection(const std::string& ipc_endpoint, const Proof& proof);
  ~RawConnection();
  RawConnection(const RawConnection&) = delete;
  RawConnection& operator=(const RawConnection&) = delete;
  void send_frame(const std::string& bytes, bool more);

 private:
  void write(const std::string& bytes);
  void read(std::size_t bytes);
  void command(const std::string& name, const std::string& body);
  int socket_ = -1;
};

}  // namespace sterna::test
