// Executor: where long work goes so that the loop never waits for it.
#pragma once

#include <functional>

namespace sterna {

/// Runs jobs on compute threads, in the order of submission per thread, and their completions on
/// the loop thread. A job must own what it uses (shared_ptr): the actor that submitted it may die
/// first. A simulated executor runs the job at once and completes it after a virtual duration.
class Executor {
 public:
  virtual ~Executor() = default;
  /// Loop thread only. `work` runs on a compute thread; `done` then runs on the loop thread.
  virtual void submit(std::function<void()> work, std::function<void()> done) = 0;
};

}  // namespace sterna
