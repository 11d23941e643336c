#include "launcher/scrape/metrics_server.h"

#include <fmt/format.h>
#include <microhttpd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <string_view>
#include <utility>

#include "launcher/cluster_file/listen_address.h"
#include "launcher/scrape/exposition.h"

namespace sterna::launcher {
namespace {

constexpr unsigned kMostConnections = 64;
constexpr unsigned kPatienceSeconds = 10;
constexpr std::size_t kConnectionMemory = 16U << 10U;  // of a request's head
constexpr const char* kPath = "/metrics";

}  // namespace

struct MetricsServer::Daemon {
  std::mutex mutex;
  std::shared_ptr<const RunStatus> status = std::make_shared<RunStatus>();  // guarded
  std::size_t most_series = kMostSeries;
  MHD_Daemon* http = nullptr;

  ~Daemon() {
    if (http != nullptr) MHD_stop_daemon(http);
  }

  static MHD_Result answer(void* self, MHD_Connection* connection, const char* url,
                           const char* method, const char*, const char*, size_t*, void**) {
    return static_cast<Daemon*>(self)->answer(connection, url, method);
  }

  MHD_Result answer(MHD_Connection* connection, std::string_view url, std::string_view method) {
    if (method != MHD_HTTP_METHOD_GET && method != MHD_HTTP_METHOD_HEAD) {
      return reply(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "text/plain", "only GET\n");
    }
    if (url != kPath) {
      return reply(connection, MHD_HTTP_NOT_FOUND, "text/plain",
                   fmt::format("the metrics are at {}\n", kPath));
    }
    const char* const accept =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
    const bool open = accept != nullptr && std::string_view(accept).find(
                                               "application/openmetrics-"
                                               "text") != std::string_view::npos;
    const auto format = open ? ExpositionFormat::openmetrics : ExpositionFormat::prometheus;
    std::shared_ptr<const RunStatus> now;
    {
      const std::lock_guard lock(mutex);
      now = status;
    }
    return reply(connection, MHD_HTTP_OK, content_type(format),
                 exposition(*now, format, most_series));
  }

  static MHD_Result reply(MHD_Connection* connection, unsigned code, std::string_view type,
                          std::string text) {
    MHD_Response* const response =
        MHD_create_response_from_buffer(text.size(), text.data(), MHD_RESPMEM_MUST_COPY);
    if (response == nullptr) return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, std::string(type).c_str());
    const MHD_Result queued = MHD_queue_response(connection, code, response);
    MHD_destroy_response(response);
    return queued;
  }
};

Result<std::unique_ptr<MetricsServer>> MetricsServer::start(const MetricsSection& how) {
  const std::string& text = how.prometheus;
  STERNA_ASSIGN(ListenAddress address, ListenAddress::parse(text));
  std::unique_ptr<MetricsServer> server(new MetricsServer);
  server->daemon_ = std::make_unique<Daemon>();
  server->daemon_->most_series = how.series;
  const bool six = address.address.ss_family == AF_INET6;
  errno = 0;
  MHD_Daemon* const http = MHD_start_daemon(
      MHD_USE_EPOLL_INTERNAL_THREAD | (six ? unsigned{MHD_USE_IPv6} : 0U), 0, nullptr, nullptr,
      &Daemon::answer, server->daemon_.get(), MHD_OPTION_SOCK_ADDR, &address.address,
      MHD_OPTION_CONNECTION_LIMIT, kMostConnections, MHD_OPTION_CONNECTION_TIMEOUT,
      kPatienceSeconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionMemory, MHD_OPTION_END);
  if (http == nullptr) {
    const int why = errno == 0 ? EIO : errno;
    return Error{Errc::io, fmt::format("cannot listen on {} for metrics.prometheus: {}", text,
                                       std::strerror(why))};
  }
  server->daemon_->http = http;
  const MHD_DaemonInfo* const info = MHD_get_daemon_info(http, MHD_DAEMON_INFO_BIND_PORT);
  server->url_ = fmt::format("http://{}:{}{}", text.substr(0, text.rfind(':')),
                             info == nullptr ? 0 : info->port, kPath);
  return server;
}

MetricsServer::~MetricsServer() = default;

void MetricsServer::update(const RunStatus& status) {
  auto now = std::make_shared<const RunStatus>(status);
  const std::lock_guard lock(daemon_->mutex);
  daemon_->status = std::move(now);
}

}  // namespace sterna::launcher
