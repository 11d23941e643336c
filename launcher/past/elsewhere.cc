#include "launcher/past/elsewhere.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "launcher/hosts/host_shell.h"
#include "runtime/remote/remote_placer.h"
#include "runtime/remote/remote_script.h"

namespace sterna::launcher {
namespace {

constexpr int kSshFailed = 255;  // as ssh(1) has it; of sterna itself no exit code is that high
constexpr int kNoSsh = 127;
/// Comes before the answer: what a login shell prints at its start is none of it.
constexpr std::string_view kAnswer = "STERNA answers\n";

/// Ctrl-C reaches ssh as well, whose end is then ours: while it lives we do not end by it.
class InterruptLeftToSsh {
 public:
  InterruptLeftToSsh() {
    struct sigaction ignored {};
    ignored.sa_handler = SIG_IGN;
    ::sigaction(SIGINT, &ignored, &before_);
  }
  InterruptLeftToSsh(const InterruptLeftToSsh&) = delete;
  InterruptLeftToSsh& operator=(const InterruptLeftToSsh&) = delete;
  ~InterruptLeftToSsh() { ::sigaction(SIGINT, &before_, nullptr); }
  /// In the child, which becomes ssh; under nohup or in a script's background that ignores it, too.
  void hear_in_child() const {
    if (before_.sa_handler != SIG_IGN) std::signal(SIGINT, SIG_DFL);
  }

 private:
  struct sigaction before_ {};
};

Result<std::string> script_for(const Elsewhere& there, const std::vector<std::string>& arguments) {
  // "~" must not be read by the shell: the script does that itself.
  std::string script = fmt::format(
      R"(w="{}"; case $w in "~/"*) w=$HOME/${{w#??}};; esac; )"
      R"(b=$(ls -t "$w"/bundles/*/bin/sterna 2>/dev/null | head -n 1); [ -n "$b" ] || )"
      R"(b=$(command -v sterna) || {{ echo "sterna: there is no sterna here" >&2; exit 1; }}; )"
      R"(exec "$b")",
      there.work);
  for (const std::string& argument : arguments) {
    if (!plain_for_shell(argument)) {
      return Error{Errc::invalid_argument, "\"" + argument + "\" cannot be sent by --via"};
    }
    script += " " + argument;
  }
  return script;
}

/// Its standard output is `output`; -1: ours.
Result<pid_t> start_ssh(const Elsewhere& there, const std::vector<std::string>& arguments,
                        int output, const InterruptLeftToSsh& interrupt) {
  STERNA_ASSIGN(const std::string script, script_for(there, arguments));
  constexpr Duration kPatience = std::chrono::seconds(10);
  std::vector<std::string> words = ssh_command(there.ssh, kPatience);
  words.push_back(as_ssh_command(script));
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t ssh = ::fork();
  if (ssh < 0) return system_error("cannot start ssh", errno);
  if (ssh == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    interrupt.hear_in_child();
    if (output >= 0) ::dup2(output, STDOUT_FILENO);
    ::execvp(argv.front(), argv.data());
    ::_exit(kNoSsh);
  }
  return ssh;
}

Result<int> exit_of(pid_t ssh, const Elsewhere& there) {
  int status = 0;
  while (::waitpid(ssh, &status, 0) < 0 && errno == EINTR) continue;
  if (!WIFEXITED(status)) return kExitInterrupted;
  const int code = WEXITSTATUS(status);
  if (code == kNoSsh) return Error{Errc::unavailable, "cannot start ssh; is it installed?"};
  if (code != kSshFailed) return code;
  return Error{Errc::unavailable, "no word from " + there.ssh + "; ssh says why above"};
}

}  // namespace

std::optional<Elsewhere> head_elsewhere(const RunState& state) {
  const StateHost* head = remote_head(state);
  return head == nullptr ? std::nullopt : std::optional(Elsewhere{head->ssh, head->work});
}

Result<int> exit_via(const Elsewhere& there, const std::vector<std::string>& arguments) {
  const InterruptLeftToSsh interrupt;
  STERNA_ASSIGN(const pid_t ssh, start_ssh(there, arguments, -1, interrupt));
  return exit_of(ssh, there);
}

Result<int> exit_via(const Elsewhere& there, const std::vector<std::string>& arguments,
                     const std::function<void(std::string_view)>& hear) {
  const InterruptLeftToSsh interrupt;
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return system_error("cannot start ssh", errno);
  const Result<pid_t> ssh = start_ssh(there, arguments, pipe[1], interrupt);
  ::close(pipe[1]);
  std::array<char, 4096> bytes{};
  ssize_t count = 0;
  while (ssh && ((count = ::read(pipe[0], bytes.data(), bytes.size())) > 0 ||
                 (count < 0 && errno == EINTR))) {
    if (count > 0) hear({bytes.data(), static_cast<std::size_t>(count)});
  }
  ::close(pipe[0]);
  return ssh ? exit_of(*ssh, there) : Result<int>(ssh.error());
}

int run_via(const Elsewhere& there, const std::vector<std::string>& arguments,
            const Console& console) {
  const Result<int> exit = exit_via(there, arguments);
  return exit ? *exit : console.report(exit.error());
}

Result<std::string> ask_via(RealMachine& machine, const Elsewhere& there,
                            const std::vector<std::string>& arguments, Duration patience) {
  STERNA_ASSIGN(std::string script, script_for(there, arguments));
  const ShellQuestion question{there.ssh, there.ssh,
                               fmt::format("printf '{}'; {}", kAnswer, script)};
  const std::vector<ShellAnswer> answers = ask_shells(machine, {question}, patience);
  const ShellAnswer& answer = answers.front();
  const std::size_t mark = answer.output.find(kAnswer);
  std::string text = mark == std::string::npos ? "" : answer.output.substr(mark + kAnswer.size());
  if (!answer.exit || text.empty()) {
    return Error{Errc::unavailable, shell_trouble(question, answer)};
  }
  return text;
}

}  // namespace sterna::launcher
