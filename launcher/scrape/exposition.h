// What a run says to Prometheus and to who reads OpenMetrics: one table of metrics, two texts.
//
// Prometheus' text format 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats) and
// OpenMetrics 1.0 (openmetrics.io). What is not known is not there, never a zero.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launcher/view/run_status.h"

namespace sterna::launcher {

using MetricLabels = std::vector<std::pair<std::string_view, std::string_view>>;
using TakeSample = std::function<void(const MetricLabels& labels, double value)>;

struct Metric {
  std::string_view name;  ///< of the family: without a counter's "_total"
  bool counts = false;  ///< only grows, but where a run is started anew; else it is what it is now
  std::string_view unit;  ///< "bytes", "seconds", "ratio": then the name's end; empty: a number
  std::string_view help;
  void (*samples)(const RunStatus& status, const TakeSample& take) = nullptr;
};

/// All, in the order of the texts.
std::span<const Metric> metrics();

enum class ExpositionFormat { prometheus, openmetrics };
/// What goes into Content-Type.
std::string_view content_type(ExpositionFormat format);

/// At most so many series; how many were left out is a metric, too.
inline constexpr std::size_t kMostSeries = 5000;
std::string exposition(const RunStatus& status, ExpositionFormat format,
                       std::size_t most_series = kMostSeries);

/// The table for a terminal, and as Markdown for docs/metrics.md.
std::string metrics_as_text();
std::string metrics_as_markdown();

}  // namespace sterna::launcher
