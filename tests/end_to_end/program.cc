#include "tests/end_to_end/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace sterna::test {

namespace {

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& string : strings) result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

/// A file that was not there yet: programs that share a folder may start side by side.
int create(const std::string& path) {
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
}

}  // namespace

bool eventually(Duration patience, const std::function<bool()>& condition) {
  constexpr std::int64_t kLeast = 5, kMost = 250;  // milliseconds between looks
  const SteadyClock clock;
  const Time deadline = clock.now() + patience;
  for (Time looked = clock.now(); !condition(); looked = clock.now()) {
    const Time now = clock.now();
    if (now > deadline) return false;
    // Who looks with effort, as by starting a program, does so for a fifth of the time.
    const std::int64_t effort = (now - looked) / std::chrono::milliseconds(1);
    ::poll(nullptr, 0, static_cast<int>(std::clamp(4 * effort, kLeast, kMost)));
  }
  return true;
}

void strike(pid_t process, int signal) {
  if (process <= 0) {
    ADD_FAILURE() << "nobody to send signal " << signal << " to";
  } else {
    ::kill(process, signal);
  }
}

std::string content_of(const std::string& path) {
  // Of a process that ends meanwhile /proc gives an error, which a stream swallows.
  std::ostringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  return content.str();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

Environment with_variables(Environment base, const Environment& variables) {
  for (const std::string& variable : variables) {
    const std::string name = variable.substr(0, variable.find('=') + 1);
    std::erase_if(base, [&](const std::string& entry) { return entry.starts_with(name); });
    base.push_back(variable);
  }
  return base;
}

Environment own_environment() {
  Environment variables;
  for (char** entry = environ; *entry != nullptr; ++entry) variables.emplace_back(*entry);
  return variables;
}

Program::Program(const std::string& folder, std::vector<std::string> command,
                 Environment environment, std::optional<int> output) {
  std::filesystem::create_directories(folder);
  int out = -1;
  for (int call = 1; out < 0 && (call == 1 || errno == EEXIST); ++call) {
    out_ = folder + "/stdout." + std::to_string(call);
    err_ = folder + "/stderr." + std::to_string(call);
    out = create(out_);
  }
  const int err = create(err_);
  const std::vector<char*> argv = pointers(command);
  const std::vector<char*> env = pointers(environment);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::setpgid(0, 0);
    const int null = ::open("/dev/null", O_RDONLY);
    ::dup2(null, STDIN_FILENO);
    ::dup2(output.value_or(out), STDOUT_FILENO);
    ::dup2(output && ::isatty(*output) == 1 ? *output : err, STDERR_FILENO);
    if (::chdir(folder.c_str()) == 0) ::execve(argv[0], argv.data(), env.data());
    ::_exit(126);
  }
  ::setpgid(pid_, pid_);  // whoever is first
  ::close(out);
  ::close(err);
}

Program::~Program() {
  if (code_) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Program::interrupt() const { ::kill(-pid_, SIGINT); }

void Program::kill() const { ::kill(pid_, SIGKILL); }

std::optional<int> Program::exit_code(Duration patience) {
  eventually(patience, [this] {
    if (code_) return true;
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) != pid_) return false;
    constexpr int kKilled = 128;
    code_ = WIFEXITED(status) ? WEXITSTATUS(status) : kKilled + WTERMSIG(status);
    return true;
  });
  return code_;
}

}  // namespace sterna::test
