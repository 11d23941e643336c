// RealMachine: this computer. libuv, libzmq, the system's random source, real processes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "runtime/host/machine.h"
#include "runtime/host/uv_spawner.h"
#include "runtime/loop/uv_loop.h"
#include "runtime/zmq/neighbourhood.h"

namespace sterna {

/// To be made on the main thread, and used there only. Ignores SIGPIPE: a peer that closed its end
/// is an error value here, not a signal. Raises the process's soft limit of descriptors to the hard
/// one.
class RealMachine final : public Machine {
 public:
  /// `log` takes this process's log lines; by default they go to standard error, with the time.
  explicit RealMachine(std::function<void(std::string_view)> log = {});
  ~RealMachine() override;

  UvLoop& loop() override { return loop_; }
  const Clock& boot_clock() override { return boot_clock_; }
  Random& random() override { return random_; }
  KeyIssuer& keys() override { return *keys_; }
  UvSpawner& spawner() override { return spawner_; }
  Result<std::unique_ptr<Transport>> make_transport(const Bootstrap& bootstrap) override;
  std::unique_ptr<Executor> make_executor(std::uint32_t threads) override;
  std::unique_ptr<KeptMemory> kept_memory(const Bootstrap& bootstrap) override;
  std::int64_t pid() const override;
  void log(std::string_view line) override { log_(line); }
  /// Where the lines go from here on.
  void set_log(std::function<void(std::string_view)> log) { log_ = std::move(log); }
  /// Under $TMPDIR, or /tmp: short enough for a socket's path.
  Result<std::string> make_socket_directory() override;
  void remove_socket_directory(const std::string& path) override;
  Result<std::string> make_near_directory(std::uint64_t run) override;
  void remove_near_directories(std::uint64_t run) override;
  std::size_t sweep(std::uint64_t run) override;
  void shut_connections() override;

 private:
  UvLoop loop_;
  BootClock boot_clock_;
  SystemRandom random_;
  std::unique_ptr<KeyIssuer> keys_;
  std::unique_ptr<NearDirectory> near_;
  std::function<void(std::string_view)> log_;
  UvSpawner spawner_;
};

/// "2026-11-21T02:03:04.567Z words", with its end.
std::string log_line(std::string_view words);
/// The same to standard error, in one write.
void log_to_stderr(std::string_view words);

}  // namespace sterna
