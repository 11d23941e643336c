#include "runtime/loop/text_writer.h"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace sterna {

struct TextWriter::State {
  Write write;
  Options options;
  SteadyClock clock;
  mutable std::mutex mutex;
  std::condition_variable wake;
  std::condition_variable written;
  // Guarded by mutex:
  std::deque<std::string> texts;
  std::size_t bytes = 0;  // of those
  std::uint64_t lost = 0;
  std::uint64_t lost_unsaid = 0;
  std::optional<Time> writing_since;
  bool stopping = false;

  bool idle() const { return texts.empty() && !writing_since && lost_unsaid == 0; }
};

TextWriter::TextWriter(Write write) : TextWriter(std::move(write), Options()) {}

TextWriter::TextWriter(Write write, Options options)
    : state_(std::make_shared<State>()), patience_(options.patience) {
  state_->write = std::move(write);
  state_->options = std::move(options);
  // Signals are for the threads that expect them.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([state = state_] { write_all(state); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_setname_np(thread_.native_handle(), "text writer");
}

TextWriter::~TextWriter() {
  const bool written = flush(patience_);
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->wake.notify_all();
  if (written) {
    thread_.join();
  } else {
    thread_.detach();  // it may hang for as long as the disk does
  }
}

void TextWriter::put(std::string text) {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->bytes + text.size() > state_->options.most_bytes) {
      ++state_->lost;
      if (state_->options.instead) ++state_->lost_unsaid;
      return;
    }
    state_->bytes += text.size();
    state_->texts.push_back(std::move(text));
  }
  state_->wake.notify_one();
}

bool TextWriter::idle() const {
  const std::lock_guard lock(state_->mutex);
  return state_->idle();
}

bool TextWriter::flush(Duration patience) {
  std::unique_lock lock(state_->mutex);
  return state_->written.wait_for(lock, patience, [this] { return state_->idle(); });
}

std::uint64_t TextWriter::lost() const {
  const std::lock_guard lock(state_->mutex);
  return state_->lost;
}

Duration TextWriter::writing_for() const {
  const std::lock_guard lock(state_->mutex);
  return state_->writing_since ? state_->clock.now() - *state_->writing_since : Duration::zero();
}

void TextWriter::write_all(const std::shared_ptr<State>& state) {
  std::unique_lock lock(state->mutex);
  while (true) {
    state->wake.wait(
        lock, [&] { return state->stopping || !state->texts.empty() || state->lost_unsaid > 0; });
    if (state->stopping) return;
    // What was lost came after all that waits.
    std::string text;
    if (state->texts.empty()) {
      text = state->options.instead(std::exchange(state->lost_unsaid, 0));
    } else {
      text = std::move(state->texts.front());
      state->texts.pop_front();
      state->bytes -= text.size();
    }
    state->writing_since = state->clock.now();
    lock.unlock();
    state->write(text);
    lock.lock();
    state->writing_since.reset();
    state->written.notify_all();
  }
}

TextWriter::Write to_descriptor(int descriptor, std::shared_ptr<std::atomic<int>> failed) {
  return [descriptor, failed = std::move(failed)](std::string_view text) {
    while (!text.empty()) {
      const ssize_t wrote = ::write(descriptor, text.data(), text.size());
      if (wrote > 0) {
        text.remove_prefix(static_cast<std::size_t>(wrote));
      } else if (wrote < 0 && errno == EAGAIN) {
        pollfd waited{descriptor, POLLOUT, 0};
        ::poll(&waited, 1, -1);
      } else if (wrote == 0 || errno != EINTR) {
        if (failed) *failed = errno;
        return;
      }
    }
  };
}

}  // namespace sterna
