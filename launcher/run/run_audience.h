// RunAudience: who looks at a run while it goes on: the screen, a page in a browser, what scrapes
// its metrics, and operators who ask it from elsewhere.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "launcher/cluster_file/cluster_file.h"
#include "launcher/page/page_server.h"
#include "launcher/run/whole_run.h"
#include "launcher/scrape/metrics_server.h"
#include "launcher/view/live_view.h"
#include "launcher/view/run_status.h"
#include "runtime/base/result.h"
#include "runtime/cluster/cluster.h"

namespace sterna::launcher {

class RunAudience {
 public:
  /// `options` outlive it.
  explicit RunAudience(const WholeRunOptions& options) : options_(options) {}

  /// Where the file has a port for it. Errors: MetricsServer's.
  Result<void> open_scrape(const ClusterFile& file);
  /// Where the user asked for it. Errors: PageServer's.
  Result<void> open_page(const std::string& run_directory);
  void open_screen();
  /// Operators are told by it; null: there is none now.
  void set_cluster(Cluster* cluster) { cluster_ = cluster; }

  /// On the screen, whatever that shows by now.
  void say(const std::string& line);
  void show(const RunStatus& status);
  /// The run is over, and the terminal is in order again. `words`: the last, for people.
  void end(const RunStatus& status, int exit, const std::string& words);
  /// All that the run leaves is there: pages that are open look once more.
  void say_goodbye();

 private:
  void tell_operators(const RunStatus& status);

  const WholeRunOptions& options_;
  std::unique_ptr<MetricsServer> scraped_;  ///< null: nobody asked for it
  std::unique_ptr<PageServer> page_;        ///< null: nobody asked for it
  std::unique_ptr<RunView> view_;           ///< while the job goes on
  Cluster* cluster_ = nullptr;
  std::optional<Time> told_;  ///< operators, last
};

}  // namespace sterna::launcher
