// A real HTTP/1.1 server on 127.0.0.1, in a thread of the test, that answers as a script says.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace sterna::input {

struct HttpRequest {
  std::string path;
  std::optional<std::size_t> range = std::nullopt;  ///< the N of "Range: bytes=N-"
};

struct HttpReply {
  int status = 200;
  std::string body = {};
  std::optional<std::size_t> declared = std::nullopt;  ///< Content-Length, if it is to lie
  bool stall = false;  ///< after the body, hold the connection until the peer goes
};

class LoopbackServer {
 public:
  using Script = std::function<HttpReply(const HttpRequest&)>;

  explicit LoopbackServer(Script script)
      : script_(std::move(script)), listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    // A proxy of the machine's environment must not come between.
    setenv("no_proxy", "127.0.0.1", 1);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
        listen(listener_, 8) != 0 ||
        getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
      ADD_FAILURE() << "no loopback server";
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;
  ~LoopbackServer() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/"; }
  std::vector<HttpRequest> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  void serve() {
    for (;;) {
      const int peer = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (peer < 0) return;
      answer(peer);
      close(peer);
    }
  }

  void answer(int peer) {
    std::string head;
    char buffer[4096];
    while (head.find("\r\n\r\n") == std::string::npos) {
      const ssize_t got = recv(peer, buffer, sizeof buffer, 0);
      if (got <= 0) return;
      head.append(buffer, static_cast<std::size_t>(got));
    }
    const HttpRequest request = parse(head);
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
    }
    const HttpReply reply = script_(request);
    const std::string text =
        "HTTP/1.1 " + std::to_string(reply.status) + " X\r\nConnection: close\r\nContent-Length: " +
        std::to_string(reply.declared.value_or(reply.body.size())) + "\r\n\r\n" + reply.body;
    for (std::string_view left = text; !left.empty();) {
      const ssize_t sent = send(peer, left.data(), left.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      left.remove_prefix(static_cast<std::size_t>(sent));
    }
    if (!reply.stall) shutdown(peer, SHUT_WR);
    while (recv(peer, buffer, sizeof buffer, 0) > 0) {
    }
  }

  static HttpRequest parse(const std::string& head) {
    HttpRequest request;
    const std::size_t begin = head.find(' ') + 1;
    request.path = head.substr(begin, head.find(' ', begin) - begin);
    const std::string_view key = "Range: bytes=";
    const std::size_t range = head.find(key);
    if (range != std::string::npos) request.range = std::stoul(head.substr(range + key.size()));
    return request;
  }

  Script script_;
  int listener_;
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;
  std::vector<HttpRequest> requests_;
  std::thread thread_;
};

}  // namespace sterna::input
