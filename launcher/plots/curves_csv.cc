#include "launcher/plots/curves_csv.h"

#include <fmt/format.h>

#include "launcher/text/csv.h"

namespace sterna::launcher {
namespace {

std::string line(const PlotCurve& curve, const PlotMark& point) {
  return fmt::format("{},{},{},{},{},{},{},{}\n", csv_quoted(curve.label), point.x, point.mean,
                     point.low, point.high, point.runs,
                     point.runs > 1 ? fmt::format("{}", point.deviation) : "",
                     point.examples > 0 ? fmt::format("{}", point.examples) : "");
}

}  // namespace

std::string curves_csv(const Plot& plot) {
  std::string csv = "label,x,mean,lowest,highest,runs,deviation,examples\n";
  for (const PlotCurve& curve : plot.curves) {
    for (std::size_t i = 0; i < curve.x.size(); ++i) {
      const bool several = !curve.runs.empty();
      csv += line(curve, {.x = curve.x[i],
                          .mean = curve.mean[i],
                          .low = several ? curve.low[i] : curve.mean[i],
                          .high = several ? curve.high[i] : curve.mean[i],
                          .runs = several ? curve.runs[i] : 1,
                          .deviation = several ? curve.deviation[i] : 0,
                          .examples = curve.examples});
    }
    for (const PlotMark& mark : curve.marks) csv += line(curve, mark);
  }
  return csv;
}

}  // namespace sterna::launcher
