#include "runtime/host/real_machine.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>

#include "runtime/host/own_connections.h"
#include "runtime/host/process_names.h"
#include "runtime/loop/thread_executor.h"
#include "runtime/zmq/curve_keys.h"
#include "runtime/zmq/socket_directory.h"
#include "runtime/zmq/zmq_transport.h"

namespace sterna {

namespace {

class SystemKeys final : public KeyIssuer {
 public:
  Result<Credentials> issue() override { return make_credentials(); }
  std::string hash(const std::string& token) const override { return token_hash(token); }
};

/// Where in a range of ports an actor begins to look, so that two rarely try the same.
std::uint64_t port_hash(const Bootstrap& bootstrap) {
  std::uint64_t hash = bootstrap.run;
  for (const char c : bootstrap.identity.name) {
    hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3ULL;  // FNV-1a
  }
  return hash;
}

/// A process with many peers holds several descriptors for each, and a launcher some for each ssh;
/// the soft limit is for old programs.
void take_all_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

std::string log_line(std::string_view words) {
  // Some of the words may be a peer's: they shall neither look like lines of ours nor fill the log.
  constexpr std::size_t kLongestLine = 2000;
  std::string line(words.substr(0, kLongestLine));
  std::replace_if(
      line.begin(), line.end(),
      [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, ' ');
  const auto now = std::chrono::system_clock::now();
  const auto ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z {}\n",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(now)), ms, line);
}

void log_to_stderr(std::string_view words) {
  const std::string text = log_line(words);
  // A log that cannot be written has nobody left to tell.
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

RealMachine::RealMachine(std::function<void(std::string_view)> log)
    : keys_(std::make_unique<SystemKeys>()),
      log_(log ? std::move(log) : log_to_stderr),
      spawner_(loop_) {
  std::signal(SIGPIPE, SIG_IGN);
  take_all_descriptors();
}

RealMachine::~RealMachine() = default;

std::int64_t RealMachine::pid() const { return ::getpid(); }

Result<std::unique_ptr<Transport>> RealMachine::make_transport(const Bootstrap& bootstrap) {
  const NetworkOptions& network = bootstrap.network;
  ZmqOptions options;
  options.kind = network.tcp ? ZmqOptions::Kind::tcp : ZmqOptions::Kind::ipc;
  options.curve = network.curve;
  options.directory = network.directory;
  options.neighbourhood = network.neighbourhood;
  options.bind_address = network.bind_address;
  options.address = network.address;
  options.port_low = network.port_low;
  options.port_high = network.port_high;
  options.port_hash = port_hash(bootstrap);
  options.answer_timeout = bootstrap.silence;
  STERNA_ASSIGN(std::unique_ptr<ZmqTransport> transport,
                ZmqTransport::create(loop_, bootstrap.identity, bootstrap.credentials, options));
  return std::unique_ptr<Transport>(std::move(transport));
}

std::unique_ptr<Executor> RealMachine::make_executor(std::uint32_t threads) {
  constexpr std::uint32_t kMost = 4096;  // beyond any machine; a wrong number is not an outage
  return std::make_unique<ThreadExecutor>(
      loop_, static_cast<int>(std::clamp<std::uint32_t>(threads, 1, kMost)), "compute");
}

std::unique_ptr<KeptMemory> RealMachine::kept_memory(const Bootstrap& bootstrap) {
  if (bootstrap.kind != ProcessKind::ACTOR) return nullptr;
  return inherited_memory(UvSpawner::kKeptDescriptor, bootstrap.identity.name);
}

Result<std::string> RealMachine::make_socket_directory() {
  return sterna::make_socket_directory("");
}

Result<std::string> RealMachine::make_near_directory(std::uint64_t run) {
  STERNA_ASSIGN(near_, NearDirectory::make(run));
  return near_->path();
}

void RealMachine::remove_near_directories(std::uint64_t run) { NearDirectory::remove_of(run); }

void RealMachine::remove_socket_directory(const std::string& path) {
  // Only what make_socket_directory() can have made: the path has been through a Bootstrap.
  if (std::filesystem::path(path).filename().string().starts_with(kSocketDirectoryPrefix)) {
    std::error_code ignored;  // somebody else was faster
    std::filesystem::remove_all(path, ignored);
  }
}

std::size_t RealMachine::sweep(std::uint64_t run) {
  const std::vector<FoundProcess> left = processes_of_run(run);
  for (const FoundProcess& process : left) {
    log_(fmt::format("{} (pid {}) is still there: killed", process.name, process.pid));
    ::kill(static_cast<pid_t>(process.pid), SIGKILL);
  }
  NearDirectory::remove_of(run);
  return left.size();
}

void RealMachine::shut_connections() {
  log_(fmt::format("{} connections are shut, as was asked for", shut_own_connections()));
}

}  // namespace sterna
