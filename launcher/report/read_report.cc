#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <functional>
#include <optional>
#include <utility>

#include "launcher/plots/drawer.h"
#include "launcher/plots/run_curves.h"
#include "launcher/record/read_metrics.h"
#include "launcher/report/report.h"
#include "launcher/view/read_result.h"
#include "runtime/base/file.h"

namespace sterna::launcher {
namespace {

struct Curve {
  const char* title;
  const char* x;
  const char* y;
};
constexpr std::array<Curve, 4> kCurves = {{{"Accuracy by step", "steps", "precision_at_1"},
                                           {"Accuracy by time", "seconds", "precision_at_1"},
                                           {"Accuracy by bytes", "bytes", "precision_at_1"},
                                           {"Training loss", "steps", "loss"}}};

/// None where the runs say nothing of it.
Result<std::optional<ReportCurve>> read_curve(const std::vector<std::string>& runs,
                                              const Curve& what, const std::string& folder) {
  PlotQuantities quantities;
  quantities.x = what.x;
  quantities.y = what.y;
  std::size_t left_out = 0;
  const Result<Plot> plot = plot_of_runs(runs, quantities, [&](const std::string&) { ++left_out; });
  if (!plot && plot.error().code == Errc::not_found) return std::optional<ReportCurve>();
  if (!plot) return plot.error();
  ReportCurve curve{.title = what.title,
                    .x_label = plot->x_label,
                    .y_label = plot->y_label,
                    .svg = {},
                    .note = fmt::format("{}{}{}", plot->note,
                                        plot->note.empty() || plot->words.empty() ? "" : "; ",
                                        fmt::join(plot->words, "; ")),
                    .left_out = left_out};
  STERNA_ASSIGN(curve.svg, picture_of(*plot, PictureForm::svg, folder));
  for (const PlotCurve& one : plot->curves) {
    const bool marked = !one.marks.empty() && one.marks.back().x >= one.x.back();
    const double x = marked ? one.marks.back().x : one.x.back();
    curve.ends.push_back(
        {one.label, x_text(quantities, x), marked ? one.marks.back().mean : one.mean.back()});
    curve.has_means = curve.has_means || !one.low.empty();
  }
  return std::optional(std::move(curve));
}

void take(ReportRun& run, const Json& line) {
  const std::string kind = json_text_of(line, "kind", "");
  if (kind == "tensor") run.tensors.push_back(kept_tensor(line));
  if (kind == "evaluation") {
    run.evaluations.push_back(json_kept(
        line, {"subset", "of"}, {"step", "precision_at_1", "recall_at_5", "loss", "examples"}));
  }
  if (kind != "restart") return;
  run.restarts.push_back(json_kept(line, {"cause"}, {"step", "steps_again"}));
  const std::optional<double> step = json_number_of(line, "step");
  if (!step) return;
  // What came after it is done again, and told again.
  run.tensors.clear();
  std::erase_if(run.evaluations,
                [&](const Json& one) { return json_number_of(one, "step").value_or(0) > *step; });
}

Result<ReportRun> read_run(const std::string& path) {
  ReportRun run{.path = path, .resolved = {}};
  STERNA_TRY(for_each_metric(path, [&](const Json& line) -> Result<void> {
    take(run, line);
    return {};
  }));
  // A run that goes on, or was killed, has no result.
  Result<Json> result = read_result(path);
  if (!result && result.error().code == Errc::malformed) return std::move(result).error();
  if (result) run.result = std::move(result).value();
  if (Result<std::string> resolved = read_file(path + "/resolved.toml")) {
    run.resolved = std::move(*resolved);
  }
  return run;
}

}  // namespace

Result<Report> read_report(const std::vector<std::string>& paths, const std::string& folder,
                           const std::function<void(const std::string&)>& left_out) {
  Report report;
  const std::vector<std::string> runs = runs_among(paths, left_out);
  for (const std::string& run : runs) {
    STERNA_ASSIGN(ReportRun read, read_run(run));
    report.runs.push_back(std::move(read));
  }
  for (const Curve& what : kCurves) {
    STERNA_ASSIGN(auto curve, read_curve(runs, what, folder));
    if (curve) report.curves.push_back(std::move(*curve));
  }
  return report;
}

}  // namespace sterna::launcher
