#include "launcher/bench/exchange/emulated_hosts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

namespace sterna::launcher {

namespace {

constexpr const char* kOwnNamespace = "/proc/thread-self/ns/net";
/// A card sends this much at once: a few packets of the largest size, and on fast links what passes
/// in a millisecond, since the kernel does not look more often.
constexpr std::uint64_t kLeastBurst = 131'072;
constexpr std::uint64_t kBurstsPerSecond = 1000;
constexpr const char* kLongestQueue = "50ms";

/// `tool -batch` with these lines, where the calling thread is.
Result<void> batch(const std::string& tool, const std::string& lines) {
  const std::string command =
      fmt::format("PATH=$PATH:/usr/sbin:/sbin {} -batch - 2>&1 <<'END'\n{}END\n", tool, lines);
  std::FILE* pipe = ::popen(command.c_str(), "re");
  if (pipe == nullptr) return system_error(tool, errno);
  std::string said;
  std::array<char, 512> chunk{};
  while (const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), pipe)) {
    said.append(chunk.data(), got);
  }
  const int status = ::pclose(pipe);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  std::replace(said.begin(), said.end(), '\n', ' ');
  constexpr int kNoSuchCommand = 127;
  const bool missing = WIFEXITED(status) && WEXITSTATUS(status) == kNoSuchCommand;
  return Error{missing ? Errc::not_found : Errc::unavailable,
               fmt::format("--link needs `{}` (iproute2): {}", tool, said)};
}

std::string cable(std::size_t host) { return fmt::format("cable{}", host); }

std::string shaping(const std::string& card, std::uint64_t bits_per_second) {
  const std::uint64_t burst = std::max(kLeastBurst, bits_per_second / 8 / kBurstsPerSecond);
  return fmt::format("qdisc add dev {} root tbf rate {}bit burst {} latency {}\n", card,
                     bits_per_second, burst, kLongestQueue);
}

}  // namespace

Result<std::uint64_t> parse_link_rate(std::string_view text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [unit, error] = std::from_chars(text.data(), end, number);
  const std::string_view rest(unit, static_cast<std::size_t>(end - unit));
  const double scale = rest == "kbit" ? 1e3 : rest == "mbit" ? 1e6 : rest == "gbit" ? 1e9 : 0;
  number *= scale;
  if (error != std::errc{} || !(number >= 1e6 && number <= 1e12)) {
    return Error{Errc::invalid_argument,
                 fmt::format("'{}' is no rate from 1mbit to 1000gbit, e.g. 1gbit", text)};
  }
  return static_cast<std::uint64_t>(number);
}

/// Keeps a network namespace, as long as this lives.
class EmulatedHosts::Namespace {
 public:
  explicit Namespace(int file) : file_(file) {}
  Namespace(const Namespace&) = delete;
  Namespace& operator=(const Namespace&) = delete;
  ~Namespace() { ::close(file_); }

  /// The one that the calling thread is in.
  static Result<std::unique_ptr<Namespace>> current() {
    const int file = ::open(kOwnNamespace, O_RDONLY | O_CLOEXEC);
    if (file < 0) return system_error(kOwnNamespace, errno);
    return std::make_unique<Namespace>(file);
  }
  /// A new one, with the calling thread in it.
  static Result<std::unique_ptr<Namespace>> make() {
    if (::unshare(CLONE_NEWNET) != 0) {
      if (errno != EPERM) return system_error("cannot make a network namespace", errno);
      return Error{Errc::permission,
                   "--link needs root on this machine, to make network namespaces"};
    }
    return current();
  }
  /// That fails only for who lost the right to it, and nothing would be where it seems to be.
  void enter() const {
    if (::setns(file_, CLONE_NEWNET) == 0) return;
    std::perror("cannot change the network namespace");
    std::abort();
  }
  std::string path() const { return fmt::format("/proc/{}/fd/{}", ::getpid(), file_); }

 private:
  int file_;
};

EmulatedHosts::EmulatedHosts() = default;
EmulatedHosts::EmulatedHosts(EmulatedHosts&&) noexcept = default;
EmulatedHosts::~EmulatedHosts() {
  if (outside_) outside_->enter();
}

std::string EmulatedHosts::name(std::size_t host) { return fmt::format("host{}", host); }

// RFC 2544's addresses for benchmarks of networks.
std::string EmulatedHosts::address(std::size_t host) {
  return fmt::format("198.18.{}.{}", (host + 1) / 256, (host + 1) % 256);
}
std::string EmulatedHosts::own_address() { return "198.19.255.254"; }

Result<EmulatedHosts> EmulatedHosts::make(std::size_t count, std::uint64_t bits_per_second) {
  EmulatedHosts hosts;
  STERNA_TRY(hosts.build(count, bits_per_second));
  return hosts;
}

Result<void> EmulatedHosts::build(std::size_t count, std::uint64_t bits_per_second) {
  STERNA_ASSIGN(auto outside, Namespace::current());
  STERNA_ASSIGN(bridge_, Namespace::make());
  outside_ = std::move(outside);  // from here on there is a way back
  for (std::size_t i = 0; i < count; ++i) {
    STERNA_ASSIGN(hosts_.emplace_back(), Namespace::make());
  }
  bridge_->enter();
  std::string links = fmt::format(
      "link set lo up\n"
      "link add bridge type bridge\n"
      "addr add {}/15 dev bridge\n"
      "link set bridge up\n",
      own_address());
  std::string shapes;
  for (std::size_t i = 0; i < count; ++i) {
    links += fmt::format(
        "link add {0} type veth peer name {1} netns {2}\n"
        "link set {0} master bridge up\n",
        cable(i), kInterface, hosts_[i]->path());
    shapes += shaping(cable(i), bits_per_second);
  }
  STERNA_TRY(batch("ip", links));
  STERNA_TRY(batch("tc", shapes));
  for (std::size_t i = 0; i < count; ++i) {
    const Visit there(*this, i);
    STERNA_TRY(batch("ip", fmt::format("link set lo up\n"
                                       "addr add {}/15 dev {}\n"
                                       "link set {} up\n",
                                       address(i), kInterface, kInterface)));
    STERNA_TRY(batch("tc", shaping(kInterface, bits_per_second)));
  }
  return {};
}

EmulatedHosts::Visit::Visit(const EmulatedHosts& hosts, std::size_t host) : hosts_(hosts) {
  hosts.hosts_[host]->enter();
}
EmulatedHosts::Visit::~Visit() { hosts_.bridge_->enter(); }

Result<std::vector<CardBytes>> EmulatedHosts::card_bytes() const {
  std::vector<CardBytes> all(hosts_.size());
  std::size_t found = 0;
  std::ifstream table("/proc/thread-self/net/dev");
  for (std::string line; std::getline(table, line);) {
    std::replace(line.begin(), line.end(), ':', ' ');
    std::istringstream words(line);
    std::string card;
    words >> card;
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      if (card != cable(i)) continue;
      // What the bridge's end receives, the host has sent: bytes are column 1, and sent ones 9.
      std::uint64_t skipped = 0;
      words >> all[i].out;
      for (int column = 2; column < 9; ++column) words >> skipped;
      words >> all[i].in;
      found += words ? 1 : 0;
    }
  }
  if (found == hosts_.size()) return all;
  return Error{Errc::io, "/proc/thread-self/net/dev does not show the emulated hosts' cards"};
}

Result<std::int64_t> EmulatedPlacer::spawn(const Bootstrap& bootstrap, Callbacks callbacks) {
  std::optional<EmulatedHosts::Visit> there;
  for (std::size_t i = 0; i < hosts_.count(); ++i) {
    if (bootstrap.host == EmulatedHosts::name(i)) there.emplace(hosts_, i);
  }
  return local_.spawn(bootstrap, std::move(callbacks));
}

}  // namespace sterna::launcher
