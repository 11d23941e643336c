// What a program says to a server of ours, byte for byte, and what it hears.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>

namespace sterna::test {

/// A connection to 127.0.0.1. What does not come within ten seconds does not come.
class HttpClient {
 public:
  explicit HttpClient(unsigned port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{10, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  HttpClient(HttpClient&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)),
        connected_(other.connected_),
        heard_(std::move(other.heard_)) {}
  HttpClient& operator=(HttpClient&&) = delete;
  ~HttpClient() {
    if (socket_ >= 0) ::close(socket_);
  }

  bool connected() const { return connected_; }
  void say(const std::string& text) const {
    ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
  }
  /// A whole request; `headers` are lines with their ends.
  void ask(const std::string& first_line, const std::string& headers = "") const {
    say(first_line + " HTTP/1.1\r\n" + headers + "\r\n");
  }
  /// All up to the end.
  std::string hear() {
    while (more()) continue;
    return std::exchange(heard_, {});
  }
  /// All up to `text`, or to the end.
  std::string hear_until(const std::string& text) {
    while (heard_.find(text) == std::string::npos && more()) continue;
    const std::size_t found = heard_.find(text);
    const std::size_t end = found == std::string::npos ? heard_.size() : found + text.size();
    std::string part = heard_.substr(0, end);
    heard_.erase(0, end);
    return part;
  }

 private:
  bool more() {
    std::array<char, 4096> bytes{};
    const ssize_t n = ::recv(socket_, bytes.data(), bytes.size(), 0);
    if (n > 0) heard_.append(bytes.data(), static_cast<std::size_t>(n));
    return n > 0;
  }
  int socket_;
  bool connected_ = false;
  std::string heard_;
};

}  // namespace sterna::test
