#include "launcher/run/run_audience.h"

#include "launcher/view/status_json.h"

namespace sterna::launcher {

Result<void> RunAudience::open_scrape(const ClusterFile& file) {
  if (file.metrics.prometheus.empty()) return {};
  STERNA_ASSIGN(scraped_, MetricsServer::start(file.metrics));
  options_.console.say("metrics at " + scraped_->url());
  return {};
}

Result<void> RunAudience::open_page(const std::string& run_directory) {
  if (!options_.page) return {};
  STERNA_ASSIGN(page_, PageServer::start({.run_directory = run_directory}));
  options_.console.say("the run's page is " + page_->url());
  options_.console.say("for a browser on another machine, there: " +
                       forwarding_line(page_->port()));
  return {};
}

void RunAudience::open_screen() { view_ = options_.make_view(); }

void RunAudience::say(const std::string& line) {
  view_ != nullptr ? view_->say(line) : options_.console.say(line);
}

void RunAudience::show(const RunStatus& status) {
  view_->update(status);
  if (scraped_) scraped_->update(status);
  if (page_) page_->update(status);
  tell_operators(status);
}

void RunAudience::end(const RunStatus& status, int exit, const std::string& words) {
  if (scraped_) scraped_->update(status);
  if (page_) page_->end(status, exit, words);
  view_->finish(status);
  view_.reset();
}

void RunAudience::say_goodbye() {
  if (page_) page_->say_goodbye();
}

void RunAudience::tell_operators(const RunStatus& status) {
  constexpr Duration kInterval = std::chrono::milliseconds(500);
  if (cluster_ == nullptr) return;
  const Time now = cluster_->loop().now();
  if (told_ && now - *told_ < kInterval) return;
  told_ = now;
  cluster_->report(copy_bytes(status_json(status)));
}

}  // namespace sterna::launcher
