#include "launcher/bench/exchange/raw_link.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/base/clock.h"

namespace sterna::launcher {

namespace {

constexpr std::size_t kBlock = std::size_t{256} << 10;
/// Until TCP has found the link's speed, and then long enough for the shapers' bursts to be little.
constexpr auto kWarmUp = std::chrono::milliseconds(500);
constexpr auto kMeasured = std::chrono::milliseconds(1500);

class Socket {
 public:
  explicit Socket(int file) : file_(file) {}
  Socket(Socket&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~Socket() {
    if (file_ >= 0) ::close(file_);
  }
  int get() const { return file_; }

 private:
  int file_;
};

struct Connection {
  Socket a;
  Socket b;
};

Error failed() { return system_error("raw TCP connection", errno); }

Result<Connection> connect_two(const EmulatedHosts* hosts) {
  std::optional<EmulatedHosts::Visit> where;
  if (hosts != nullptr) where.emplace(*hosts, 0);
  const Socket listening(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  where.reset();
  sockaddr_in address{};
  address.sin_family = AF_INET;
  const std::string host = hosts != nullptr ? EmulatedHosts::address(0) : "127.0.0.1";
  ::inet_pton(AF_INET, host.c_str(), &address.sin_addr);
  socklen_t size = sizeof(address);
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (listening.get() < 0 || ::bind(listening.get(), any, size) != 0 ||
      ::listen(listening.get(), 1) != 0 || ::getsockname(listening.get(), any, &size) != 0) {
    return failed();
  }
  if (hosts != nullptr) where.emplace(*hosts, 1);
  Socket b(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  where.reset();
  if (b.get() < 0 || ::connect(b.get(), any, size) != 0) return failed();
  Socket a(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (a.get() < 0) return failed();
  return Connection{std::move(a), std::move(b)};
}

void send_all_the_time(int socket) {
  const std::vector<char> block(kBlock);
  while (::send(socket, block.data(), block.size(), MSG_NOSIGNAL) > 0) {
  }
}

void receive_all_the_time(int socket, std::atomic<std::uint64_t>& received) {
  std::vector<char> block(kBlock);
  while (true) {
    const ssize_t got = ::recv(socket, block.data(), block.size(), 0);
    if (got <= 0) return;
    received += static_cast<std::uint64_t>(got);
  }
}

struct Moment {
  Time at;
  double received = 0;  ///< bytes, the mean of both directions
  double on_cards = 0;
};

Result<Moment> moment(const EmulatedHosts* hosts,
                      const std::array<std::atomic<std::uint64_t>, 2>& received) {
  Moment now{SteadyClock().now(), static_cast<double>(received[0] + received[1]) / 2, 0};
  now.on_cards = now.received;
  if (hosts == nullptr) return now;
  STERNA_ASSIGN(const std::vector<CardBytes> cards, hosts->card_bytes());
  now.on_cards = static_cast<double>(cards[0].in + cards[0].out) / 2;
  return now;
}

}  // namespace

Result<RawLink> measure_raw_link(const EmulatedHosts* hosts) {
  STERNA_ASSIGN(const Connection connection, connect_two(hosts));
  const int a = connection.a.get();
  const int b = connection.b.get();
  std::array<std::atomic<std::uint64_t>, 2> received{};
  std::vector<std::thread> threads;
  threads.emplace_back(send_all_the_time, a);
  threads.emplace_back(send_all_the_time, b);
  threads.emplace_back(receive_all_the_time, a, std::ref(received[0]));
  threads.emplace_back(receive_all_the_time, b, std::ref(received[1]));
  std::this_thread::sleep_for(kWarmUp);
  const Result<Moment> first = moment(hosts, received);
  std::this_thread::sleep_for(kMeasured);
  const Result<Moment> last = moment(hosts, received);
  ::shutdown(a, SHUT_RDWR);
  ::shutdown(b, SHUT_RDWR);
  for (std::thread& thread : threads) thread.join();
  if (!first) return first.error();
  if (!last) return last.error();
  const double seconds = std::chrono::duration<double>(last->at - first->at).count();
  return RawLink{(last->received - first->received) / seconds,
                 (last->on_cards - first->on_cards) / seconds};
}

}  // namespace sterna::launcher
