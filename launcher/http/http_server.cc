#include "launcher/http/http_server.h"

#include <microhttpd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>

namespace sterna::launcher {
namespace {

class Request final : public HttpRequest {
 public:
  Request(MHD_Connection* connection, std::string_view path)
      : connection_(connection), path_(path) {}
  std::string_view path() const override { return path_; }
  std::string_view header(const char* name) const override { return value(MHD_HEADER_KIND, name); }
  std::string_view query(const char* name) const override {
    return value(MHD_GET_ARGUMENT_KIND, name);
  }
  std::string_view cookie(const char* name) const override { return value(MHD_COOKIE_KIND, name); }

 private:
  std::string_view value(MHD_ValueKind kind, const char* name) const {
    const char* const found = MHD_lookup_connection_value(connection_, kind, name);
    return found == nullptr ? "" : found;
  }
  MHD_Connection* connection_;
  std::string_view path_;
};

}  // namespace

struct HttpServer::Daemon {
  /// A stream while its answer goes on.
  struct Streaming {
    Daemon* daemon;
    MHD_Connection* connection;
    std::unique_ptr<HttpStream> stream;
  };

  Limits limits;
  Answer answer;
  std::mutex mutex;
  std::condition_variable fewer;         // streams
  std::vector<MHD_Connection*> waiting;  // guarded: suspended until wake()
  std::size_t streams = 0;               // guarded
  bool stopping = false;                 // guarded
  MHD_Daemon* http = nullptr;

  ~Daemon() {
    if (http == nullptr) return;
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    resume();  // nothing may be suspended where a daemon stops
    MHD_stop_daemon(http);
  }

  void resume() {
    const std::lock_guard lock(mutex);
    for (MHD_Connection* const connection : waiting) MHD_resume_connection(connection);
    waiting.clear();
  }

  static MHD_Result on_request(void* self, MHD_Connection* connection, const char* url,
                               const char* method, const char*, const char*, size_t*, void**) {
    return static_cast<Daemon*>(self)->on_request(connection, url, method);
  }

  MHD_Result on_request(MHD_Connection* connection, std::string_view url, std::string_view method) {
    if (method != MHD_HTTP_METHOD_GET && method != MHD_HTTP_METHOD_HEAD) {
      return send(connection,
                  {.code = MHD_HTTP_METHOD_NOT_ALLOWED, .type = "text/plain", .body = "only GET\n"},
                  method);
    }
    return send(connection, answer(Request(connection, url)), method);
  }

  MHD_Result send(MHD_Connection* connection, HttpReply reply, std::string_view method) {
    // Of a HEAD nobody would read the stream.
    if (method == MHD_HTTP_METHOD_HEAD) reply.stream.reset();
    MHD_Response* const response = response_of(connection, reply);
    if (response == nullptr) return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, reply.type.c_str());
    for (const auto& [name, value] : reply.headers) {
      MHD_add_response_header(response, name.c_str(), value.c_str());
    }
    const MHD_Result queued = MHD_queue_response(connection, reply.code, response);
    MHD_destroy_response(response);
    return queued;
  }

  MHD_Response* response_of(MHD_Connection* connection, HttpReply& reply) {
    if (reply.stream == nullptr) {
      if (reply.constant.empty()) {
        return MHD_create_response_from_buffer(reply.body.size(), reply.body.data(),
                                               MHD_RESPMEM_MUST_COPY);
      }
      // It is read alone, whatever the type says.
      auto* const bytes = const_cast<unsigned char*>(reply.constant.data());
      return MHD_create_response_from_buffer(reply.constant.size(), bytes, MHD_RESPMEM_PERSISTENT);
    }
    auto streaming = std::make_unique<Streaming>(Streaming{this, connection, nullptr});
    MHD_Response* const response = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, limits.stream_bytes, &Daemon::on_read, streaming.get(), &Daemon::on_end);
    if (response == nullptr) return nullptr;
    streaming.release()->stream = std::move(reply.stream);  // on_end() deletes it
    const std::lock_guard lock(mutex);
    ++streams;
    return response;
  }

  static ssize_t on_read(void* of, std::uint64_t, char* into, size_t most) {
    auto& streaming = *static_cast<Streaming*>(of);
    Daemon& self = *streaming.daemon;
    // What is pushed from here on finds it waiting.
    const std::lock_guard lock(self.mutex);
    if (self.stopping) return MHD_CONTENT_READER_END_OF_STREAM;
    const std::optional<std::size_t> read = streaming.stream->read({into, most});
    if (!read) return MHD_CONTENT_READER_END_OF_STREAM;
    if (*read == 0) {
      MHD_suspend_connection(streaming.connection);
      self.waiting.push_back(streaming.connection);
    }
    return static_cast<ssize_t>(*read);
  }

  static void on_end(void* of) {
    const std::unique_ptr<Streaming> streaming(static_cast<Streaming*>(of));
    Daemon& self = *streaming->daemon;
    streaming->stream.reset();
    const std::lock_guard lock(self.mutex);
    std::erase(self.waiting, streaming->connection);
    --self.streams;
    self.fewer.notify_all();
  }
};

HttpServer::HttpServer() : daemon_(std::make_unique<Daemon>()) {}
HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::start(const ListenAddress& address, Limits limits,
                                                      Answer answer) {
  std::unique_ptr<HttpServer> server(new HttpServer);
  Daemon& daemon = *server->daemon_;
  daemon.limits = limits;
  daemon.answer = std::move(answer);
  const bool six = address.address.ss_family == AF_INET6;
  errno = 0;
  daemon.http =
      MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | unsigned{MHD_ALLOW_SUSPEND_RESUME} |
                           (six ? unsigned{MHD_USE_IPv6} : 0U),
                       0, nullptr, nullptr, &Daemon::on_request, &daemon, MHD_OPTION_SOCK_ADDR,
                       &address.address, MHD_OPTION_CONNECTION_LIMIT, limits.connections,
                       MHD_OPTION_CONNECTION_TIMEOUT, limits.patience_seconds,
                       MHD_OPTION_CONNECTION_MEMORY_LIMIT, limits.connection_bytes, MHD_OPTION_END);
  if (daemon.http == nullptr) return Error{Errc::io, std::strerror(errno == 0 ? EIO : errno)};
  return server;
}

unsigned HttpServer::port() const {
  const MHD_DaemonInfo* const info = MHD_get_daemon_info(daemon_->http, MHD_DAEMON_INFO_BIND_PORT);
  return info == nullptr ? 0 : info->port;
}

void HttpServer::wake() { daemon_->resume(); }

bool HttpServer::wait_for_streams(Duration patience) {
  std::unique_lock lock(daemon_->mutex);
  return daemon_->fewer.wait_for(lock, patience, [this] { return daemon_->streams == 0; });
}

}  // namespace sterna::launcher
