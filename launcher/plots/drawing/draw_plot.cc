// Draws with cairo, alike for SVG and PNG. A module of its own: cairo brings X11's libraries, which
// a program that trains has no use for.
#include <cairo-svg.h>
#include <cairo.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "launcher/plots/drawing/drawing.h"

namespace sterna::launcher {
namespace {

struct Color {
  double red, green, blue;
};
// Of the same lightness each, told apart by who sees few colors, too (Okabe and Ito, 2008).
constexpr std::array<Color, 7> kColors = {{{0.00, 0.45, 0.70},
                                           {0.84, 0.37, 0.00},
                                           {0.00, 0.62, 0.45},
                                           {0.80, 0.47, 0.65},
                                           {0.34, 0.71, 0.91},
                                           {0.90, 0.62, 0.00},
                                           {0.25, 0.25, 0.25}}};
constexpr std::size_t kLineKinds = 3;
static_assert(kColors.size() * kLineKinds == kDistinctCurves);
constexpr double kTextSize = 13;
constexpr double kLineOfText = 18;
constexpr double kSample = 26;  // of a curve, beside its label
constexpr double kLabelsLeft = PlotFrame::kLeft + kSample;
constexpr double kBand = 0.18;  // opacity
constexpr double kDot = 4;      // radius
constexpr double kPi = 3.14159265358979323846;

class Drawing {
 public:
  Drawing(cairo_t* on, const Plot& plot) : on_(on), plot_(plot), frame_(plot) {
    cairo_select_font_face(on_, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(on_, kTextSize);
    // A text is as wide on every surface.
    cairo_font_options_t* options = cairo_font_options_create();
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_set_font_options(on_, options);
    cairo_font_options_destroy(options);
  }

  /// With all labels.
  double height() {
    double last = 0;
    for (const Place& place : places_of_labels()) last = place.y;
    if (!plot_.note.empty()) last += kLineOfText;
    return PlotFrame::kHeight + last + kLineOfText / 2;
  }

  void draw() {
    set({1, 1, 1});
    cairo_paint(on_);
    draw_axes();
    for (std::size_t i = 0; i < plot_.curves.size(); ++i) draw_band(plot_.curves[i], color(i));
    for (std::size_t i = 0; i < plot_.curves.size(); ++i) draw_curve(i);
    for (std::size_t i = 0; i < plot_.curves.size(); ++i) draw_marks(plot_.curves[i], color(i));
    draw_legend();
  }

 private:
  static Color color(std::size_t curve) { return kColors[curve % kColors.size()]; }
  void set(Color color, double opacity = 1) {
    cairo_set_source_rgba(on_, color.red, color.green, color.blue, opacity);
  }
  /// A line of its own for each: where there are more than colors, broken ones.
  void stroke_as(std::size_t curve) {
    constexpr double kDashes[] = {9, 5};
    constexpr double kDots[] = {2, 4};
    const std::size_t kind = curve / kColors.size() % kLineKinds;
    set(color(curve));
    cairo_set_line_width(on_, 2);
    cairo_set_dash(on_, kind == 2 ? kDots : kDashes, kind == 0 ? 0 : 2, 0);
    cairo_stroke(on_);
    cairo_set_dash(on_, nullptr, 0, 0);
  }
  double width_of(const std::string& text) {
    cairo_text_extents_t extents;
    cairo_text_extents(on_, text.c_str(), &extents);
    return extents.x_advance;
  }
  void write(double x, double y, const std::string& text) {
    cairo_move_to(on_, x, y);
    cairo_show_text(on_, text.c_str());
  }
  void line(double x0, double y0, double x1, double y1) {
    cairo_move_to(on_, x0, y0);
    cairo_line_to(on_, x1, y1);
    cairo_stroke(on_);
  }

  void draw_axes() {
    constexpr Color kGrid = {0.88, 0.88, 0.88};
    constexpr Color kText = {0.14, 0.16, 0.18};
    constexpr double kGap = 8;
    const double left = PlotFrame::kLeft;
    const double right = PlotFrame::kWidth - PlotFrame::kRight;
    const double bottom = PlotFrame::kHeight - PlotFrame::kBottom;
    cairo_set_line_width(on_, 1);
    for (const PlotTick& tick : frame_.x.ticks) {
      const double x = frame_.x_of(tick.value);
      set(kGrid);
      line(x, PlotFrame::kTop, x, bottom);
      set(kText);
      write(x - width_of(tick.text) / 2, bottom + kLineOfText, tick.text);
    }
    for (const PlotTick& tick : frame_.y.ticks) {
      const double y = frame_.y_of(tick.value);
      set(kGrid);
      line(left, y, right, y);
      set(kText);
      write(left - kGap - width_of(tick.text), y + kTextSize / 3, tick.text);
    }
    write((left + right - width_of(plot_.x_label)) / 2, bottom + 2.4 * kLineOfText, plot_.x_label);
    cairo_save(on_);
    cairo_translate(on_, kLineOfText, (PlotFrame::kTop + bottom + width_of(plot_.y_label)) / 2);
    cairo_rotate(on_, -kPi / 2);
    write(0, 0, plot_.y_label);
    cairo_restore(on_);
  }

  /// A part of a curve: points from `first` on, until before `end`.
  struct Part {
    std::size_t first, end;
  };
  static std::vector<Part> parts_of(const PlotCurve& curve) {
    std::vector<Part> parts = {{0, curve.x.size()}};
    for (const std::size_t gap : curve.gaps) {
      parts.back().end = gap;
      parts.push_back({gap, curve.x.size()});
    }
    return parts;
  }
  /// Whether a line through it would hardly be seen.
  bool is_dot(const PlotCurve& curve, Part part) const {
    for (std::size_t i = part.first; i < part.end; ++i) {
      if (std::abs(frame_.x_of(curve.x[i]) - frame_.x_of(curve.x[part.first])) > 1 ||
          std::abs(frame_.y_of(curve.mean[i]) - frame_.y_of(curve.mean[part.first])) > 1) {
        return false;
      }
    }
    return part.first < part.end;
  }

  void path(const std::vector<double>& x, const std::vector<double>& y, Part part) {
    for (std::size_t i = part.first; i < part.end; ++i)
      cairo_line_to(on_, frame_.x_of(x[i]), frame_.y_of(y[i]));
  }

  void draw_band(const PlotCurve& curve, Color color) {
    if (curve.low.empty()) return;
    set(color, kBand);
    for (const Part part : parts_of(curve)) {
      cairo_new_path(on_);
      path(curve.x, curve.high, part);
      for (std::size_t i = part.end; i-- > part.first;) {
        cairo_line_to(on_, frame_.x_of(curve.x[i]), frame_.y_of(curve.low[i]));
      }
      cairo_close_path(on_);
      if (!is_dot(curve, part)) {
        cairo_fill(on_);
        continue;
      }
      cairo_set_line_width(on_, 2 * kDot);  // as wide as the dot, it is seen
      cairo_stroke(on_);
    }
  }

  void draw_curve(std::size_t index) {
    const PlotCurve& curve = plot_.curves[index];
    cairo_set_line_join(on_, CAIRO_LINE_JOIN_ROUND);
    for (const Part part : parts_of(curve)) {
      cairo_new_path(on_);
      if (is_dot(curve, part)) {
        dot(frame_.x_of(curve.x[part.first]), frame_.y_of(curve.mean[part.first]), index);
        set(color(index));
        cairo_fill(on_);
      } else {
        path(curve.x, curve.mean, part);
        stroke_as(index);
      }
    }
  }

  /// Of a curve of one point: where there are more than colors, square or on its corner.
  void dot(double x, double y, std::size_t curve) {
    const std::size_t kind = curve / kColors.size() % kLineKinds;
    if (kind == 0) return cairo_arc(on_, x, y, kDot, 0, 2 * kPi);
    constexpr double kCorner = 1.4 * kDot;
    if (kind == 1) return cairo_rectangle(on_, x - kDot, y - kDot, 2 * kDot, 2 * kDot);
    cairo_move_to(on_, x - kCorner, y);
    cairo_line_to(on_, x, y - kCorner);
    cairo_line_to(on_, x + kCorner, y);
    cairo_line_to(on_, x, y + kCorner);
    cairo_close_path(on_);
  }

  /// A ring: a dot is a curve of one point.
  void ring(double x, double y, Color color) {
    cairo_new_path(on_);
    cairo_arc(on_, x, y, kDot, 0, 2 * kPi);
    set({1, 1, 1});
    cairo_fill_preserve(on_);
    set(color);
    cairo_set_line_width(on_, 2);
    cairo_stroke(on_);
  }

  void draw_marks(const PlotCurve& curve, Color color) {
    for (const PlotMark& mark : curve.marks) {
      const double x = frame_.x_of(mark.x);
      set(color, kBand);
      cairo_set_line_width(on_, 2 * kDot);
      line(x, frame_.y_of(mark.low), x, frame_.y_of(mark.high));
      ring(x, frame_.y_of(mark.mean), color);
    }
  }

  struct Place {
    double x, y;
  };
  /// In rows beneath the frame, whose lower edge y is counted from: there they cover nothing.
  std::vector<Place> places_of_labels() {
    constexpr double kBetween = 24;
    std::vector<Place> places;
    Place next{kLabelsLeft, kLineOfText};
    for (const PlotCurve& curve : plot_.curves) {
      const double end = next.x + width_of(curve.label);
      if (end > PlotFrame::kWidth - PlotFrame::kRight && next.x > kLabelsLeft) {
        next = {kLabelsLeft, next.y + kLineOfText};
      }
      places.push_back(next);
      next.x += width_of(curve.label) + kBetween + kSample;
    }
    return places;
  }

  void draw_legend() {
    const std::vector<Place> places = places_of_labels();
    for (std::size_t i = 0; i < plot_.curves.size(); ++i) {
      const double x = places[i].x;
      const double y = PlotFrame::kHeight + places[i].y;
      cairo_move_to(on_, x - kSample, y - kTextSize / 3);
      cairo_line_to(on_, x - kSample / 4, y - kTextSize / 3);
      stroke_as(i);
      set({0.14, 0.16, 0.18});
      write(x, y, plot_.curves[i].label);
    }
    if (plot_.note.empty()) return;
    constexpr Color kText = {0.14, 0.16, 0.18};
    const double y = PlotFrame::kHeight + places.back().y + kLineOfText;
    ring(kLabelsLeft - kSample * 5 / 8, y - kTextSize / 3, kText);
    set(kText);
    write(kLabelsLeft, y, plot_.note);
  }

  cairo_t* on_;
  const Plot& plot_;
  PlotFrame frame_;
};

struct Taker {
  TakePiece take;
  void* taker;
};
cairo_status_t hand_on(void* to, const unsigned char* bytes, unsigned size) {
  const auto* taker = static_cast<const Taker*>(to);
  taker->take(taker->taker, bytes, size);
  return CAIRO_STATUS_SUCCESS;
}

using Surface = std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)>;
using Context = std::unique_ptr<cairo_t, decltype(&cairo_destroy)>;

/// How high the picture must be for all of its labels.
double height_of(const Plot& plot) {
  const Surface nowhere(cairo_image_surface_create(CAIRO_FORMAT_RGB24, 1, 1),
                        &cairo_surface_destroy);
  const Context on(cairo_create(nowhere.get()), &cairo_destroy);
  return Drawing(on.get(), plot).height();
}

cairo_status_t draw_to(const Plot& plot, PictureForm form, Taker to) {
  const bool svg = form == PictureForm::svg;
  const double height = height_of(plot);
  const Surface surface(
      svg ? cairo_svg_surface_create_for_stream(hand_on, &to, PlotFrame::kWidth, height)
          : cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(2 * PlotFrame::kWidth),
                                       static_cast<int>(2 * height)),
      &cairo_surface_destroy);
  const Context on(cairo_create(surface.get()), &cairo_destroy);
  if (!svg) cairo_scale(on.get(), 2, 2);
  Drawing(on.get(), plot).draw();
  if (cairo_status(on.get()) != CAIRO_STATUS_SUCCESS) return cairo_status(on.get());
  if (!svg) return cairo_surface_write_to_png_stream(surface.get(), hand_on, &to);
  cairo_surface_finish(surface.get());
  return cairo_surface_status(surface.get());
}

}  // namespace
}  // namespace sterna::launcher

extern "C" __attribute__((visibility("default"))) bool sterna_draw_plot(
    const sterna::launcher::Plot& plot, sterna::launcher::PictureForm form,
    sterna::launcher::TakePiece take, void* taker, char* error, std::size_t size) {
  const cairo_status_t status = sterna::launcher::draw_to(plot, form, {take, taker});
  if (status == CAIRO_STATUS_SUCCESS) return true;
  std::snprintf(error, size, "%s", cairo_status_to_string(status));
  return false;
}
