#include "tests/end_to_end/raw_peer.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>
#include <zmq.h>

namespace sterna::test {

namespace {

void set(void* socket, int option, int value) {
  EXPECT_EQ(zmq_setsockopt(socket, option, &value, sizeof value), 0) << zmq_strerror(zmq_errno());
}

void set(void* socket, int option, const std::string& value) {
  EXPECT_EQ(zmq_setsockopt(socket, option, value.data(), value.size()), 0)
      << zmq_strerror(zmq_errno());
}

}  // namespace

Frames frames_of(const Header& header, const Mail& mail) {
  EnvelopeEncoder encoder;
  Frames frames;
  const auto write = [&](auto& envelope, WireWriter& writer) {
    mail.encode_body(envelope, writer);
  };
  const auto encoded = encoder.encode_unchecked(header, write);
  for (const OutFrame& frame : encoded.value()) {
    frames.emplace_back(reinterpret_cast<const char*>(frame.view.data()), frame.view.size());
  }
  return frames;
}

RawPeer::RawPeer() : context_(zmq_ctx_new()) {}

RawPeer::~RawPeer() {
  for (void* socket : sockets_) zmq_close(socket);
  zmq_ctx_term(context_);
}

void RawPeer::dial(const Contact& to, Lane lane, const Proof& proof) {
  void* socket = zmq_socket(context_, ZMQ_DEALER);
  sockets_.push_back(socket);
  set(socket, ZMQ_LINGER, 0);
  set(socket, ZMQ_RECONNECT_IVL, -1);
  set(socket, ZMQ_SNDHWM, 0);
  const std::string& endpoint = lane == Lane::control ? to.control_endpoint : to.data_endpoint;
  if (!proof.user.empty() && endpoint.starts_with("tcp")) {
    set(socket, ZMQ_CURVE_SERVERKEY, to.public_key);
    set(socket, ZMQ_CURVE_PUBLICKEY, proof.credentials.public_key);
    set(socket, ZMQ_CURVE_SECRETKEY, proof.credentials.secret_key);
  } else if (!proof.user.empty()) {
    set(socket, ZMQ_PLAIN_USERNAME, proof.user);
    set(socket, ZMQ_PLAIN_PASSWORD, proof.credentials.token);
  }
  EXPECT_EQ(zmq_connect(socket, endpoint.c_str()), 0) << zmq_strerror(zmq_errno());
}

void RawPeer::send(const Frames& frames) {
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const int flags = ZMQ_DONTWAIT | (i + 1 < frames.size() ? ZMQ_SNDMORE : 0);
    // A connection that is refused takes nothing, which is as it should be.
    if (zmq_send(sockets_.back(), frames[i].data(), frames[i].size(), flags) < 0) return;
  }
}

void RawPeer::hear() {
  set(sockets_.back(), ZMQ_RCVTIMEO, 10'000);
  char byte = 0;
  EXPECT_GE(zmq_recv(sockets_.back(), &byte, sizeof byte, 0), 0) << zmq_strerror(zmq_errno());
}

// ---- ZMTP by hand (rfc.zeromq.org/spec/23 and 24) ----

RawConnection::RawConnection(const std::string& ipc_endpoint, const Proof& proof)
    : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ipc_endpoint.substr(std::string("ipc://").size()).copy(address.sun_path, sizeof address.sun_path);
  EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const timeval patience{10, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);

  constexpr std::size_t kGreeting = 64;
  constexpr std::size_t kMechanismAt = 12;
  std::string greeting(kGreeting, '\0');
  greeting.replace(0, 1, "\xff").replace(9, 2, "\x7f\x03");
  greeting.replace(kMechanismAt, 5, "PLAIN");
  write(greeting);
  read(kGreeting);
  const auto short_text = [](const std::string& text) {
    return static_cast<char>(text.size()) + text;
  };
  command("HELLO", short_text(proof.user) + short_text(proof.credentials.token));
  read(2 + 1 + 7);  // WELCOME
  command("INITIATE", short_text("Socket-Type") + std::string("\0\0\0\6", 4) + "DEALER");
  char head[2] = {};
  EXPECT_EQ(::recv(socket_, head, sizeof head, MSG_WAITALL), 2);
  read(static_cast<unsigned char>(head[1]));  // READY
}

RawConnection::~RawConnection() { ::close(socket_); }

void RawConnection::write(const std::string& bytes) {
  EXPECT_EQ(::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
}

void RawConnection::read(std::size_t bytes) {
  std::string ignored(bytes, '\0');
  EXPECT_EQ(::recv(socket_, ignored.data(), bytes, MSG_WAITALL), static_cast<ssize_t>(bytes));
}

void RawConnection::command(const std::string& name, const std::string& body) {
  const std::string all = static_cast<char>(name.size()) + name + body;
  write(std::string("\x04") + static_cast<char>(all.size()) + all);
}

void RawConnection::send_frame(const std::string& bytes, bool more) {
  std::string frame(1, static_cast<char>(more ? 3 : 2));  // long; more follow
  for (int shift = 56; shift >= 0; shift -= 8) {
    frame += static_cast<char>(bytes.size() >> static_cast<unsigned>(shift));
  }
  write(frame + bytes);
}

}  // namespace sterna::test
