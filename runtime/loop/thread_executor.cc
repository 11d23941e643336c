#include "runtime/loop/thread_executor.h"

#include <pthread.h>

#include <cassert>
#include <utility>

namespace sterna {

ThreadExecutor::ThreadExecutor(Loop& loop, int threads, const std::string& name) : loop_(loop) {
  assert(threads >= 1);
  constexpr std::size_t kLongestName = 15;
  for (int i = 0; i < threads; ++i) {
    const std::string suffix = std::string("/").append(std::to_string(i));
    threads_.emplace_back([this] { run(); });
    pthread_setname_np(threads_.back().native_handle(),
                       (name.substr(0, kLongestName - suffix.size()) + suffix).c_str());
  }
}

ThreadExecutor::~ThreadExecutor() {
  std::deque<Job> dropped;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    dropped.swap(jobs_);
  }
  wake_.notify_all();
  dropped.clear();  // outside the lock: what the jobs own may do anything
  for (std::thread& thread : threads_) thread.join();
}

void ThreadExecutor::submit(std::function<void()> work, std::function<void()> done) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back({std::move(work), std::move(done)});
  }
  wake_.notify_one();
}

void ThreadExecutor::run() {
  for (;;) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
      if (stopping_) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job.work();
    job.work = nullptr;  // what it owned is gone before its completion runs
    loop_.post(std::move(job.done));
  }
}

}  // namespace sterna
