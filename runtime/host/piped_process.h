// PipedProcess: a program of this host (ssh, srun, this one again) whose three standard streams are
// pipes to this process's loop.
//
// It is in a session of its own, so that a Ctrl-C at the terminal does not reach it. Its standard
// input ends with this process.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/host/spawner.h"
#include "runtime/loop/uv_loop.h"

namespace sterna {

class PipedProcess {
 public:
  struct Events {
    std::function<void(std::string_view)> output;  ///< of its standard output, as it comes
    std::function<void(std::string_view)> errors;  ///< of its standard error
    /// Once, when it has ended and both streams have been read to their ends.
    std::function<void(const ProcessExit&)> exited;
  };

  /// Loop thread only. `command` is found in PATH. Its events come from the loop, never from here.
  static Result<std::unique_ptr<PipedProcess>> start(UvLoop& loop,
                                                     const std::vector<std::string>& command,
                                                     Events events);
  /// Kills what still runs, without a word.
  ~PipedProcess();
  PipedProcess(const PipedProcess&) = delete;
  PipedProcess& operator=(const PipedProcess&) = delete;

  /// `written` is called when the bytes are on their way; not if they never will be, and not after
  /// this object.
  void write(Bytes bytes, std::function<void()> written = {});
  /// Ends its standard input once all has been written.
  void close_input();
  /// To its process group. Harmless once it has ended.
  void signal(int number);
  std::int64_t pid() const;
  /// It outlives this object: the destructor lets it be.
  void release();

 private:
  struct Handles;
  explicit PipedProcess(Handles* handles) : handles_(handles) {}
  Handles* handles_;  ///< freed when libuv has closed them all
};

}  // namespace sterna
