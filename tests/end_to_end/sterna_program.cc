#include "tests/end_to_end/sterna_program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace sterna::test {

namespace {

std::string binary() {
  const char* path = std::getenv("STERNA_BINARY");
  if (path == nullptr) ADD_FAILURE() << "STERNA_BINARY names no program";
  return path == nullptr ? "" : path;
}

/// This process's, but nothing that the user's own set-up could change in a run.
std::vector<std::string> environment(const std::string& folder) {
  std::vector<std::string> variables = {"HOME=" + folder + "/home", "TMPDIR=" + folder + "/tmp"};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view variable(*entry);
    const bool ours = variable.starts_with("HOME=") || variable.starts_with("TMPDIR=") ||
                      variable.starts_with("XDG_") || variable.starts_with("STERNA_");
    if (!ours) variables.emplace_back(variable);
  }
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& string : strings) result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

int create(const std::string& path) {
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
}

/// The run that a process's child belongs to; 0 if it has none (any more).
std::uint64_t run_of_child(pid_t parent) {
  std::error_code ignored;  // processes come and go while we look
  for (std::filesystem::directory_iterator entry("/proc", ignored), end; entry != end;
       entry.increment(ignored)) {
    std::ifstream file(entry->path() / "cmdline", std::ios::binary);
    std::vector<std::string> arguments;
    for (std::string argument; std::getline(file, argument, '\0');) arguments.push_back(argument);
    const auto child = parse_child_arguments(arguments);
    if (child && child->parent == parent) return child->run;
  }
  return 0;
}

}  // namespace

bool eventually(Duration patience, const std::function<bool()>& condition) {
  constexpr int kBetweenLooks = 5;  // milliseconds
  const SteadyClock clock;
  const Time deadline = clock.now() + patience;
  while (!condition()) {
    if (clock.now() > deadline) return false;
    ::poll(nullptr, 0, kBetweenLooks);
  }
  return true;
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

SternaProgram::SternaProgram(const std::string& folder, std::vector<std::string> arguments) {
  std::filesystem::create_directories(folder + "/home");
  std::filesystem::create_directories(folder + "/tmp");
  int call = 0;
  do {
    ++call;
    out_ = folder + "/stdout." + std::to_string(call);
    err_ = folder + "/stderr." + std::to_string(call);
  } while (std::filesystem::exists(out_));
  const int out = create(out_);
  const int err = create(err_);
  const std::string program = binary();
  arguments.insert(arguments.begin(), "sterna");
  const std::vector<char*> argv = pointers(arguments);
  std::vector<std::string> variables = environment(folder);
  const std::vector<char*> env = pointers(variables);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::setpgid(0, 0);
    const int null = ::open("/dev/null", O_RDONLY);
    ::dup2(null, STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(err, STDERR_FILENO);
    if (::chdir(folder.c_str()) == 0) ::execve(program.c_str(), argv.data(), env.data());
    ::_exit(126);
  }
  ::setpgid(pid_, pid_);  // whoever is first
  ::close(out);
  ::close(err);
}

SternaProgram::~SternaProgram() {
  processes();  // while it lives, its run can be learnt
  if (!code_) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  for (const FoundProcess& left : processes()) ::kill(static_cast<pid_t>(left.pid), SIGKILL);
}

void SternaProgram::interrupt() const { ::kill(-pid_, SIGINT); }

void SternaProgram::kill() const { ::kill(pid_, SIGKILL); }

std::optional<int> SternaProgram::exit_code(Duration patience) {
  eventually(patience, [this] {
    if (code_) return true;
    processes();
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) != pid_) return false;
    constexpr int kKilled = 128;
    code_ = WIFEXITED(status) ? WEXITSTATUS(status) : kKilled + WTERMSIG(status);
    return true;
  });
  return code_;
}

std::vector<FoundProcess> SternaProgram::processes() {
  if (run_ == 0 && !code_) run_ = run_of_child(pid_);
  return run_ == 0 ? std::vector<FoundProcess>{} : processes_of_run(run_);
}

pid_t SternaProgram::pid_of(const std::string& name) {
  for (const FoundProcess& process : processes()) {
    if (process.name == name) return static_cast<pid_t>(process.pid);
  }
  return 0;
}

std::string SternaProgram::story() {
  std::string story = "standard output:\n" + out() + "standard error:\n" + err() + "processes:";
  for (const FoundProcess& process : processes()) {
    story += " " + process.name + "=" + std::to_string(process.pid);
  }
  return story + "\n";
}

}  // namespace sterna::test
