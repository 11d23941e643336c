// Machine: what the processes of a run stand on: loop, randomness, keys, network, spawner. The real
// one is runtime/host/real_machine.h; a test's is simulated, so that the same cluster runs in one
// program.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "runtime/actor/kept_memory.h"
#include "runtime/base/random.h"
#include "runtime/host/bootstrap.h"
#include "runtime/host/spawner.h"
#include "runtime/loop/executor.h"
#include "runtime/loop/loop.h"
#include "runtime/transport/transport.h"

namespace sterna {

/// Makes secrets. Passed in, so that a simulation is reproducible.
class KeyIssuer {
 public:
  virtual ~KeyIssuer() = default;
  virtual Result<Credentials> issue() = 0;
  /// What an acceptor is told instead of the token (Contact::token_hash).
  virtual std::string hash(const std::string& token) const = 0;
};

class Machine {
 public:
  virtual ~Machine() = default;
  virtual Loop& loop() = 0;
  /// A clock that goes on while the machine sleeps; its times are not the loop's.
  virtual const Clock& boot_clock() = 0;
  virtual Random& random() = 0;
  virtual KeyIssuer& keys() = 0;
  virtual Spawner& spawner() = 0;
  /// The transport of the process that `bootstrap` describes.
  virtual Result<std::unique_ptr<Transport>> make_transport(const Bootstrap& bootstrap) = 0;
  virtual std::unique_ptr<Executor> make_executor(std::uint32_t threads) = 0;
  /// What the actor's process that `bootstrap` describes has from the incarnations before, and
  /// leaves those behind it; null: nothing. Once.
  virtual std::unique_ptr<KeptMemory> kept_memory(const Bootstrap& bootstrap) = 0;
  /// Of this process, as its host numbers it.
  virtual std::int64_t pid() const = 0;
  /// One line (without newline) for this process's log.
  virtual void log(std::string_view line) = 0;
  /// A new directory (0700, short path) for a run's ipc sockets, and its removal.
  virtual Result<std::string> make_socket_directory() = 0;
  virtual void remove_socket_directory(const std::string& path) = 0;
  /// A new directory (0700) for the ipc sockets of a node and its processes; gone with this object.
  virtual Result<std::string> make_near_directory(std::uint64_t run) = 0;
  /// Removes the near directories that killed nodes of the run have left on this host.
  virtual void remove_near_directories(std::uint64_t run) = 0;
  /// Kills whatever is left of the run on this machine, this process excepted, and removes its
  /// nodes' directories; returns how many processes that were. After an orderly stop there is
  /// nothing to find.
  virtual std::size_t sweep(std::uint64_t run) = 0;
  /// Shuts the connections that this process has with others, as a broken network would: whoever
  /// uses them finds out. To inject a fault; where there is no real network it does nothing.
  virtual void shut_connections() {}
};

}  // namespace sterna
