// SlurmStep: the daemon (slurmstepd) under which Slurm has put this process, as something that can
// be gone. Slurm forgets the processes of a daemon that was killed, so they must notice themselves.
#pragma once

#include <sys/types.h>

#include <functional>

#include "runtime/loop/uv_loop.h"

namespace sterna::launcher {

class SlurmStep {
 public:
  /// `gone` is called once, on the loop thread, when the daemon has ended. Does nothing where no
  /// process above this one is a slurmstepd, or the kernel (before 5.3) cannot say when it ends.
  SlurmStep(UvLoop& loop, std::function<void()> gone);
  ~SlurmStep();
  SlurmStep(const SlurmStep&) = delete;
  SlurmStep& operator=(const SlurmStep&) = delete;

 private:
  struct Watch;
  Watch* watch_ = nullptr;  ///< freed when libuv has closed it
};

/// The nearest process above this one that is a slurmstepd; 0: none.
pid_t slurm_step_daemon();

}  // namespace sterna::launcher
