// UvLoop: the real loop, on libuv. One thread, one epoll; sources are turned after each poll.
//
// An iteration: `prepare` asks every source whether it is ready (then the poll does not wait) and
// when it is due (one timer for all), the poll waits, `check` turns every source. While some source
// stays ready, up to kRounds rounds are made before the next poll, so that a busy loop does not pay
// one system call per round and yet hears its timers and its host's handles.
#pragma once

#include <uv.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/loop/loop.h"

namespace sterna {

/// Loop thread only, except post() and now(). Not reentrant: run_until() is not called in a turn.
class UvLoop final : public Loop {
 public:
  /// With a host's loop, its owner runs it (or run_until() does); the host's loop must outlive this
  /// object and be run once more after it, so that its handles can close. Without, owns one.
  /// A machine that has no descriptor left for a loop ends the process with a line that says so.
  explicit UvLoop(uv_loop_t* host = nullptr);
  ~UvLoop() override;
  UvLoop(const UvLoop&) = delete;
  UvLoop& operator=(const UvLoop&) = delete;

  Time now() const override { return clock_.now(); }
  void add(Source& source) override;
  void remove(Source& source) override;
  void post(std::function<void()> work) override;
  bool run_until(const std::function<bool()>& done, Time deadline) override;

  /// For sources that watch descriptors or processes of their own.
  uv_loop_t* uv() { return uv_; }

 private:
  // The handles outlive the object until libuv has closed them.
  struct Handles {
    uv_prepare_t prepare;
    uv_check_t check;
    uv_idle_t idle;
    uv_timer_t timer;
    uv_async_t async;
    int unclosed = 0;
  };
  static constexpr int kRounds = 4;

  void prepare();
  void check();
  void turn_all();
  bool any_ready();
  Time next_deadline();
  void arm(Time due);
  void run_posted();

  SteadyClock clock_;
  uv_loop_t own_{};
  uv_loop_t* uv_;
  Handles* handles_;

  std::vector<Source*> sources_;  // null where removed during a turn
  bool turning_ = false;
  bool removed_ = false;
  Time armed_ = kNever;                          // when the uv timer fires
  Time run_deadline_ = kNever;                   // of run_until
  const std::function<bool()>* done_ = nullptr;  // of run_until

  std::mutex mutex_;
  std::vector<std::function<void()>> posted_;  // guarded by mutex_
  std::vector<std::function<void()>> running_;
};

}  // namespace sterna
