// UvSpawner: real processes, as children of this one, each in a session and process group of its
// own.
//
// A child is this same program again: `PROGRAM __process NAME RUN PARENT`, its Bootstrap on
// standard input, its output in its log. It asks the kernel to die with its parent
// (runtime/main.h).
#pragma once

#include <uv.h>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "runtime/host/memory_file.h"
#include "runtime/host/oom_kills.h"
#include "runtime/host/spawner.h"
#include "runtime/loop/uv_loop.h"

namespace sterna {

class UvSpawner final : public Spawner {
 public:
  /// `loop` must outlive it, and run on the process's main thread.
  explicit UvSpawner(UvLoop& loop);
  /// Kills and reaps who is left.
  ~UvSpawner() override;
  UvSpawner(const UvSpawner&) = delete;
  UvSpawner& operator=(const UvSpawner&) = delete;

  Result<std::int64_t> spawn(const Bootstrap& bootstrap, Callbacks callbacks) override;
  void kill(std::int64_t pid) override;
  void freeze(std::int64_t pid) override;
  void thaw(std::int64_t pid) override;
  void forget(const std::string& actor) override;
  Result<KeptBytes> read_kept(const std::string& actor, std::uint64_t offset,
                              std::size_t most) const override;
  Result<void> write_kept(const std::string& actor, std::uint64_t offset, std::uint64_t size,
                          ByteView bytes) override;
  std::uint64_t resident_bytes(std::int64_t pid) const override;

  /// Another program than this one from here on; its main is sterna::main.
  void set_program(std::string path) { program_ = name_ = std::move(path); }

  /// Where a child finds the pipe on which it says how it can be reached.
  static constexpr int kAnswerDescriptor = 3;
  /// And an actor's process the memory that is kept for it; of a first incarnation it is empty.
  static constexpr int kKeptDescriptor = 4;

 private:
  struct Child;
  int kept_for(const Bootstrap& bootstrap);
  void exited(Child& child, std::int64_t status, int signal);
  void reap();
  void reap_orphans();
  void watch_orphans();

  std::string program_ = "/proc/self/exe";  ///< this very one, even if its file was replaced
  std::string name_;                        ///< what children are called by; a path is cut
  UvLoop& loop_;
  std::map<std::int64_t, Child*> children_;  ///< by pid; freed when libuv has closed their handles
  std::map<std::string, MemoryFile> kept_;   ///< by actor
  std::map<std::string, MemoryFile> arriving_;  ///< from other hosts, and not whole yet
  std::set<std::int64_t> ended_groups_;  ///< groups whose leader is gone, until they are empty
  uv_signal_t* child_signal_ = nullptr;
  OomKills oom_kills_;
};

}  // namespace sterna
