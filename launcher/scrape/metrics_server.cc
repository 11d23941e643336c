#include "launcher/scrape/metrics_server.h"

#include <fmt/format.h>

#include <mutex>
#include <string_view>
#include <utility>

#include "launcher/cluster_file/listen_address.h"
#include "launcher/scrape/exposition.h"

namespace sterna::launcher {
namespace {

constexpr const char* kPath = "/metrics";

}  // namespace

struct MetricsServer::Latest {
  std::mutex mutex;
  std::shared_ptr<const RunStatus> status = std::make_shared<RunStatus>();  // guarded
  std::size_t most_series = kMostSeries;

  HttpReply answer(const HttpRequest& request) {
    if (request.path() != kPath) {
      return {
          .code = 404, .type = "text/plain", .body = fmt::format("the metrics are at {}\n", kPath)};
    }
    const bool open =
        request.header("Accept").find("application/openmetrics-text") != std::string_view::npos;
    const auto format = open ? ExpositionFormat::openmetrics : ExpositionFormat::prometheus;
    std::shared_ptr<const RunStatus> now;
    {
      const std::lock_guard lock(mutex);
      now = status;
    }
    return {.type = std::string(content_type(format)),
            .body = exposition(*now, format, most_series)};
  }
};

MetricsServer::MetricsServer() : latest_(std::make_unique<Latest>()) {}
MetricsServer::~MetricsServer() = default;

Result<std::unique_ptr<MetricsServer>> MetricsServer::start(const MetricsSection& how) {
  const std::string& text = how.prometheus;
  STERNA_ASSIGN(ListenAddress address, ListenAddress::parse(text));
  std::unique_ptr<MetricsServer> server(new MetricsServer);
  Latest* const latest = server->latest_.get();
  latest->most_series = how.series;
  Result<std::unique_ptr<HttpServer>> http = HttpServer::start(
      address, {}, [latest](const HttpRequest& request) { return latest->answer(request); });
  if (!http) {
    return Error{http.error().code,
                 fmt::format("cannot listen on {} for metrics.prometheus: {}; give it another "
                             "address and port of this machine, or leave it out",
                             text, http.error().message)};
  }
  server->http_ = std::move(http).value();
  server->url_ =
      fmt::format("http://{}:{}{}", text.substr(0, text.rfind(':')), server->http_->port(), kPath);
  return server;
}

void MetricsServer::update(const RunStatus& status) {
  auto now = std::make_shared<const RunStatus>(status);
  const std::lock_guard lock(latest_->mutex);
  latest_->status = std::move(now);
}

}  // namespace sterna::launcher
