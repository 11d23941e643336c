#include "launcher/hosts/host_shell.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "runtime/host/piped_process.h"
#include "runtime/remote/remote_placer.h"
#include "runtime/remote/remote_session.h"

namespace sterna::launcher {
namespace {

constexpr std::size_t kOutputKept = 4U << 20;
constexpr std::size_t kErrorsKept = 16U << 10;
/// ssh's own patience to connect ends first, and it knows more.
constexpr Duration kBeyondConnecting = std::chrono::seconds(2);

/// One shell while it runs.
struct Asking {
  ShellAnswer answer;
  std::unique_ptr<PipedProcess> process;

  void heard(std::string_view bytes) {
    const auto now = std::chrono::system_clock::now();
    if (answer.asked && !answer.answered) answer.answered = now;
    answer.output += bytes.substr(0, kOutputKept - std::min(kOutputKept, answer.output.size()));
    if (answer.asked || answer.output.find(std::string(kShellReady) + "\n") == std::string::npos) {
      return;
    }
    answer.asked = now;
    process->write(copy_bytes("go\n"));
    process->close_input();
  }
};

void start(RealMachine& machine, const ShellQuestion& question, Duration patience, Asking& asking) {
  std::vector<std::string> command = {"/bin/sh", "-s"};
  if (!question.ssh.empty()) {
    command = ssh_command(question.ssh, patience);
    command.emplace_back("exec /bin/sh -s");
  }
  PipedProcess::Events events;
  events.output = [&asking](std::string_view bytes) { asking.heard(bytes); };
  events.errors = [&asking](std::string_view bytes) {
    std::string& errors = asking.answer.errors;
    errors += bytes;
    if (errors.size() > kErrorsKept) errors.erase(0, errors.size() - kErrorsKept);
  };
  events.exited = [&asking](const ProcessExit& exit) { asking.answer.exit = exit; };
  auto started = PipedProcess::start(machine.loop(), command, std::move(events));
  if (!started) {
    asking.answer.errors = started.error().message;
    asking.answer.exit = ProcessExit{1};
    return;
  }
  asking.process = std::move(started).value();
  // In braces, so that the shell has read all of it before the script reads its line.
  asking.process->write(copy_bytes("{ " + question.script + "\nexit; }\n"));
  if (question.script.find(kShellReady) == std::string::npos) asking.process->close_input();
}

}  // namespace

std::vector<ShellAnswer> ask_shells(RealMachine& machine,
                                    const std::vector<ShellQuestion>& questions, Duration patience,
                                    const std::function<bool()>& stop) {
  std::vector<Asking> all(questions.size());
  for (std::size_t i = 0; i < questions.size(); ++i) {
    start(machine, questions[i], patience, all[i]);
  }
  machine.loop().run_until(
      [&] {
        return stop() || std::all_of(all.begin(), all.end(), [](const Asking& asking) {
                 return asking.answer.exit.has_value();
               });
      },
      machine.loop().now() + patience + kBeyondConnecting);
  std::vector<ShellAnswer> answers;
  answers.reserve(all.size());
  for (Asking& asking : all) answers.push_back(std::move(asking.answer));
  return answers;
}

std::string shell_trouble(const ShellQuestion& question, const ShellAnswer& answer) {
  if (!answer.exit) return question.host + ": it did not answer in time";
  return explain_connection(question.host, {"ssh", question.ssh}, answer.errors, *answer.exit);
}

}  // namespace sterna::launcher
