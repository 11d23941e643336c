// NearDirectory: where the sockets of a node and its processes lie, in a run whose hosts talk tcp
// with each other, and those of a command that looks at a run. Its name tells the run, so that who
// ends that can remove what a killed node left; a lock that dies with its owner tells those that
// come later on this host the same.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/base/result.h"

namespace sterna {

/// Of who only looks at one: no run's end removes its directory.
inline constexpr std::uint64_t kNoRun = 0;

class NearDirectory {
 public:
  /// Makes one (0700) under $TMPDIR, or /tmp where that is too long for a socket's path, and
  /// removes those whose owners are dead.
  static Result<std::unique_ptr<NearDirectory>> make(std::uint64_t run);
  /// Removes it with all that lies in it.
  ~NearDirectory();
  NearDirectory(const NearDirectory&) = delete;
  NearDirectory& operator=(const NearDirectory&) = delete;

  const std::string& path() const { return path_; }
  /// Removes all of the run on this host, once its nodes have ended.
  static void remove_of(std::uint64_t run);

 private:
  explicit NearDirectory(std::string path) : path_(std::move(path)) {}
  Result<void> take();

  std::string path_;
  int lock_ = -1;
};

}  // namespace sterna
