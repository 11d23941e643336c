#include "runtime/loop/signal_watch.h"

#include <utility>

namespace sterna {

struct SignalWatch::Handle {
  uv_signal_t signal{};
  std::function<void()> handler;
};

SignalWatch::SignalWatch(UvLoop& loop, int signal, std::function<void()> handler)
    : handle_(new Handle) {
  handle_->handler = std::move(handler);
  uv_signal_init(loop.uv(), &handle_->signal);
  handle_->signal.data = handle_;
  uv_signal_start(
      &handle_->signal,
      [](uv_signal_t* fired, int) { static_cast<Handle*>(fired->data)->handler(); }, signal);
}

SignalWatch::~SignalWatch() {
  uv_close(reinterpret_cast<uv_handle_t*>(&handle_->signal),
           [](uv_handle_t* closed) { delete static_cast<Handle*>(closed->data); });
}

}  // namespace sterna
