// PageServer: one run as a page in a browser, on 127.0.0.1, from the program itself.
//
// Two threads: one answers, one reads what the run's directory gains (metrics, logs) and what is
// told here. Who tells it waits for neither. Access: page_access.h.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/view/run_status.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

struct PageOptions {
  std::string run_directory;
  unsigned port = 0;  ///< 0: any
};

class PageServer {
 public:
  /// Errors: io (the port is in use).
  static Result<std::unique_ptr<PageServer>> start(const PageOptions& options);
  ~PageServer();
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;

  /// What all pages show from now on.
  void update(const RunStatus& status);
  /// What an actor logged whose log is not in the run's directory.
  void log(const std::string& actor, const std::vector<std::string>& lines);
  /// Tells all pages how the run ended, before anything else that they have not been told yet.
  /// `words` are the launcher's last ones.
  void end(const RunStatus& status, int exit, std::string_view words);
  /// To be called after end() where the process goes: waits a second at most for pages to hear it.
  void say_goodbye();

  /// "http://127.0.0.1:PORT/?token=…": whoever knows it may look.
  const std::string& url() const { return url_; }
  unsigned port() const;

 private:
  struct State;
  PageServer();
  std::unique_ptr<State> state_;
  std::string url_;
};

/// For another machine: the line that brings the page's port there.
std::string forwarding_line(unsigned port);

}  // namespace sterna::launcher
