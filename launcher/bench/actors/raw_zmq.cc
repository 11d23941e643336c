#include "launcher/bench/actors/raw_zmq.h"

#include <zmq.h>

#include <algorithm>
#include <array>
#include <vector>

namespace sterna::launcher {

namespace {

constexpr int kPollMs = 100;      // how soon the server notices that it should stop
constexpr int kAnswerMs = 10000;  // a peer that is silent for so long is dead

Error zmq_error(const std::string& what) {
  return Error{Errc::io, what + ": " + zmq_strerror(zmq_errno())};
}

bool set(void* socket, int option, int value) {
  return zmq_setsockopt(socket, option, &value, sizeof value) == 0;
}

/// Sends back what came: the routing id frame, then the body.
bool send_back(void* socket) {
  zmq_msg_t frame;
  zmq_msg_init(&frame);
  while (true) {
    if (zmq_msg_recv(&frame, socket, 0) < 0) return false;
    const bool more = zmq_msg_more(&frame) != 0;
    if (zmq_msg_send(&frame, socket, more ? ZMQ_SNDMORE : 0) < 0) {
      zmq_msg_close(&frame);
      return false;
    }
    if (!more) return true;
  }
}

struct Sockets {
  void* context = zmq_ctx_new();
  std::vector<void*> dealers;
  Sockets() = default;
  Sockets(const Sockets&) = delete;
  Sockets& operator=(const Sockets&) = delete;
  ~Sockets() {
    for (void* dealer : dealers) zmq_close(dealer);
    zmq_ctx_term(context);
  }
  Result<void> connect(const DriveRaw& drive) {
    for (std::size_t i = 0; i < drive.endpoints.size(); ++i) {
      void* dealer = zmq_socket(context, ZMQ_DEALER);
      dealers.push_back(dealer);
      set(dealer, ZMQ_LINGER, 0);
      set(dealer, ZMQ_RCVTIMEO, kAnswerMs);
      set(dealer, ZMQ_SNDTIMEO, kAnswerMs);
      if (!drive.server_keys.empty()) {
        std::array<char, 41> open{};
        std::array<char, 41> secret{};
        zmq_curve_keypair(open.data(), secret.data());
        zmq_setsockopt(dealer, ZMQ_CURVE_SERVERKEY, drive.server_keys[i].c_str(), 41);
        zmq_setsockopt(dealer, ZMQ_CURVE_PUBLICKEY, open.data(), 41);
        zmq_setsockopt(dealer, ZMQ_CURVE_SECRETKEY, secret.data(), 41);
      }
      if (zmq_connect(dealer, drive.endpoints[i].c_str()) != 0) {
        return zmq_error("cannot connect to " + drive.endpoints[i]);
      }
    }
    return {};
  }
};

}  // namespace

Result<std::unique_ptr<RawEchoServer>> RawEchoServer::start(const std::string& endpoint,
                                                            bool curve) {
  std::unique_ptr<RawEchoServer> server(new RawEchoServer);
  server->context_ = zmq_ctx_new();
  server->socket_ = zmq_socket(server->context_, ZMQ_ROUTER);
  set(server->socket_, ZMQ_LINGER, 0);
  set(server->socket_, ZMQ_RCVTIMEO, kPollMs);
  if (curve) {
    std::array<char, 41> open{};
    std::array<char, 41> secret{};
    zmq_curve_keypair(open.data(), secret.data());
    set(server->socket_, ZMQ_CURVE_SERVER, 1);
    zmq_setsockopt(server->socket_, ZMQ_CURVE_SECRETKEY, secret.data(), 41);
    server->serving_.server_key = open.data();
  }
  if (zmq_bind(server->socket_, endpoint.c_str()) != 0) return zmq_error("cannot bind " + endpoint);
  std::array<char, 256> bound{};
  std::size_t size = bound.size();
  zmq_getsockopt(server->socket_, ZMQ_LAST_ENDPOINT, bound.data(), &size);
  server->serving_.endpoint = bound.data();
  server->thread_ = std::thread([raw = server.get()] { raw->serve(); });
  return server;
}

RawEchoServer::~RawEchoServer() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
  if (socket_ != nullptr) zmq_close(socket_);
  if (context_ != nullptr) zmq_ctx_term(context_);
}

void RawEchoServer::serve() {
  // A time-out in recv is the moment to look whether to stop.
  while (!stop_) send_back(socket_);
}

Result<Rate> drive_raw(const DriveRaw& drive) {
  Sockets sockets;
  STERNA_TRY(sockets.connect(drive));
  std::array<char, kEchoBytes> body{};
  const std::size_t servers = std::min<std::size_t>(sockets.dealers.size(), drive.window);
  const SteadyClock clock;
  const auto exchange_end = [&](void* dealer) {
    return zmq_recv(dealer, body.data(), body.size(), 0) == static_cast<int>(kEchoBytes);
  };
  const auto begin_exchange = [&](void* dealer) {
    return zmq_send(dealer, body.data(), body.size(), 0) == static_cast<int>(kEchoBytes);
  };
  // One exchange with each first: the handshake is not what is measured.
  for (void* dealer : sockets.dealers) {
    if (!begin_exchange(dealer) || !exchange_end(dealer)) return zmq_error("no raw echo");
  }
  const Time begin = clock.now();
  const Time end = begin + drive.duration;
  for (std::uint32_t i = 0; i < drive.window; ++i) {
    if (!begin_exchange(sockets.dealers[i % servers])) return zmq_error("raw send");
  }
  std::uint64_t exchanges = 0;
  // The clock is read every few exchanges, as little as it costs.
  constexpr std::uint64_t kLookEvery = 16;
  for (std::size_t at = 0; exchanges % kLookEvery != 0 || clock.now() < end;
       at = (at + 1) % servers) {
    if (!exchange_end(sockets.dealers[at])) return zmq_error("raw receive");
    ++exchanges;
    if (!begin_exchange(sockets.dealers[at])) return zmq_error("raw send");
  }
  return Rate{exchanges, clock.now() - begin};
}

}  // namespace sterna::launcher
