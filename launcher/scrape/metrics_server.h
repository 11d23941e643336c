// MetricsServer: answers GET /metrics with what a run is at this moment, on a thread of its own.
//
// Who asks for OpenMetrics in "Accept" gets that. However many ask, and however slowly they read,
// the run notices nothing: connections, their memory and their patience are bounded.
#pragma once

#include <memory>
#include <string>

#include "launcher/cluster_file/cluster_file.h"
#include "launcher/http/http_server.h"
#include "launcher/view/run_status.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

class MetricsServer {
 public:
  /// Errors: io (the port is in use, the address is another machine's), invalid_argument.
  static Result<std::unique_ptr<MetricsServer>> start(const MetricsSection& how);
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  /// What is answered from now on.
  void update(const RunStatus& status);
  /// Where it listens, "http://127.0.0.1:9100/metrics": of port 0 the one that it got.
  const std::string& url() const { return url_; }

 private:
  struct Latest;
  MetricsServer();
  std::unique_ptr<Latest> latest_;  ///< outlives the server, which reads it
  std::unique_ptr<HttpServer> http_;
  std::string url_;
};

}  // namespace sterna::launcher
