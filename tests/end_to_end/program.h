// A program as somebody starts it: in a folder, with arguments and an environment, in a process
// group of its own, its output in files.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/clock.h"

namespace sterna::test {

/// Looks again and again until the condition holds; false if it does not within `patience`. For
/// what nobody tells us about: files of another process, and /proc.
bool eventually(Duration patience, const std::function<bool()>& condition);

/// Sends a signal to a process that was looked for. Where none was found (0) the test fails: to the
/// kernel 0 is the test's own process group, with ctest and all that runs it.
void strike(pid_t process, int signal);

/// All of a file; "" where there is none.
std::string content_of(const std::string& path);
/// Without their ends; a last line that has none counts too.
std::vector<std::string> lines_of(const std::string& text);

/// "NAME=value", each of a name once.
using Environment = std::vector<std::string>;
/// `base` with these variables put in place of those of the same names.
Environment with_variables(Environment base, const Environment& variables);
/// This process's own.
Environment own_environment();

class Program {
 public:
  /// Its path comes first in `command`. Standard input is empty; the output lies in `folder`, or
  /// goes to a descriptor of this process (what it says of errors only where that is a terminal).
  Program(const std::string& folder, std::vector<std::string> command, Environment environment,
          std::optional<int> output = {});
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  /// Kills it if it is still there.
  ~Program();

  pid_t pid() const { return pid_; }
  /// As a terminal does: to its whole process group.
  void interrupt() const;
  void kill() const;
  /// As the shell shows it: 128 + the signal that killed it. Nothing: it did not end in time.
  std::optional<int> exit_code(Duration patience);

  std::string out() const { return content_of(out_); }
  std::string err() const { return content_of(err_); }

 private:
  std::string out_;
  std::string err_;
  pid_t pid_ = 0;
  std::optional<int> code_;
};

}  // namespace sterna::test
