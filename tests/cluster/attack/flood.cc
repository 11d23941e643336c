#include "tests/cluster/attack/flood.h"

#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <unordered_map>

namespace sterna::test {

namespace {

using Seconds = std::chrono::duration<double>;

/// Shared by all connections: making noise must not cost more than sending it.
constexpr std::size_t kNoise = 1 << 20;
/// Bytes of one connection where there is no rate that would give it a share.
constexpr std::size_t kUnthrottledBytes = 1 << 16;
/// Of a peer's answer: a greeting and the command after it.
constexpr std::size_t kHeard = 256;

/// All descriptors that this process may have, but some for itself.
std::size_t descriptors() {
  constexpr rlim_t kOwn = 32;
  constexpr rlim_t kEnough = 60000;  // more than there are ports to connect from
  rlimit limit = {};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return std::min(limit.rlim_cur, kEnough) - kOwn;
}

struct Connection {
  Opening opening = Opening::noise;
  bool connected = false;
  Time since{};
  std::string head;  ///< what is still to be said before the noise
  std::size_t noise = 0;
  std::string heard;
};

class Flood {
 public:
  explicit Flood(const FloodOptions& options)
      : options_(options),
        random_(options.seed),
        noise_(random_bytes(kNoise, random_)),
        limit_(options.open_at_most == 0 ? descriptors()
                                         : std::min(options.open_at_most, descriptors())),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}
  Flood(const Flood&) = delete;
  Flood& operator=(const Flood&) = delete;
  ~Flood() {
    while (!connections_.empty()) close(connections_.begin()->first);
    ::close(epoll_);
  }

  FloodReport run() {
    const Time start = clock_.now();
    while (elapsed(start) < Seconds(options_.duration).count()) {
      begin_what_is_due(elapsed(start));
      look();
    }
    const Time end = clock_.now();
    for (const auto& [socket, connection] : connections_) note_held(connection, end);
    report_.seconds = Seconds(end - start).count();
    return report_;
  }

 private:
  double elapsed(Time start) const { return Seconds(clock_.now() - start).count(); }

  void begin_what_is_due(double seconds) {
    constexpr int kAtOnce = 64;  // between two looks at those that are open
    for (int begun = 0; begun < kAtOnce && connections_.size() < limit_; ++begun) {
      if (options_.rate > 0 && static_cast<double>(report_.attempts) >= seconds * options_.rate) {
        return;
      }
      begin();
    }
  }

  void begin() {
    const std::uint64_t number = report_.attempts++;
    const int socket = connect_to(options_.targets[number % options_.targets.size()]);
    if (socket < 0) {
      ++report_.refused;
      return;
    }
    Connection& connection = connections_[socket];
    connection.opening = static_cast<Opening>(number % kOpenings);
    connection.head = opening_bytes(connection.opening, number / kOpenings % 2 == 0, random_);
    if (connection.opening == Opening::noise) connection.noise = share();
    report_.open_at_most = std::max<std::uint64_t>(report_.open_at_most, connections_.size());
    watch(socket, EPOLL_CTL_ADD, EPOLLIN | EPOLLOUT);
  }

  /// Bytes of one connection of noise: the others say little until they are let in.
  std::size_t share() const {
    if (options_.rate <= 0) return kUnthrottledBytes;
    return static_cast<std::size_t>(options_.bytes / options_.rate * kOpenings);
  }

  void look() {
    constexpr int kMilliseconds = 5;
    std::array<epoll_event, 256> events;
    const int count = ::epoll_wait(epoll_, events.data(), events.size(), kMilliseconds);
    for (int i = 0; i < count; ++i) {
      const int socket = events[i].data.fd;
      if (!handle(socket, events[i].events)) close(socket);
    }
  }

  /// False when the connection is over.
  bool handle(int socket, std::uint32_t events) {
    Connection& connection = connections_.at(socket);
    if (!connection.connected) {
      if (connect_error(socket) != 0) {
        ++report_.refused;
        return false;
      }
      connection.connected = true;
      connection.since = clock_.now();
      ++report_.connections[static_cast<int>(connection.opening)];
    }
    if ((events & EPOLLOUT) != 0 && !say(socket, connection)) return false;
    return (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0 || hear(socket, connection);
  }

  bool say(int socket, Connection& connection) {
    while (!connection.head.empty()) {
      const ssize_t sent = send(socket, connection.head);
      if (sent < 0) return errno == EAGAIN;
      connection.head.erase(0, sent);
    }
    while (connection.noise > 0) {
      const std::size_t from = random_() % (kNoise / 2);
      const std::size_t bytes = std::min(connection.noise, kNoise - from);
      const ssize_t sent = send(socket, std::string_view(noise_).substr(from, bytes));
      if (sent < 0) return errno == EAGAIN;
      connection.noise -= sent;
    }
    // Noise is said and gone; the others stay for as long as they are let.
    watch(socket, EPOLL_CTL_MOD, EPOLLIN);
    return connection.opening != Opening::noise;
  }

  ssize_t send(int socket, std::string_view bytes) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) report_.bytes_sent += sent;
    return sent;
  }

  bool hear(int socket, Connection& connection) {
    std::array<char, 4096> buffer;
    const ssize_t bytes = ::recv(socket, buffer.data(), buffer.size(), 0);
    if (bytes <= 0) return bytes < 0 && errno == EAGAIN;
    report_.bytes_received += bytes;
    if (connection.heard.size() < kHeard) {
      const bool before = is_accepted(connection.heard);
      connection.heard.append(buffer.data(), bytes);
      if (!before && is_accepted(connection.heard)) enter(socket, connection);
    }
    return true;
  }

  /// It was let in: it sends a message.
  void enter(int socket, Connection& connection) {
    constexpr std::size_t kMessage = 1000;
    ++report_.accepted;
    connection.head = message_head(kMessage);
    connection.noise = kMessage;
    watch(socket, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
  }

  void note_held(const Connection& connection, Time until) {
    if (!connection.connected || connection.opening != Opening::half_handshake) return;
    report_.held_longest =
        std::max(report_.held_longest, Seconds(until - connection.since).count());
  }

  void close(int socket) {
    const auto found = connections_.find(socket);
    note_held(found->second, clock_.now());
    connections_.erase(found);
    ::close(socket);
  }

  void watch(int socket, int operation, std::uint32_t events) const {
    epoll_event event = {};
    event.events = events;
    event.data.fd = socket;
    ::epoll_ctl(epoll_, operation, socket, &event);
  }

  const FloodOptions& options_;
  SteadyClock clock_;
  std::mt19937_64 random_;
  std::string noise_;
  std::size_t limit_;
  int epoll_;
  std::unordered_map<int, Connection> connections_;
  FloodReport report_;
};

}  // namespace

FloodReport flood(const FloodOptions& options) { return Flood(options).run(); }

}  // namespace sterna::test
