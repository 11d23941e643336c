#include "runtime/host/lifeline.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace sterna {

namespace {

/// Puts `path` in the place of descriptor `to`.
void redirect(const char* path, int flags, int to) {
  constexpr mode_t kMode = 0600;
  const int file = ::open(path, flags | O_CLOEXEC, kMode);
  if (file < 0) return;
  ::dup2(file, to);
  ::close(file);
}

}  // namespace

struct Lifeline::Pipe {
  uv_poll_t poll{};
  std::function<void(const std::string&)> lost;
  bool detached = false;

  void readable() {
    std::array<char, 64> bytes{};
    const ssize_t size = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) return;
    for (ssize_t i = 0; i < size; ++i) detached = detached || bytes[i] == kDetach;
    if (size > 0 && !detached) return;
    uv_poll_stop(&poll);
    if (detached) {
      (void)!::write(STDOUT_FILENO, kDetached.data(), kDetached.size());
      redirect("/dev/null", O_WRONLY, STDOUT_FILENO);
      redirect("/dev/null", O_RDONLY, STDIN_FILENO);
    } else {
      lost("the connection to the launcher ended");
    }
  }
};

Lifeline::Lifeline(UvLoop& loop, const std::string& log_file,
                   std::function<void(const std::string& why)> lost)
    : pipe_(new Pipe) {
  if (!log_file.empty()) {
    redirect(log_file.c_str(), O_WRONLY | O_APPEND | O_CREAT, STDERR_FILENO);
  }
  pipe_->lost = std::move(lost);
  pipe_->poll.data = pipe_;
  uv_poll_init(loop.uv(), &pipe_->poll, STDIN_FILENO);
  uv_poll_start(&pipe_->poll, UV_READABLE | UV_DISCONNECT,
                [](uv_poll_t* poll, int, int) { static_cast<Pipe*>(poll->data)->readable(); });
}

Lifeline::~Lifeline() {
  uv_close(reinterpret_cast<uv_handle_t*>(&pipe_->poll),
           [](uv_handle_t* closed) { delete static_cast<Pipe*>(closed->data); });
}

}  // namespace sterna
