// The program as a user starts it: in a folder, with arguments, a keyboard to interrupt it, and
// /proc to look for what it leaves behind.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/process_names.h"

namespace sterna::test {

/// Looks again and again until the condition holds; false if it does not within `patience`. For
/// what nobody tells us about: files of another process, and /proc.
bool eventually(Duration patience, const std::function<bool()>& condition);

/// All of a file; "" where there is none.
std::string content_of(const std::string& path);
/// Without their ends; a last line that has none counts too.
std::vector<std::string> lines_of(const std::string& text);

/// One call of the program. Its working directory, home, and temporary files are in `folder`.
class SternaProgram {
 public:
  SternaProgram(const std::string& folder, std::vector<std::string> arguments);
  SternaProgram(const SternaProgram&) = delete;
  SternaProgram& operator=(const SternaProgram&) = delete;
  /// Kills it, and all processes of its run, if they are still there.
  ~SternaProgram();

  pid_t pid() const { return pid_; }
  /// As a terminal does: to its whole process group.
  void interrupt() const;
  void kill() const;
  /// As the shell shows it: 128 + the signal that killed it. Nothing: it did not end in time.
  std::optional<int> exit_code(Duration patience);

  std::string out() const { return content_of(out_); }
  std::string err() const { return content_of(err_); }

  /// The live processes of its run, without itself; zombies do not count.
  std::vector<FoundProcess> processes();
  bool has_process(const std::string& name) { return pid_of(name) > 0; }
  /// 0 if there is none of that name.
  pid_t pid_of(const std::string& name);
  /// Everything to know about it, for the message of a failed test.
  std::string story();

 private:
  std::string out_;
  std::string err_;
  pid_t pid_ = 0;
  std::optional<int> code_;
  std::uint64_t run_ = 0;  ///< 0: not known yet
};

}  // namespace sterna::test
