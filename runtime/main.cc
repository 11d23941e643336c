#include "runtime/main.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "runtime/base/file.h"
#include "runtime/cluster/hosted_process.h"
#include "runtime/crash_trace.h"
#include "runtime/host/lifeline.h"
#include "runtime/host/process_names.h"
#include "runtime/host/real_machine.h"
#include "runtime/loop/signal_watch.h"
#include "runtime/loop/text_writer.h"
#include "runtime/self_description.h"

namespace sterna {

namespace {

/// A process that has decided to end but cannot (a compute job, a full pipe) is ended by SIGALRM.
constexpr unsigned kEndTakes = 4;  // seconds
constexpr std::size_t kBootstrapLimit = 256U << 20;
/// Like the shell's "command not found": the child never was a process of the run.
constexpr int kExitNotStarted = 127;
/// Of `sterna join`, whose exit is a person's or a supervisor's to read: no word from the run.
constexpr int kExitNoWord = 3;

void leave_no_input() {
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null < 0) return;
  ::dup2(null, STDIN_FILENO);
  ::close(null);
}

/// Reads standard input to its end, and leaves /dev/null in its place.
std::vector<char> read_standard_input() {
  std::vector<char> bytes;
  char buffer[4096];
  for (ssize_t size = 0; bytes.size() < kBootstrapLimit;) {
    size = ::read(STDIN_FILENO, buffer, sizeof(buffer));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    bytes.insert(bytes.end(), buffer, buffer + size);
  }
  leave_no_input();
  return bytes;
}

/// Nobody is at the other end of a file: it was given to `sterna join`, and what was started is
/// somebody else's to watch.
bool input_is_a_file() {
  struct stat status {};
  return ::fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode);
}

/// Reads what a remote launcher sends first: its length, and so many bytes. Standard input stays
/// open: as long as it does, the launcher is there.
std::vector<char> read_framed_input() {
  const auto read_exactly = [](char* to, std::size_t size) {
    while (size > 0) {
      const ssize_t got = ::read(STDIN_FILENO, to, size);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      to += got;
      size -= static_cast<std::size_t>(got);
    }
    return true;
  };
  std::uint64_t size = 0;
  if (!read_exactly(reinterpret_cast<char*>(&size), sizeof(size)) || size > kBootstrapLimit) {
    return {};
  }
  std::vector<char> bytes(size);
  if (!read_exactly(bytes.data(), bytes.size())) return {};
  return bytes;
}

/// On a host that the launcher knows only from afar: finds its folder, and works there.
Result<void> settle_here(Bootstrap& bootstrap) {
  bootstrap.log_directory = expand_home(bootstrap.log_directory);
  const std::string& folder = bootstrap.log_directory;
  if (folder.empty()) return {};
  STERNA_TRY(make_directory(folder));
  if (::chmod(folder.c_str(), S_IRWXU) != 0 || ::chdir(folder.c_str()) != 0) {
    return system_error(folder, errno);
  }
  return {};
}

void answer(const Contact& contact) {
  const Bytes packed = pack(PeerContact{contact});
  const char* at = reinterpret_cast<const char*>(packed.data());
  for (std::size_t left = packed.size(); left > 0;) {
    const ssize_t size = ::write(UvSpawner::kAnswerDescriptor, at, left);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    at += size;
    left -= static_cast<std::size_t>(size);
  }
  ::close(UvSpawner::kAnswerDescriptor);
}

int host(const ChildArguments& arguments, const Registry& registry) {
  trace_crashes(arguments.name);
  ::prctl(PR_SET_NAME, own_program_name().c_str());  // it was started as /proc/self/exe
  const bool from_afar = arguments.parent == 0;
  const bool joined = from_afar && input_is_a_file();
  if (!from_afar) {
    // The shim: die with the parent; and if it died before we could ask for that, now.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != arguments.parent) return kExitNotStarted;
  }
  const std::vector<char> told = from_afar ? read_framed_input() : read_standard_input();
  if (joined) leave_no_input();
  Result<Bootstrap> bootstrap = unpack<Bootstrap>(std::as_bytes(std::span(told)));
  if (bootstrap && from_afar) {
    if (Result<void> settled = settle_here(*bootstrap); !settled) bootstrap = settled.error();
  }
  if (!bootstrap) {
    log_to_stderr("cannot start: " + bootstrap.error().message);
    return kExitNotStarted;
  }
  const ProcessKind kind = bootstrap->kind;
  const std::uint64_t run = bootstrap->run;
  const std::string sockets = bootstrap->network.directory;
  const std::string log_file = bootstrap->log_file();
  // A log file is its writer's alone; standard error is everybody's.
  const std::string prefix =
      bootstrap->log_directory.empty() ? bootstrap->identity.name + ": " : "";
  const auto lost = [prefix](std::uint64_t lines) {
    return log_line(fmt::format("{}{} lines were lost: they came faster than they could be written",
                                prefix, lines));
  };
  TextWriter writer(to_descriptor(STDERR_FILENO), {.instead = lost});
  const auto log = [&writer, prefix](std::string_view line) {
    writer.put(log_line(prefix + std::string(line)));
  };
  RealMachine machine(log);
  HostedProcess hosted(machine, std::move(*bootstrap), registry);
  std::optional<SignalWatch> orphaned;
  std::optional<Lifeline> lifeline;
  std::optional<SignalWatch> terminated;
  std::optional<SignalWatch> interrupted;
  bool told_to_end = false;
  if (kind == ProcessKind::NODE) ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (kind == ProcessKind::COORDINATOR) {
    // It has something left to do when the launcher dies: to remove the sockets. Its nodes do not
    // wait for that; they die at once.
    orphaned.emplace(machine.loop(), SIGTERM, [&hosted, parent = arguments.parent] {
      if (::getppid() == parent) return;  // a batch system told the launcher too
      ::alarm(kEndTakes);
      hosted.lease_lost("the launcher is dead");
    });
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != arguments.parent) return kExitLostLease;
  }
  const Result<Contact> contact = hosted.start();
  if (!contact) {
    log(contact.error().message);
    return kExitFailed;
  }
  if (kind == ProcessKind::COORDINATOR) answer(*contact);
  if (from_afar) {
    // A batch system or a supervisor says this before it kills.
    const auto end = [&] {
      told_to_end = true;
      hosted.told_to_end();
    };
    terminated.emplace(machine.loop(), SIGTERM, end);
    interrupted.emplace(machine.loop(), SIGINT, end);
  } else {
    // A batch system tells every process of its job. Who owns the run was told as well, and ends
    // it politely. A node alone that is told to end gives its host back.
    const bool node = kind == ProcessKind::NODE;
    const auto end = [&hosted, node] {
      if (node) hosted.told_to_end();
    };
    if (!orphaned) terminated.emplace(machine.loop(), SIGTERM, end);
    interrupted.emplace(machine.loop(), SIGINT, [] {});
  }
  if (from_afar && !joined) {
    lifeline.emplace(machine.loop(), log_file,
                     [&hosted](const std::string& why) { hosted.lease_lost(why); });
  }
  machine.loop().run_until([&] { return hosted.ended(); }, kNever);
  ::alarm(kEndTakes);
  if (!hosted.why().empty()) {
    log("ending: " + hosted.why());
    if (from_afar && !joined) {
      std::printf("STERNA ending: %s\n", hosted.why().c_str());
      std::fflush(stdout);
    }
  }
  if (kind == ProcessKind::COORDINATOR && hosted.exit_code() == kExitLostLease) {
    machine.remove_socket_directory(sockets);
    machine.remove_near_directories(run);
  }
  if (told_to_end) return 0;
  return joined && hosted.exit_code() == kExitLostLease ? kExitNoWord : hosted.exit_code();
}

}  // namespace

std::optional<int> host_if_child(int argc, char** argv, const Registry& registry) {
  if (const std::string& complaint = registry.complaint(); !complaint.empty()) {
    std::fprintf(stderr, "sterna: %s\n", complaint.c_str());
    return 1;
  }
  const auto child = parse_child_arguments(std::vector<std::string>(argv, argv + argc));
  if (!child) return answer_about_itself(argc, argv, registry);
  return host(*child, registry);
}

int main(int argc, char** argv, const Registry& registry, const std::function<int(Cluster&)>& body,
         const ClusterOptions& options) {
  if (const std::optional<int> code = host_if_child(argc, argv, registry)) return *code;
  RealMachine machine;
  Cluster cluster(machine, registry, options);
  const SignalWatch interrupted(machine.loop(), SIGINT, [&] { cluster.interrupt(); });
  const SignalWatch terminated(machine.loop(), SIGTERM, [&] { cluster.interrupt(); });
  if (const Result<void> started = cluster.start(); !started) {
    std::fprintf(stderr, "sterna: %s\n", started.error().message.c_str());
    return 1;
  }
  const int code = body(cluster);
  cluster.stop(options.grace);
  return code;
}

}  // namespace sterna
