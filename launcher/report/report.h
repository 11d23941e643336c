// Report: runs beside each other, as one HTML file that needs nothing else: how they were
// configured, their curves, their tensors, where the time went, what was lost on the way.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "launcher/text/json_line.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

/// A picture, and what its curves end at.
struct ReportCurve {
  struct End {
    std::string label;
    std::string x;  ///< as people read it
    double y = 0;
  };
  std::string title;
  std::string x_label;
  std::string y_label;
  std::string svg;
  std::vector<End> ends = {};
  std::string note = {};     ///< the picture's
  bool has_means = false;    ///< of several runs
  std::size_t left_out = 0;  ///< runs that say nothing of it
};

struct ReportRun {
  std::string path;
  std::string resolved;  ///< the run's file
  Json result = {};      ///< result.json; null: there is none
  /// What is shown of its lines of metrics.jsonl of these kinds; of what was done again after a
  /// restart, the last.
  std::vector<Json> tensors = {};
  std::vector<Json> restarts = {};
  std::vector<Json> evaluations = {};
};

struct Report {
  std::vector<ReportCurve> curves = {};
  std::vector<ReportRun> runs = {};
};

/// What run directories hold, of which each counts once (runs_among(), which tells `left_out`);
/// curves are drawn by the module in `folder` (drawer.h). A quantity that the runs say nothing of
/// has no curve. Errors: not_found, malformed (for_each_metric's), io.
Result<Report> read_report(
    const std::vector<std::string>& paths, const std::string& folder,
    const std::function<void(const std::string&)>& left_out = [](const std::string&) {});

/// Of what is not known nothing is said. Texts of runs are shown as text.
std::string to_html(const Report& report);

}  // namespace sterna::launcher
