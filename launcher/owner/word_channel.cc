#include "launcher/owner/word_channel.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

namespace sterna::launcher {
namespace {

/// Bytes that may wait for a launcher that does not read before words are left out.
constexpr std::size_t kMuchUnread = 256U << 10;

struct Write {
  uv_write_t request{};
  Bytes bytes;
};

void to_nowhere(int stream, int flags) {
  const int null = ::open("/dev/null", flags | O_CLOEXEC);
  if (null < 0) return;
  ::dup2(null, stream);
  ::close(null);
}

}  // namespace

Result<OwnerWord> read_first_word(int from) {
  std::optional<OwnerWord> first;
  WordReader reader([&](OwnerWord word) {
    if (!first) first = std::move(word);
  });
  // Byte by byte up to the length, then exactly so many: what follows is the channel's.
  const auto read_exactly = [&](std::size_t size) -> Result<std::string> {
    std::string bytes(size, '\0');
    for (std::size_t at = 0; at < size;) {
      const ssize_t got = ::read(from, bytes.data() + at, size - at);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return Error{Errc::unavailable, "nobody says what to do"};
      at += static_cast<std::size_t>(got);
    }
    return bytes;
  };
  STERNA_ASSIGN(const std::string length, read_exactly(sizeof(std::uint64_t)));
  std::uint64_t size = 0;
  length.copy(reinterpret_cast<char*>(&size), sizeof(size));
  constexpr std::uint64_t kLongestOrder = 16U << 20;
  if (size > kLongestOrder) return Error{Errc::malformed, "that is no order"};
  STERNA_ASSIGN(const std::string packed, read_exactly(size));
  if (!reader.take(length + packed) || !first) return Error{Errc::malformed, "that is no order"};
  return std::move(*first);
}

struct WordChannel::Pipes {
  explicit Pipes(Events told)
      : events(std::move(told)), reader([this](OwnerWord word) { events.word(std::move(word)); }) {}
  Events events;
  WordReader reader;
  uv_pipe_t input{};
  uv_pipe_t output{};
  std::vector<char> buffer = std::vector<char>(std::size_t{64} << 10);
  int open = 2;

  void ended() {
    const auto tell = std::exchange(events.ended, {});
    if (tell) tell();
  }
  void close() {
    events = {};
    for (uv_pipe_t* pipe : {&input, &output}) {
      uv_close(reinterpret_cast<uv_handle_t*>(pipe), [](uv_handle_t* closed) {
        auto* self = static_cast<Pipes*>(closed->data);
        if (--self->open == 0) delete self;
      });
    }
  }
};

WordChannel::WordChannel(UvLoop& loop, Events events) : pipes_(new Pipes(std::move(events))) {
  for (uv_pipe_t* pipe : {&pipes_->input, &pipes_->output}) {
    uv_pipe_init(loop.uv(), pipe, 0);
    pipe->data = pipes_;
  }
  // The pipes own copies: the numbers 0 and 1 stay taken when they close.
  uv_pipe_open(&pipes_->input, ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  uv_pipe_open(&pipes_->output, ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  to_nowhere(STDIN_FILENO, O_RDONLY);
  to_nowhere(STDOUT_FILENO, O_WRONLY);
  uv_read_start(
      reinterpret_cast<uv_stream_t*>(&pipes_->input),
      [](uv_handle_t* handle, std::size_t, uv_buf_t* space) {
        auto* self = static_cast<Pipes*>(handle->data);
        *space = uv_buf_init(self->buffer.data(), static_cast<unsigned>(self->buffer.size()));
      },
      [](uv_stream_t* stream, ssize_t size, const uv_buf_t*) {
        auto* self = static_cast<Pipes*>(stream->data);
        const auto length = static_cast<std::size_t>(size);
        if (size > 0 && self->reader.take({self->buffer.data(), length})) return;
        if (size == 0) return;
        uv_read_stop(stream);
        self->ended();
      });
}

WordChannel::~WordChannel() {
  if (pipes_ != nullptr) pipes_->close();
}

void WordChannel::send(const OwnerWord& word) {
  if (pipes_ == nullptr) return;
  auto* write = new Write{{}, as_written(word)};
  write->request.data = write;
  uv_buf_t buffer = uv_buf_init(
      const_cast<char*>(reinterpret_cast<const char*>(write->bytes.data())),  // NOLINT: libuv's
      static_cast<unsigned>(write->bytes.size()));
  const auto done = [](uv_write_t* request, int) { delete static_cast<Write*>(request->data); };
  auto* output = reinterpret_cast<uv_stream_t*>(&pipes_->output);
  if (uv_write(&write->request, output, &buffer, 1, done) != 0) delete write;
}

void WordChannel::send_if_heard(const OwnerWord& word) {
  if (pipes_ == nullptr) return;
  const auto* output = reinterpret_cast<const uv_stream_t*>(&pipes_->output);
  if (uv_stream_get_write_queue_size(output) < kMuchUnread) send(word);
}

void WordChannel::close(const OwnerWord& last) {
  if (pipes_ == nullptr) return;
  const Bytes bytes = as_written(last);
  auto* output = reinterpret_cast<uv_stream_t*>(&pipes_->output);
  uv_stream_set_blocking(output, 1);
  send(last);
  std::exchange(pipes_, nullptr)->close();
}

}  // namespace sterna::launcher
