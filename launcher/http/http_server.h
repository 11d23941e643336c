// HttpServer: answers requests on one address, on a thread of its own (libmicrohttpd, epoll).
//
// However many ask, and however slowly they read, the process notices nothing: connections, their
// memory and their patience are bounded. What is answered is the caller's.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launcher/cluster_file/listen_address.h"
#include "runtime/base/clock.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

/// One request. Valid while it is answered.
class HttpRequest {
 public:
  virtual ~HttpRequest() = default;
  virtual std::string_view path() const = 0;
  /// "" where there is none.
  virtual std::string_view header(const char* name) const = 0;
  virtual std::string_view query(const char* name) const = 0;
  virtual std::string_view cookie(const char* name) const = 0;
};

/// An answer that goes on. Used on the server's thread alone.
class HttpStream {
 public:
  virtual ~HttpStream() = default;
  /// How many bytes were put into `into`; 0: nothing now, read() comes again after the server's
  /// wake(); nothing: this is the end.
  virtual std::optional<std::size_t> read(std::span<char> into) = 0;
};

struct HttpReply {
  unsigned code = 200;
  std::string type;  ///< Content-Type
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
  std::span<const unsigned char> constant = {};  ///< in place of `body`: bytes that stay for ever
  std::unique_ptr<HttpStream> stream = nullptr;  ///< in place of both
};

class HttpServer {
 public:
  struct Limits {
    unsigned connections = 64;
    unsigned patience_seconds = 10;  ///< who says or takes nothing for so long is cut off
    std::size_t connection_bytes = std::size_t{16} << 10;
    std::size_t stream_bytes = std::size_t{16} << 10;  ///< more, of each stream
  };
  /// On the server's thread, for GET and HEAD; other methods are refused.
  using Answer = std::function<HttpReply(const HttpRequest& request)>;

  /// Errors: io (the port is in use, the address is another machine's), in words that go on after
  /// the address.
  static Result<std::unique_ptr<HttpServer>> start(const ListenAddress& address, Limits limits,
                                                   Answer answer);
  /// Streams that have not ended are cut off.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Of port 0 the one that it got.
  unsigned port() const;
  /// Streams may have something. From any thread; never waits.
  void wake();
  /// Waits until every stream has ended and all of it is sent, at most so long; whether it is.
  bool wait_for_streams(Duration patience);

 private:
  struct Daemon;
  HttpServer();
  std::unique_ptr<Daemon> daemon_;
};

}  // namespace sterna::launcher
