// SignalWatch: a signal as an event of the loop, while it lives.
#pragma once

#include <functional>
#include <memory>

#include "runtime/loop/uv_loop.h"

namespace sterna {

class SignalWatch {
 public:
  /// `handler` runs on the loop thread, at every arrival. `loop` must outlive it.
  SignalWatch(UvLoop& loop, int signal, std::function<void()> handler);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  struct Handle;
  Handle* handle_;  ///< freed when libuv has closed it
};

}  // namespace sterna
