// ThreadExecutor: compute threads behind one first-in-first-out queue.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/loop/executor.h"
#include "runtime/loop/loop.h"

namespace sterna {

/// Destroying it waits for the jobs that run and drops those that wait; completions of the former
/// are still posted, so the loop must outlive it. A job must not throw.
class ThreadExecutor final : public Executor {
 public:
  /// `threads` >= 1 threads called "name/0", "name/1", ... (cut to the system's 15 characters).
  ThreadExecutor(Loop& loop, int threads, const std::string& name);
  ~ThreadExecutor() override;
  ThreadExecutor(const ThreadExecutor&) = delete;
  ThreadExecutor& operator=(const ThreadExecutor&) = delete;

  void submit(std::function<void()> work, std::function<void()> done) override;

 private:
  struct Job {
    std::function<void()> work;
    std::function<void()> done;
  };
  void run();

  Loop& loop_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> jobs_;   // guarded by mutex_
  bool stopping_ = false;  // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace sterna
