#include "launcher/plots/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace sterna::launcher {
namespace {

constexpr int kMostTicks = 10;

/// 1,500,000 as 1.5M.
std::string tick_text(double value) {
  constexpr std::array<std::pair<double, const char*>, 4> kUnits = {
      {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
  for (const auto& [unit, name] : kUnits) {
    if (std::abs(value) >= unit) return fmt::format("{:.6g}{}", value / unit, name);
  }
  return fmt::format("{:.6g}", std::abs(value) < 1e-12 ? 0.0 : value);
}

/// The least of 1, 2 and 5 times a power of ten that is not below `step`.
double round_step(double step) {
  const double power = std::pow(10, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= step * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

/// The nth of 1, 2, 5, 10, 20, 50 ...; of n < 0 0.5, 0.2, 0.1 ...
double round_number(long n) {
  constexpr std::array<double, 3> kFactors = {1, 2, 5};
  const long decade = n >= 0 ? n / 3 : -((2 - n) / 3);
  return kFactors[static_cast<std::size_t>(n - 3 * decade)] *
         std::pow(10, static_cast<double>(decade));
}

/// Fewer than three decades have too few powers of ten to read a value by.
void set_fine_log_ticks(PlotAxis& axis, double low, double high) {
  long first = 3 * std::lround(std::floor(std::log10(low)));
  while (round_number(first + 1) <= low * (1 + 1e-9)) ++first;
  long last = first + 1;
  while (round_number(last) < high * (1 - 1e-9)) ++last;
  axis.first = round_number(first);
  axis.last = round_number(last);
  for (long n = first; n <= last; ++n) {
    axis.ticks.push_back({round_number(n), tick_text(round_number(n))});
  }
}

}  // namespace

double PlotAxis::part(double value) const {
  if (log && value <= 0) return 0;
  if (log) return std::log(value / first) / std::log(last / first);
  return (value - first) / (last - first);
}

PlotAxis plot_axis(const std::vector<double>& values, bool log) {
  PlotAxis axis{.log = log};
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  for (const double value : values) {
    if (log && value <= 0) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (low > high) low = high = 1;
  constexpr double kFewDecades = 3;
  if (log && std::log10(high / low) < kFewDecades) {
    set_fine_log_ticks(axis, low, high);
    return axis;
  }
  if (log) {
    double decade = std::floor(std::log10(low));
    const double end = std::max(std::ceil(std::log10(high)), decade + 1);
    axis.first = std::pow(10, decade);
    axis.last = std::pow(10, end);
    const double step = std::ceil((end - decade) / kMostTicks);
    for (; decade <= end; decade += step) {
      axis.ticks.push_back({std::pow(10, decade), tick_text(std::pow(10, decade))});
    }
    return axis;
  }
  if (low == high) {
    const double around = low == 0 ? 1 : std::abs(low) / 10;
    low -= around;
    high += around;
  }
  const double step = round_step((high - low) / (kMostTicks - 1));
  axis.first = std::floor(low / step + 1e-9) * step;
  axis.last = std::ceil(high / step - 1e-9) * step;
  const auto count = std::llround((axis.last - axis.first) / step);
  for (long long i = 0; i <= count; ++i) {
    const double value = axis.first + static_cast<double>(i) * step;
    axis.ticks.push_back({value, tick_text(value)});
  }
  return axis;
}

PlotFrame::PlotFrame(const Plot& plot) {
  std::vector<double> xs, ys;
  for (const PlotCurve& curve : plot.curves) {
    xs.insert(xs.end(), curve.x.begin(), curve.x.end());
    for (const auto* values : {&curve.mean, &curve.low, &curve.high}) {
      ys.insert(ys.end(), values->begin(), values->end());
    }
    for (const PlotMark& mark : curve.marks) {
      xs.push_back(mark.x);
      ys.insert(ys.end(), {mark.low, mark.high});
    }
  }
  x = plot_axis(xs, plot.log_x);
  y = plot_axis(ys, false);
}

double PlotFrame::x_of(double value) const {
  return kLeft + x.part(value) * (kWidth - kLeft - kRight);
}

double PlotFrame::y_of(double value) const {
  return kHeight - kBottom - y.part(value) * (kHeight - kTop - kBottom);
}

}  // namespace sterna::launcher
