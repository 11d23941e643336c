#include "tests/cluster/cluster_runs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/actors/thirty_steps.h"

namespace sterna::test {

namespace {

namespace fs = std::filesystem;
constexpr const char* kMark = "STERNA_CALL=";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string new_mark() {
  static std::atomic<int> calls = 0;
  return kMark + std::to_string(::getpid()) + "-" + std::to_string(++calls);
}

std::string state_folder(const ClusterHosts& hosts, const User& user) {
  return hosts.launcher_folder() + "/" + user.name + "/state";
}

Environment environment_of(const ClusterHosts& hosts, const User& user, const std::string& mark,
                           const std::string& temporary) {
  fs::create_directories(temporary);
  Environment all = with_variables(own_environment(), hosts.launcher_environment());
  return with_variables(all, {"XDG_STATE_HOME=" + state_folder(hosts, user), mark,
                              "TMPDIR=" + temporary, "OMP_WAIT_POLICY=PASSIVE"});
}

std::vector<std::string> with_program(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), variable("STERNA_BINARY"));
  return arguments;
}

/// The arguments of a process, or its environment: what ends with zeros in /proc.
std::vector<std::string> strings_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::string> strings;
  for (std::string one; std::getline(file, one, '\0');) strings.push_back(one);
  return strings;
}

/// What the words of a command line say that it is; nothing where it is none of a run's.
std::optional<RunProcess> run_process(const std::vector<std::string>& words) {
  const auto mark = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    return word == "__process" || word == "__own";
  });
  RunProcess process;
  if (words.end() - mark > 2) {
    process.name = *mark == "__own" ? "owner" : mark[1];
    process.run = mark[2];
    return process;
  }
  const bool shell = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word.find("/bundles/$h") != std::string::npos;
  });
  if (!shell) return std::nullopt;
  process.name = "shell";
  return process;
}

bool is_alive(const std::string& folder) {
  std::string stat;  // getline takes a process that ends meanwhile for the end of its file
  std::ifstream file(folder + "/stat");
  std::getline(file, stat);
  const std::size_t end = stat.rfind(") ");
  return end != std::string::npos && stat.at(end + 2) != 'Z' && stat.at(end + 2) != 'X';
}

}  // namespace

const char* const kSmallJob = R"(
[[actor]]
role = "parameter_server"
hosts = ["a"]

[[actor]]
role = "worker"
count = 2
hosts = ["b", "d"]

[[actor]]
role = "input_reader"
hosts = ["c"]

[[actor]]
role = "evaluator"
hosts = ["c"]

[job]
net = "mlp"
hidden = [16]
steps = 1000000000
batch = 4

[data]
name = "digits"

[evaluator]
every = 0

[optimizer]
schedule = "fixed"
learning_rate = 0.001
)";

const std::string kUnhurriedJob = std::string(kSmallJob) + R"(
[[inject.delay]]
ranks = [0, 1]
delay = "10ms"
)";

Call::Call(const ClusterHosts& hosts, const User& user, std::vector<std::string> arguments)
    : mark_(new_mark()),
      temporary_(hosts.folder() + "/tmp/" + mark_.substr(mark_.find('=') + 1)),
      program_(hosts.launcher_folder() + "/" + user.name, with_program(std::move(arguments)),
               environment_of(hosts, user, mark_, temporary_)) {}

std::vector<RunProcess> Call::here() const {
  std::vector<RunProcess> found;
  std::error_code ignored;  // processes come and go while we look
  for (fs::directory_iterator entry("/proc", ignored), end; entry != end;
       entry.increment(ignored)) {
    const std::string folder = entry->path().string();
    const pid_t pid = std::atoi(entry->path().filename().c_str());
    if (pid == 0 || pid == program_.pid() || !is_alive(folder)) continue;
    const auto environment = strings_of(folder + "/environ");
    if (std::find(environment.begin(), environment.end(), mark_) == environment.end()) continue;
    const auto words = strings_of(folder + "/cmdline");
    RunProcess process = run_process(words).value_or(RunProcess{});
    process.pid = pid;
    if (process.run.empty()) {
      process.name = words.empty() ? "?" : fs::path(words[0]).filename().string();
    }
    found.push_back(process);
  }
  return found;
}

std::vector<std::string> Call::temporary_files() const {
  std::vector<std::string> files;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(temporary_, ignored)) {
    files.push_back(entry.path().string());
  }
  return files;
}

std::string Call::story() const {
  std::string text = "standard output:\n" + out() + "standard error:\n" + err();
  for (const RunProcess& process : here()) {
    text += fmt::format("still here: {} {} {}\n", process.pid, process.name, process.run);
  }
  return text;
}

ClusterRuns::ClusterRuns(int count, const std::vector<std::string>& options)
    : hosts_(count, options) {
  if (!hosts_.missing().empty()) return;
  const auto drawn = sterna({"data", "make", "digits", "--train", "2000", "--test", "500", "--out",
                             hosts_.launcher_folder() + "/digits"});
  EXPECT_EQ(drawn->exit_code(std::chrono::minutes(1)), 0) << drawn->story();
  for (const std::string& host : hosts_.names()) {
    hosts_.must("put", {host, hosts_.launcher_folder() + "/digits", "/var/tmp"});
  }
}

std::string ClusterRuns::file(const ClusterText& text, const std::string& actors_and_job) const {
  std::string toml =
      fmt::format("format = 1\n[cluster]\nname = \"{}\"\nlease = \"{}\"\ngrace = \"3s\"\n",
                  text.name, text.lease);
  if (!text.head.empty()) toml += fmt::format("head = \"{}\"\n", text.head);
  toml += text.more;
  for (const std::string& host : text.hosts) {
    toml +=
        fmt::format("[[host]]\nname = \"{}\"\nssh = \"{}@{}\"\naddress = \"{}\"\ndata = \"{}\"\n",
                    host, text.user, host, hosts_.address(host), kDigitsThere);
  }
  const std::string path = hosts_.launcher_folder() + "/" + text.name + ".toml";
  std::ofstream(path) << toml << actors_and_job;
  return path;
}

std::unique_ptr<Call> ClusterRuns::sterna(const std::vector<std::string>& arguments,
                                          const User& user) const {
  return std::make_unique<Call>(hosts_, user, arguments);
}

nlohmann::json ClusterRuns::ask(std::vector<std::string> arguments, const User& user) const {
  arguments.emplace_back("--json");
  const auto call = sterna(arguments, user);
  EXPECT_TRUE(call->exit_code(std::chrono::minutes(2))) << call->story();
  const std::vector<std::string> lines = lines_of(call->out());
  if (lines.empty()) std::printf("%s: %s", arguments[0].c_str(), call->story().c_str());
  return lines.empty() ? nlohmann::json() : nlohmann::json::parse(lines.back(), nullptr, false);
}

std::int64_t ClusterRuns::step_of(const std::string& id, const User& user) const {
  const nlohmann::json status = ask({"status", id}, user);
  if (!status.is_object() || !status.contains("status") || !status["status"].is_object()) return -1;
  return status["status"].value("step", std::int64_t{-1});
}

std::vector<RunProcess> ClusterRuns::there() const {
  std::vector<RunProcess> found;
  for (const Survivor& survivor : hosts_.survivors("__process|__own|/bundles/.h")) {
    std::istringstream line(survivor.line);
    std::vector<std::string> words;
    for (std::string word; line >> word;) words.push_back(word);
    RunProcess process = run_process(words).value_or(RunProcess{});
    process.host = survivor.host;
    process.pid = survivor.pid;
    found.push_back(process);
  }
  return found;
}

std::optional<RunProcess> ClusterRuns::wait_for(const std::string& name, Duration patience) const {
  std::optional<RunProcess> found;
  eventually(patience, [&] {
    for (const RunProcess& process : there()) {
      if (process.name == name) found = process;
    }
    return found.has_value();
  });
  return found;
}

std::vector<std::string> ClusterRuns::state_files(const User& user) const {
  std::vector<std::string> files;
  std::error_code ignored;
  for (const auto& entry :
       fs::directory_iterator(state_folder(hosts_, user) + "/sterna/runs", ignored)) {
    files.push_back(entry.path().string());
  }
  return files;
}

void ClusterRuns::kill(const RunProcess& process) const {
  if (process.host.empty()) {
    ::kill(process.pid, SIGKILL);
  } else {
    hosts_.exec(process.host, {"kill", "-9", std::to_string(process.pid)});
  }
}

std::string small_unless_in_full(const std::string& job) {
  if (in_full()) return job;
  return of_a_small_net(job) + "\n[[inject.delay]]\nranks = [0]\ndelay = \"50ms\"\n";
}

int times() { return std::max(1, std::atoi(variable("STERNA_TIMES").c_str())); }

bool in_full() { return !variable("STERNA_FIGURES").empty(); }

void print_figure(const nlohmann::ordered_json& figure) {
  std::printf("figure %s\n", figure.dump().c_str());
  std::fflush(stdout);
}

}  // namespace sterna::test
