// Spawner: starts processes on this host and sees them end. Real (UvSpawner) or simulated.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/base/clock.h"
#include "runtime/host/bootstrap.h"

namespace sterna {

/// A piece of what is kept for an actor (KeptMemory).
struct KeptBytes {
  std::uint64_t size = 0;  ///< of all of it; 0: nothing is kept
  Bytes bytes;
};

/// How a process ended, as its parent saw it.
struct ProcessExit {
  int code = -1;   ///< -1: it did not exit by itself
  int signal = 0;  ///< 0: no signal
  /// The kernel killed something for want of memory while it ran; a guess, and said as one.
  bool likely_out_of_memory = false;
  /// What whoever started it from afar has to say, instead of all the rest; may be empty.
  std::string words = {};

  bool clean() const { return code == 0 && signal == 0; }
  /// "exited with code 3", "killed by SIGSEGV", "killed by SIGKILL (likely out of memory)".
  std::string text() const;
};

/// Takes leave of children that were sent SIGKILL: a matter of moments, but for one that the kernel
/// cannot end yet (a disk that does not answer), which is left. False: some were, after `patience`.
bool reap_killed(std::vector<std::int64_t> pids, Duration patience = std::chrono::seconds(2));

class Spawner {
 public:
  struct Callbacks {
    /// The child has said under which endpoints it listens. Set by who will dial it (the launcher,
    /// of the coordinator); null for a child that dials its parent.
    std::function<void(const Contact&)> on_contact;
    /// Once, on the loop thread, never from within spawn().
    std::function<void(const ProcessExit&)> on_exit;
    /// It lives on without whoever could have told of its end: on_exit will not be called.
    std::function<void()> on_release = {};
  };

  virtual ~Spawner() = default;
  /// Loop thread only, and this must be the process's main thread: the parent-death signal fires
  /// when the spawning *thread* ends. Returns the process id of the system.
  virtual Result<std::int64_t> spawn(const Bootstrap& bootstrap, Callbacks callbacks) = 0;
  /// SIGKILL to its whole process group. Harmless once it has ended.
  virtual void kill(std::int64_t pid) = 0;
  /// SIGSTOP and SIGCONT, likewise: of those who start actors, to inject faults. Others do nothing.
  virtual void freeze(std::int64_t /*pid*/) {}
  virtual void thaw(std::int64_t /*pid*/) {}
  /// The actor of this name will not be started again: what was kept for it (KeptMemory) is freed.
  virtual void forget(const std::string& /*actor*/) {}
  /// Of what is kept for the actor of this name: up to so many bytes from there.
  virtual Result<KeptBytes> read_kept(const std::string& /*actor*/, std::uint64_t /*offset*/,
                                      std::size_t /*most*/) const {
    return KeptBytes{};
  }
  /// What shall be kept for it, `size` bytes in all, before it is started here, piece by piece from
  /// offset 0 on; with the last one it takes the place of all that was kept. Errors as
  /// MemoryFile::write's.
  virtual Result<void> write_kept(const std::string& /*actor*/, std::uint64_t /*offset*/,
                                  std::uint64_t /*size*/, ByteView /*bytes*/) {
    return Error{Errc::unavailable, "nothing is kept here"};
  }
  /// 0 if unknown.
  virtual std::uint64_t resident_bytes(std::int64_t pid) const = 0;
};

}  // namespace sterna
