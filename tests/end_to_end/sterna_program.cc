#include "tests/end_to_end/sterna_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace sterna::test {

namespace {

std::string binary() {
  const char* path = std::getenv("STERNA_BINARY");
  if (path == nullptr) ADD_FAILURE() << "STERNA_BINARY names no program";
  return path == nullptr ? "" : path;
}

/// This process's, but nothing that the user's own set-up could change in a run.
Environment clean_environment(const std::string& folder) {
  Environment variables = own_environment();
  std::erase_if(variables, [](const std::string& variable) {
    return variable.starts_with("XDG_") || variable.starts_with("STERNA_");
  });
  return with_variables(variables, {"HOME=" + folder + "/home", "TMPDIR=" + folder + "/tmp"});
}

/// The folder, with what the program expects in it.
const std::string& furnished(const std::string& folder) {
  std::filesystem::create_directories(folder + "/home");
  std::filesystem::create_directories(folder + "/tmp");
  return folder;
}

std::vector<std::string> command(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), binary());
  return arguments;
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

SternaProgram::SternaProgram(const std::string& folder, std::vector<std::string> arguments,
                             const Environment& variables, std::optional<int> output)
    : program_(furnished(folder), command(std::move(arguments)),
               with_variables(clean_environment(folder), variables), output) {}

SternaProgram::~SternaProgram() {
  learn_run();  // while it lives
  exit_code(Duration::zero());
  if (!ended_) {
    program_.kill();
    exit_code(std::chrono::seconds(10));
  }
  for (const FoundProcess& left : processes()) ::kill(static_cast<pid_t>(left.pid), SIGKILL);
}

std::optional<int> SternaProgram::exit_code(Duration patience) {
  std::optional<int> code;
  eventually(patience, [&] {
    learn_run();
    code = program_.exit_code(Duration::zero());
    return code.has_value();
  });
  ended_ = code.has_value();
  return code;
}

void SternaProgram::learn_run() {
  // One that loses an actor begins another.
  const std::uint64_t now = ended_ ? 0 : run_of_child(pid());
  if (now != 0) runs_.insert(now);
}

std::vector<FoundProcess> SternaProgram::processes() {
  learn_run();
  std::vector<FoundProcess> all;
  for (const std::uint64_t run : runs_)
    std::ranges::copy(processes_of_run(run), std::back_inserter(all));
  return all;
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
