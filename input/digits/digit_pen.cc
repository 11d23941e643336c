#include "input/digits/digit_pen.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

namespace sterna::input {

namespace {

// Room for the box, the softness and the shift to the centre of mass.
constexpr int kCanvas = 48;
using Canvas = std::array<float, static_cast<std::size_t>(kCanvas) * kCanvas>;

std::size_t at(int row, int column) {
  return static_cast<std::size_t>(row) * kCanvas + static_cast<std::size_t>(column);
}

struct Frame {
  Point middle;     ///< of the skeleton's box
  float scale = 1;  ///< pixels per unit

  Point operator()(Point p) const {
    constexpr float kMiddle = kCanvas / 2.0F;
    return {(p.x - middle.x) * scale + kMiddle, (p.y - middle.y) * scale + kMiddle};
  }
};

Frame fit(std::span<const Line> lines, const Pen& pen) {
  Point low{1e9F, 1e9F};
  Point high{-1e9F, -1e9F};
  for (const Line& line : lines) {
    for (const Trace& trace : line) {
      low = {std::min(low.x, trace.at.x), std::min(low.y, trace.at.y)};
      high = {std::max(high.x, trace.at.x), std::max(high.y, trace.at.y)};
    }
  }
  const float extent = std::max({high.x - low.x, high.y - low.y, 1e-3F});
  return {{(low.x + high.x) / 2, (low.y + high.y) / 2}, (pen.box - 2 * pen.radius) / extent};
}

/// Inks the pixels near the segment a-b; where lines cross, the stronger one counts.
void ink(Trace a, Trace b, const Pen& pen, Canvas& canvas) {
  const float reach = pen.radius * std::max(a.pressure, b.pressure) + pen.softness / 2;
  const auto first = [reach](float p, float q) {
    return std::max(0, static_cast<int>(std::floor(std::min(p, q) - reach)));
  };
  const auto last = [reach](float p, float q) {
    return std::min(kCanvas - 1, static_cast<int>(std::ceil(std::max(p, q) + reach)));
  };
  const float dx = b.at.x - a.at.x;
  const float dy = b.at.y - a.at.y;
  const float length2 = std::max(dx * dx + dy * dy, 1e-6F);
  for (int row = first(a.at.y, b.at.y); row <= last(a.at.y, b.at.y); ++row) {
    for (int column = first(a.at.x, b.at.x); column <= last(a.at.x, b.at.x); ++column) {
      const float x = static_cast<float>(column) + 0.5F - a.at.x;
      const float y = static_cast<float>(row) + 0.5F - a.at.y;
      const float along = std::clamp((x * dx + y * dy) / length2, 0.0F, 1.0F);
      const float off_x = x - along * dx;
      const float off_y = y - along * dy;
      const float distance = std::sqrt(off_x * off_x + off_y * off_y);
      const float radius = pen.radius * (a.pressure + (b.pressure - a.pressure) * along);
      const float value = std::clamp(0.5F + (radius - distance) / pen.softness, 0.0F, 1.0F);
      float& pixel = canvas[at(row, column)];
      pixel = std::max(pixel, value);
    }
  }
}

/// Row and column of the canvas that become the picture's first.
std::array<int, 2> centred(const Canvas& canvas) {
  float mass = 0;
  float rows = 0;
  float columns = 0;
  for (int row = 0; row < kCanvas; ++row) {
    for (int column = 0; column < kCanvas; ++column) {
      const float value = canvas[at(row, column)];
      mass += value;
      rows += value * static_cast<float>(row);
      columns += value * static_cast<float>(column);
    }
  }
  mass = std::max(mass, 1e-3F);
  constexpr float kMiddle = (kDigitSide - 1) / 2.0F;
  static constexpr int kLast = kCanvas - static_cast<int>(kDigitSide);
  const auto origin = [](float centre) {
    return std::clamp(static_cast<int>(std::floor(centre - kMiddle + 0.5F)), 0, kLast);
  };
  return {origin(rows / mass), origin(columns / mass)};
}

}  // namespace

std::uint8_t to_byte(float value) {
  // Rounded by hand: lround would do, but what it costs is a library call per pixel.
  const float scaled = std::clamp(value, 0.0F, 1.0F) * 255.0F;
  const float floor = std::floor(scaled);
  return static_cast<std::uint8_t>(scaled - floor < 0.5F ? floor : floor + 1);
}

void draw(std::span<const Line> lines, const Pen& pen, std::span<std::uint8_t> picture) {
  assert(picture.size() == kDigitSide * kDigitSide);
  const Frame frame = fit(lines, pen);
  Canvas canvas{};
  for (const Line& line : lines) {
    for (std::size_t i = 0; i + 1 < line.size(); ++i) {
      ink({frame(line[i].at), line[i].pressure}, {frame(line[i + 1].at), line[i + 1].pressure}, pen,
          canvas);
    }
  }
  const auto [top, left] = centred(canvas);
  for (std::size_t row = 0; row < kDigitSide; ++row) {
    const float* from = canvas.data() + (static_cast<std::size_t>(top) + row) * kCanvas + left;
    for (std::size_t column = 0; column < kDigitSide; ++column) {
      picture[row * kDigitSide + column] = to_byte(from[column] * pen.darkness);
    }
  }
}

}  // namespace sterna::input
