#include "runtime/loop/uv_loop.h"

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace sterna {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

// A process without its loop cannot even report an error.
void require(int rc) {
  if (rc == 0) return;
  std::fprintf(stderr, "sterna: cannot start an event loop: %s\n", uv_strerror(rc));
  std::abort();
}

}  // namespace

UvLoop::UvLoop(uv_loop_t* host) : uv_(host != nullptr ? host : &own_), handles_(new Handles) {
  if (host == nullptr) require(uv_loop_init(&own_));
  require(uv_prepare_init(uv_, &handles_->prepare));
  require(uv_check_init(uv_, &handles_->check));
  require(uv_idle_init(uv_, &handles_->idle));
  require(uv_timer_init(uv_, &handles_->timer));
  require(uv_async_init(uv_, &handles_->async, [](uv_async_t* handle) {
    static_cast<UvLoop*>(handle->data)->run_posted();
  }));
  handles_->prepare.data = handles_->check.data = handles_->timer.data = handles_->async.data =
      this;
  uv_prepare_start(&handles_->prepare,
                   [](uv_prepare_t* handle) { static_cast<UvLoop*>(handle->data)->prepare(); });
  uv_check_start(&handles_->check,
                 [](uv_check_t* handle) { static_cast<UvLoop*>(handle->data)->check(); });
}

UvLoop::~UvLoop() {
  assert(!turning_);
  Handles* handles = handles_;
  const auto close = [handles](auto& handle) {
    handle.data = handles;
    ++handles->unclosed;
    uv_close(reinterpret_cast<uv_handle_t*>(&handle), [](uv_handle_t* closed) {
      auto* all = static_cast<Handles*>(closed->data);
      if (--all->unclosed == 0) delete all;
    });
  };
  close(handles->prepare);
  close(handles->check);
  close(handles->idle);
  close(handles->timer);
  close(handles->async);
  if (uv_ != &own_) return;
  // Everybody's close callbacks; sources have closed their own handles by now.
  uv_run(uv_, UV_RUN_DEFAULT);
  [[maybe_unused]] const int rc = uv_loop_close(uv_);
  assert(rc == 0);
}

void UvLoop::add(Source& source) { sources_.push_back(&source); }

void UvLoop::remove(Source& source) {
  const auto it = std::find(sources_.begin(), sources_.end(), &source);
  if (it == sources_.end()) return;
  if (turning_) {
    *it = nullptr;
    removed_ = true;
  } else {
    sources_.erase(it);
  }
}

void UvLoop::post(std::function<void()> work) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = posted_.empty();
    posted_.push_back(std::move(work));
  }
  if (first) uv_async_send(&handles_->async);
}

void UvLoop::run_posted() {
  {
    const std::lock_guard lock(mutex_);
    running_.swap(posted_);
  }
  for (auto& work : running_) {
    work();
    work = nullptr;  // what it owned goes now, in order
  }
  running_.clear();
}

bool UvLoop::run_until(const std::function<bool()>& done, Time deadline) {
  assert(!turning_);
  const auto* outer_done = std::exchange(done_, &done);
  const Time outer_deadline = std::exchange(run_deadline_, deadline);
  bool ended = done();
  while (!ended && (deadline == kNever || now() < deadline)) {
    uv_run(uv_, UV_RUN_ONCE);
    ended = done();
  }
  done_ = outer_done;
  run_deadline_ = outer_deadline;
  return ended;
}

void UvLoop::prepare() {
  if (any_ready()) {
    // An active idle handle makes the poll return at once.
    uv_idle_start(&handles_->idle, [](uv_idle_t*) {});
    return;
  }
  uv_idle_stop(&handles_->idle);
  arm(std::min(next_deadline(), run_deadline_));
}

void UvLoop::arm(Time due) {
  // A timer that fires too early costs one empty turn; moving it at every turn costs more.
  if (due >= armed_) return;
  const std::int64_t left = std::max<std::int64_t>(0, due.ns - now().ns);
  const std::int64_t milliseconds = left / kMillisecond + (left % kMillisecond != 0 ? 1 : 0);
  armed_ = due;
  uv_timer_start(
      &handles_->timer,
      [](uv_timer_t* handle) { static_cast<UvLoop*>(handle->data)->armed_ = kNever; },
      static_cast<std::uint64_t>(milliseconds), 0);
}

void UvLoop::check() {
  for (int round = 0; round < kRounds; ++round) {
    turn_all();
    const bool more = any_ready();
    if (!more || (done_ != nullptr && (*done_)())) return;
  }
}

void UvLoop::turn_all() {
  turning_ = true;
  const std::size_t count = sources_.size();  // those added meanwhile wait for the next round
  for (std::size_t i = 0; i < count; ++i) {
    if (sources_[i] != nullptr) sources_[i]->turn();
  }
  turning_ = false;
  if (removed_) std::erase(sources_, nullptr);
  removed_ = false;
}

bool UvLoop::any_ready() {
  bool any = false;
  for (Source* source : sources_) any = source->ready() || any;  // every one is asked
  return any;
}

Time UvLoop::next_deadline() {
  Time due = kNever;
  for (Source* source : sources_) due = std::min(due, source->next_deadline());
  return due;
}

}  // namespace sterna
