#include "launcher/hosts/slurm_step.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <utility>

namespace sterna::launcher {
namespace {

struct Process {
  std::string name;
  pid_t parent = 0;
};

Process process_of(pid_t pid) {
  Process process;
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("Name:\t")) process.name = line.substr(6);
    if (line.starts_with("PPid:\t")) process.parent = std::stoi(line.substr(6));
  }
  return process;
}

}  // namespace

struct SlurmStep::Watch {
  uv_poll_t poll{};
  int descriptor = -1;
  std::function<void()> gone;
};

pid_t slurm_step_daemon() {
  for (pid_t pid = ::getppid(); pid > 1;) {
    const Process process = process_of(pid);
    if (process.name == "slurmstepd") return pid;
    pid = process.parent;
  }
  return 0;
}

SlurmStep::SlurmStep(UvLoop& loop, std::function<void()> gone) {
  const pid_t daemon = slurm_step_daemon();
  if (daemon == 0) return;
  const int descriptor = static_cast<int>(::syscall(SYS_pidfd_open, daemon, 0));
  if (descriptor < 0) return;
  watch_ = new Watch;
  watch_->descriptor = descriptor;
  watch_->gone = std::move(gone);
  watch_->poll.data = watch_;
  uv_poll_init(loop.uv(), &watch_->poll, descriptor);
  uv_poll_start(&watch_->poll, UV_READABLE, [](uv_poll_t* poll, int, int) {
    uv_poll_stop(poll);
    static_cast<Watch*>(poll->data)->gone();
  });
}

SlurmStep::~SlurmStep() {
  if (watch_ == nullptr) return;
  uv_close(reinterpret_cast<uv_handle_t*>(&watch_->poll), [](uv_handle_t* closed) {
    auto* watch = static_cast<Watch*>(closed->data);
    ::close(watch->descriptor);
    delete watch;
  });
}

}  // namespace sterna::launcher
