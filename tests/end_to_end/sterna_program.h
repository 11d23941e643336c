// The sterna program as a user starts it: in a folder, with arguments, a keyboard to interrupt it,
// and /proc to look for what it leaves behind.
#pragma once

#include <sys/types.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/host/process_names.h"
#include "tests/end_to_end/program.h"

namespace sterna::test {

/// One call of the program. Its working directory, home, and temporary files are in `folder`.
class SternaProgram {
 public:
  /// `variables` win over what it has of this process's environment. `output`: as Program's.
  SternaProgram(const std::string& folder, std::vector<std::string> arguments,
                const Environment& variables = {}, std::optional<int> output = {});
  SternaProgram(const SternaProgram&) = delete;
  SternaProgram& operator=(const SternaProgram&) = delete;
  /// Kills it, and all processes of its run, if they are still there.
  ~SternaProgram();

  pid_t pid() const { return program_.pid(); }
  /// As a terminal does: to its whole process group.
  void interrupt() const { program_.interrupt(); }
  void kill() const { program_.kill(); }
  /// As the shell shows it: 128 + the signal that killed it. Nothing: it did not end in time.
  std::optional<int> exit_code(Duration patience);

  std::string out() const { return program_.out(); }
  std::string err() const { return program_.err(); }

  /// The live processes of its run, without itself; zombies do not count.
  std::vector<FoundProcess> processes();
  bool has_process(const std::string& name) { return pid_of(name) > 0; }
  /// 0 if there is none of that name.
  pid_t pid_of(const std::string& name);
  /// Everything to know about it, for the message of a failed test.
  std::string story();

 private:
  void learn_run();

  Program program_;
  bool ended_ = false;
  std::set<std::uint64_t> runs_;  ///< that are known of
};

}  // namespace sterna::test
