#include "runtime/host/piped_process.h"

#include <array>
#include <csignal>
#include <memory>
#include <utility>

namespace sterna {

struct PipedProcess::Handles {
  Events events;
  uv_process_t process{};
  std::array<uv_pipe_t, 3> pipes{};
  std::vector<char> buffer = std::vector<char>(std::size_t{64} << 10);
  ProcessExit exit;
  bool ended = false;    ///< the process
  int streams_open = 2;  ///< output and errors
  int unclosed = 0;      ///< handles that libuv has not closed yet
  bool owned = true;
  std::shared_ptr<bool> listening = std::make_shared<bool>(true);
  bool released = false;

  template <class Handle>
  void close(Handle& handle) {
    auto* base = reinterpret_cast<uv_handle_t*>(&handle);
    if (base->loop == nullptr || uv_is_closing(base) != 0) return;
    uv_close(base, [](uv_handle_t* closed) {
      auto* self = static_cast<Handles*>(closed->data);
      if (--self->unclosed == 0 && !self->owned) delete self;
    });
  }
  void close_all() {
    close(process);
    for (uv_pipe_t& pipe : pipes) close(pipe);
  }
  void listen(std::size_t stream);
  void received(std::size_t stream, ssize_t size);
  void tell_if_over() {
    if (!ended || streams_open > 0 || !events.exited) return;
    const auto exited = std::exchange(events.exited, {});
    exited(exit);
  }
};

namespace {

struct Write {
  uv_write_t request{};
  Bytes bytes;
  std::function<void()> written;
  /// Whether whoever wants to know still exists.
  std::shared_ptr<const bool> listening;
};

}  // namespace

void PipedProcess::Handles::listen(std::size_t stream) {
  uv_read_start(
      reinterpret_cast<uv_stream_t*>(&pipes[stream]),
      [](uv_handle_t* handle, std::size_t, uv_buf_t* space) {
        auto* self = static_cast<Handles*>(handle->data);
        *space = uv_buf_init(self->buffer.data(), static_cast<unsigned>(self->buffer.size()));
      },
      [](uv_stream_t* pipe, ssize_t size, const uv_buf_t*) {
        auto* self = static_cast<Handles*>(pipe->data);
        self->received(reinterpret_cast<uv_pipe_t*>(pipe) == &self->pipes[1] ? 1 : 2, size);
      });
}

void PipedProcess::Handles::received(std::size_t stream, ssize_t size) {
  if (size == 0) return;
  if (size > 0) {
    const auto& told = stream == 1 ? events.output : events.errors;
    if (told) told({buffer.data(), static_cast<std::size_t>(size)});
    return;
  }
  close(pipes[stream]);
  --streams_open;
  tell_if_over();
}

Result<std::unique_ptr<PipedProcess>> PipedProcess::start(UvLoop& loop,
                                                          const std::vector<std::string>& command,
                                                          Events events) {
  auto* handles = new Handles;
  handles->events = std::move(events);
  handles->process.data = handles;
  std::array<uv_stdio_container_t, 3> stdio{};
  for (std::size_t i = 0; i < stdio.size(); ++i) {
    uv_pipe_init(loop.uv(), &handles->pipes[i], 0);
    handles->pipes[i].data = handles;
    ++handles->unclosed;
    stdio[i].flags = static_cast<uv_stdio_flags>(UV_CREATE_PIPE |
                                                 (i == 0 ? UV_READABLE_PIPE : UV_WRITABLE_PIPE));
    stdio[i].data.stream = reinterpret_cast<uv_stream_t*>(&handles->pipes[i]);
  }
  std::vector<std::string> words = command;
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  uv_process_options_t options{};
  options.file = argv.front();
  options.args = argv.data();
  options.flags = UV_PROCESS_DETACHED;
  options.stdio = stdio.data();
  options.stdio_count = static_cast<int>(stdio.size());
  options.exit_cb = [](uv_process_t* process, std::int64_t status, int signal) {
    auto* self = static_cast<Handles*>(process->data);
    self->exit.signal = signal;
    self->exit.code = signal == 0 ? static_cast<int>(status) : -1;
    self->ended = true;
    self->close(self->process);
    self->tell_if_over();
  };
  const int code = uv_spawn(loop.uv(), &handles->process, &options);
  ++handles->unclosed;
  if (code != 0) {
    handles->owned = false;
    handles->close_all();
    return Error{Errc::io, "cannot start " + command.front() + ": " + uv_strerror(code)};
  }
  handles->listen(1);
  handles->listen(2);
  return std::unique_ptr<PipedProcess>(new PipedProcess(handles));
}

PipedProcess::~PipedProcess() {
  *handles_->listening = false;
  if (!handles_->released) signal(SIGKILL);
  if (!handles_->released && !handles_->ended && pid() > 0) reap_killed({pid()});
  handles_->events = {};
  handles_->owned = false;
  if (handles_->unclosed == 0) {
    delete handles_;
  } else {
    handles_->close_all();
  }
}

void PipedProcess::write(Bytes bytes, std::function<void()> written) {
  auto* write = new Write{{}, std::move(bytes), std::move(written), handles_->listening};
  write->request.data = write;
  uv_buf_t buffer = uv_buf_init(
      const_cast<char*>(reinterpret_cast<const char*>(write->bytes.data())),  // NOLINT: libuv's
      static_cast<unsigned>(write->bytes.size()));
  const auto done = [](uv_write_t* request, int status) {
    const std::unique_ptr<Write> finished(static_cast<Write*>(request->data));
    if (status == 0 && *finished->listening && finished->written) finished->written();
  };
  auto* input = reinterpret_cast<uv_stream_t*>(handles_->pipes.data());
  if (uv_is_closing(reinterpret_cast<uv_handle_t*>(input)) != 0 ||
      uv_write(&write->request, input, &buffer, 1, done) != 0) {
    delete write;
  }
}

void PipedProcess::close_input() {
  auto* input = reinterpret_cast<uv_stream_t*>(handles_->pipes.data());
  if (uv_is_closing(reinterpret_cast<uv_handle_t*>(input)) != 0) return;
  auto* request = new uv_shutdown_t;
  request->data = handles_;
  const auto done = [](uv_shutdown_t* finished, int) {
    auto* self = static_cast<Handles*>(finished->data);
    delete finished;
    self->close(self->pipes[0]);
  };
  if (uv_shutdown(request, input, done) != 0) {
    delete request;
    handles_->close(handles_->pipes[0]);
  }
}

void PipedProcess::signal(int number) {
  if (handles_->ended || pid() <= 0) return;
  ::kill(static_cast<pid_t>(-pid()), number);
}

void PipedProcess::release() { handles_->released = true; }

std::int64_t PipedProcess::pid() const { return handles_->process.pid; }

}  // namespace sterna
