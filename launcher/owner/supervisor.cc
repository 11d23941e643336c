#include "launcher/owner/supervisor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <optional>
#include <utility>

#include "launcher/owner/owner_words.h"
#include "launcher/past/run_state.h"
#include "launcher/text/console.h"
#include "runtime/host/spawner.h"

namespace sterna::launcher {
namespace {

/// Before the next owner: what fails at once is not tried in a circle.
constexpr std::chrono::seconds kFirstPause(1);
constexpr std::chrono::seconds kLongestPause(60);
/// A launcher that has let the run go ends at once.
constexpr int kLauncherLeavesMilliseconds = 2000;

/// A file in memory, read from its beginning.
Result<int> as_descriptor(const Bytes& bytes) {
  const int file = ::memfd_create("order", 0);
  if (file < 0) return system_error("memfd_create", errno);
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t wrote = ::write(file, bytes.data() + at, bytes.size() - at);
    if (wrote <= 0) {
      ::close(file);
      return system_error("an owner's order", errno);
    }
    at += static_cast<std::size_t>(wrote);
  }
  ::lseek(file, 0, SEEK_SET);
  return file;
}

/// What this machine remembers of the run by now.
std::optional<RunState> state_of_run(std::uint64_t run) {
  const Result<RunStates> states = RunStates::of_user();
  if (!states) return std::nullopt;
  for (const RunState& state : states->all()) {
    if (state.run == run) return state;
  }
  return std::nullopt;
}

std::string has_ended(const ProcessExit& end) {
  return fmt::format("what kept the run has ended ({})", end.text());
}

void forget_standard_stream(int stream) {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return;
  ::dup2(null, stream);
  ::close(null);
}

class Supervisor {
 public:
  Supervisor(const ChildArguments& self, std::string file, OwnerOrder order)
      : self_(self), file_(std::move(file)), order_(std::move(order)) {
    sigemptyset(&awaited_);
    for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&awaited_, signal);
    ::sigprocmask(SIG_BLOCK, &awaited_, &before_);
  }

  int run() {
    Result<pid_t> owner = start();
    if (!owner) {
      Console().say(owner.error().message);
      return kExitFailed;
    }
    // They are the owner's alone: the launcher hears from it, and of its end.
    forget_standard_stream(STDOUT_FILENO);
    forget_standard_stream(STDERR_FILENO);
    std::chrono::seconds pause = kFirstPause;
    for (std::uint32_t made = 0;; ++made) {
      const ProcessExit end = wait_for(*owner);
      const int code = end.signal == 0 ? end.code : kExitFailed;
      const bool again = !told_to_end_ && is_started_again(end.code, end.signal);
      if (made == 0 && !((again || told_to_end_) && launcher_has_left())) return code;
      const std::optional<RunState> state = state_of_run(self_.run);
      if (!state) return code;
      if (!again) return give_up(*state, end);
      if (order_.again == 0) return give_up(*state, end);
      --order_.again;
      order_.begun = true;
      order_.run_dir = state->run_directory;
      forget_standard_stream(STDIN_FILENO);
      note(*state,
           fmt::format("{}; it is started again in {} s, then {} more time{} at most",
                       has_ended(end), pause.count(), order_.again, order_.again == 1 ? "" : "s"));
      if (!wait(pause)) return give_up(*state, end);
      pause = std::min(2 * pause, kLongestPause);
      owner = start();
      if (!owner) {
        note(*state, owner.error().message);
        return give_up(*state, end);
      }
    }
  }

 private:
  Result<pid_t> start() {
    STERNA_ASSIGN(const int order,
                  as_descriptor(as_written({"order", file_, copy_bytes(order_json(order_))})));
    std::vector<std::string> words = owner_arguments(self_.name, self_.run, ::getpid());
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, order, kOrderDescriptor);
    if (order != kOrderDescriptor) posix_spawn_file_actions_addclose(&files, order);
    posix_spawnattr_t how;
    posix_spawnattr_init(&how);
    posix_spawnattr_setsigmask(&how, &before_);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
    pid_t child = 0;
    const int code = ::posix_spawn(&child, "/proc/self/exe", &files, &how, argv.data(), ::environ);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    ::close(order);
    if (code != 0) return system_error("cannot start what keeps the run", code);
    return child;
  }

  /// Its life has no limit of its own: that is the run's.
  ProcessExit wait_for(pid_t owner) {
    while (true) {
      int status = 0;
      const pid_t ended = ::waitpid(owner, &status, WNOHANG);
      if (ended == owner && WIFEXITED(status)) return {.code = WEXITSTATUS(status)};
      if (ended == owner && WIFSIGNALED(status)) return {.signal = WTERMSIG(status)};
      if (ended < 0 && errno != EINTR) return {.code = kExitFailed};
      const int signal = ::sigwaitinfo(&awaited_, nullptr);
      if (signal != SIGTERM && signal != SIGINT) continue;
      told_to_end_ = true;
      ::kill(owner, signal);
    }
  }

  /// False: it was told to end meanwhile.
  bool wait(std::chrono::seconds pause) {
    const auto until = std::chrono::steady_clock::now() + pause;
    while (true) {
      const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(
          until - std::chrono::steady_clock::now());
      if (left.count() <= 0) return true;
      constexpr std::int64_t kInASecond = 1000000000;
      const timespec time{left.count() / kInASecond, left.count() % kInASecond};
      const int signal = ::sigtimedwait(&awaited_, nullptr, &time);
      if (signal == SIGTERM || signal == SIGINT) return false;
    }
  }

  /// Its end of our standard input is closed.
  static bool launcher_has_left() {
    pollfd input{STDIN_FILENO, 0, 0};
    return ::poll(&input, 1, kLauncherLeavesMilliseconds) > 0 && (input.revents & POLLHUP) != 0;
  }

  static void note(const RunState& state, const std::string& line) {
    const std::string path = state.run_directory + "/logs/launcher.log";
    constexpr mode_t kMode = 0644;
    const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, kMode);
    if (file < 0) return;
    const std::string text = line + "\n";
    [[maybe_unused]] const ssize_t wrote = ::write(file, text.data(), text.size());
    ::close(file);
  }

  /// Leaves word of how the run ended, where the last owner could not.
  static int give_up(RunState state, const ProcessExit& end) {
    if (!state.ended.empty()) return state.exit;
    state.operators.clear();
    state.ended = has_ended(end);
    state.exit = end.signal == 0 ? end.code : kExitGoesOn;
    const std::string resume = resume_of(state);
    if (state.exit == kExitGoesOn && resume.empty()) state.exit = kExitFailed;
    if (!resume.empty()) {
      state.ended += "\nit goes on from its newest checkpoint with\n" + resume;
    }
    note(state, state.ended);
    const Result<RunStates> states = RunStates::of_user();
    if (states) {
      const Result<void> written = states->write(state);
      if (!written) note(state, written.error().message);
    }
    return state.exit;
  }

  ChildArguments self_;
  std::string file_;
  OwnerOrder order_;  ///< of the owner that runs, or that comes next
  sigset_t awaited_{};
  sigset_t before_{};
  bool told_to_end_ = false;
};

}  // namespace

bool is_started_again(int exit_code, int signal) { return signal != 0 || exit_code == kExitGoesOn; }

int supervise(const ChildArguments& self, std::string file, const OwnerOrder& order) {
  return Supervisor(self, std::move(file), order).run();
}

}  // namespace sterna::launcher
