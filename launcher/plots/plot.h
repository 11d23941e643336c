// Plot: curves with bands over two axes, and where on a picture each of their points lies. Pure;
// who draws it is drawing/, a module that is loaded when there is something to draw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sterna::launcher {

/// A point beside a curve: it was measured on another number of examples, and no line leads there.
struct PlotMark {
  double x = 0;
  double mean = 0;
  double low = 0;
  double high = 0;
  std::size_t runs = 1;
  double deviation = 0;  ///< as PlotCurve's
  std::int64_t examples = 0;
};

/// One of a plot's curves: for each x the mean of some runs, and the lowest and highest of them. A
/// part of it that has one point is a dot.
struct PlotCurve {
  std::string label;
  std::vector<double> x = {};
  std::vector<double> mean = {};
  std::vector<double> low = {};  ///< as long as `mean`, or empty: no band
  std::vector<double> high = {};
  std::vector<std::size_t> gaps = {};  ///< points, in order, that no line leads to from the last
  std::vector<std::size_t> runs = {};  ///< of how many each is the mean; empty: of one
  std::vector<double> deviation = {};  ///< standard, of these runs (n - 1); as long as `runs`
  std::int64_t examples = 0;           ///< on which it was measured; 0: of no matter
  std::vector<PlotMark> marks = {};
};

struct Plot {
  std::string x_label = {};
  std::string y_label = {};
  bool log_x = false;
  std::vector<PlotCurve> curves = {};
  std::string note = {};                ///< what its curves' marks are; empty: they have none
  std::vector<std::string> words = {};  ///< what else is to be said of it
};

/// Further curves look like the first ones again.
inline constexpr std::size_t kDistinctCurves = 21;

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
/// round numbers, or decades; of less than three decades 1, 2 and 5 times powers of ten.
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
