// Plot: curves with bands over two axes, and where on a picture each of their points lies. Pure;
// who draws it is drawing/, a module that is loaded when there is something to draw.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace sterna::launcher {

/// One of a plot's curves: for each x the mean of some runs, and the lowest and highest of them. A
/// part of it that has one point is a dot.
struct PlotCurve {
  std::string label;
  std::vector<double> x = {};
  std::vector<double> mean = {};
  std::vector<double> low = {};  ///< as long as `mean`, or empty: no band
  std::vector<double> high = {};
  std::vector<std::size_t> gaps = {};  ///< points, in order, that no line leads to from the last
};

struct Plot {
  std::string x_label = {};
  std::string y_label = {};
  bool log_x = false;
  std::vector<PlotCurve> curves = {};
};

/// What a picture is written as.
enum class PictureForm { svg, png };

/// A line across the picture, and what is written at its end.
struct PlotTick {
  double value = 0;
  std::string text;
};

/// An axis from `first` to `last`, which are beyond all values or equal to the outermost.
struct PlotAxis {
  double first = 0;
  double last = 1;
  bool log = false;
  std::vector<PlotTick> ticks = {};
  /// Where `value` lies on it: 0 at `first`, 1 at `last`.
  double part(double value) const;
};

/// Over these values, which are finite; with `log` only those above 0 count. Five to ten ticks at
/// round numbers, or decades.
PlotAxis plot_axis(const std::vector<double>& values, bool log);

/// A plot on a picture, in pixels from its upper left corner.
struct PlotFrame {
  static constexpr double kWidth = 900;
  static constexpr double kHeight = 480;
  static constexpr double kLeft = 72;
  static constexpr double kRight = 24;
  static constexpr double kTop = 24;
  static constexpr double kBottom = 56;

  explicit PlotFrame(const Plot& plot);
  double x_of(double value) const;
  double y_of(double value) const;

  PlotAxis x;
  PlotAxis y;
};

}  // namespace sterna::launcher
