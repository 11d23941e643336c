#include "input/digits/digit_writer.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <utility>
#include <vector>

#include "input/digits/digit_pen.h"
#include "kernels/random/philox.h"
#include "kernels/random/stream.h"

namespace sterna::input {

namespace {

/// The random numbers of one image: Philox words at counter (call, index, split, stream digits).
class Dice {
 public:
  Dice(std::uint64_t seed, Split split, std::uint32_t index)
      : seed_(seed), split_(split == Split::train ? 0 : 1), index_(index) {}

  std::uint32_t word() {
    if (used_ == words_.size()) {
      words_ = kernels::philox(
          {call_++, index_, split_, static_cast<std::uint32_t>(kernels::Stream::digits)}, seed_);
      used_ = 0;
    }
    return words_[used_++];
  }
  /// In [0, 1): 24 bits, so exact in a float.
  float uniform() { return static_cast<float>(word() >> 8) * 0x1p-24F; }
  float between(float low, float high) { return low + (high - low) * uniform(); }
  /// About normal, mean 0 and deviation 1, within ±3.5: the sum of four uniforms, which unlike a
  /// logarithm is the same on every machine.
  float normal() {
    constexpr float kRootOf3 = 1.7320508F;
    float sum = -2.0F;
    for (int i = 0; i < 4; ++i) sum += uniform();  // a loop: operands have no order of evaluation
    return sum * kRootOf3;
  }

 private:
  std::uint64_t seed_;
  std::uint32_t split_;
  std::uint32_t index_;
  std::uint32_t call_ = 0;
  std::array<std::uint32_t, 4> words_{};
  std::size_t used_ = 4;
};

const GlyphFamily& choose(const std::vector<GlyphFamily>& families, Dice& dice) {
  float total = 0;
  for (const GlyphFamily& family : families) total += family.weight;
  float left = dice.uniform() * total;
  for (const GlyphFamily& family : families) {
    left -= family.weight;
    if (left < 0) return family;
  }
  return families.back();
}

/// A random mixture of the family's skeletons, mostly of one or two of them.
Skeleton mix(const GlyphFamily& family, Dice& dice) {
  std::vector<float> shares;
  float total = 0;
  for (std::size_t i = 0; i < family.skeletons.size(); ++i) {
    const float u = dice.uniform();
    shares.push_back(u * u * u + 0.01F);
    total += shares.back();
  }
  Skeleton mixed = family.skeletons.front();
  for (std::size_t s = 0; s < mixed.size(); ++s) {
    for (std::size_t p = 0; p < mixed[s].size(); ++p) {
      Point sum;
      for (std::size_t i = 0; i < shares.size(); ++i) {
        const Point& point = family.skeletons[i][s][p];
        sum = {sum.x + point.x * shares[i], sum.y + point.y * shares[i]};
      }
      mixed[s][p] = {sum.x / total, sum.y / total};
    }
  }
  return mixed;
}

/// An unsteady hand: each stroke begins a little off, and each point moves by itself (the two of a
/// corner together).
void shake(Skeleton& skeleton, float deviation, Dice& dice) {
  for (Stroke& stroke : skeleton) {
    const Point start{deviation * dice.normal(), deviation * dice.normal()};
    Point before{-9, -9};
    Point move;
    for (Point& point : stroke) {
      const bool corner = point.x == before.x && point.y == before.y;
      before = point;
      if (!corner) {
        move = {start.x + deviation * dice.normal(), start.y + deviation * dice.normal()};
      }
      point = {point.x + move.x, point.y + move.y};
    }
  }
}

/// A hand of its own: a smooth warp (quadratic in x and y), then aspect, slant and rotation.
class Hand {
 public:
  explicit Hand(Dice& dice)
      : aspect_(std::clamp(0.88F + 0.20F * dice.normal(), 0.4F, 1.5F)),
        slant_(0.10F + 0.24F * dice.normal()),
        turn_(0.10F * dice.normal()) {
    for (float& bend : bends_) bend = 0.17F * dice.normal();
  }

  Point operator()(Point point) const {
    const float x = point.x - 0.5F;
    const float y = point.y - 0.5F;
    const float bent_x = x + bends_[0] * y * y + bends_[1] * x * y + bends_[2] * x * x;
    const float bent_y = y + bends_[3] * x * x + bends_[4] * x * y + bends_[5] * y * y;
    const float wide = bent_x * aspect_ - slant_ * bent_y;
    // A turn by a small angle, to second order: no library's sine is needed.
    const float cosine = 1 - turn_ * turn_ / 2;
    return {wide * cosine - bent_y * turn_, wide * turn_ + bent_y * cosine};
  }

 private:
  float aspect_;
  float slant_;
  float turn_;
  std::array<float, 6> bends_{};
};

Point catmull_rom(const std::array<Point, 4>& p, float t) {
  const auto curve = [t](float a, float b, float c, float d) {
    const float linear = (c - a) / 2;
    const float square = a - 2.5F * b + 2 * c - d / 2;
    const float cubic = (d - a) / 2 + 1.5F * (b - c);
    return b + t * (linear + t * (square + t * cubic));
  };
  return {curve(p[0].x, p[1].x, p[2].x, p[3].x), curve(p[0].y, p[1].y, p[2].y, p[3].y)};
}

/// The stroke as a line of short segments, pressed harder here and lighter there.
Line trace(const Stroke& stroke, float unsteady, Dice& dice) {
  constexpr int kSteps = 6;
  Line line;
  float pressure = 1 + unsteady * dice.normal();
  for (std::size_t i = 0; i + 1 < stroke.size(); ++i) {
    const std::array<Point, 4> around = {stroke[i == 0 ? 0 : i - 1], stroke[i], stroke[i + 1],
                                         stroke[std::min(i + 2, stroke.size() - 1)]};
    const float next = 1 + unsteady * dice.normal();
    for (int step = 0; step < kSteps; ++step) {
      const float t = static_cast<float>(step) / kSteps;
      line.push_back({catmull_rom(around, t), pressure + (next - pressure) * t});
    }
    pressure = next;
  }
  line.push_back({stroke.back(), pressure});
  return line;
}

Pen choose_pen(Dice& dice) {
  return {.box = 20.0F + 0.5F * dice.normal(),
          .radius = std::clamp(1.22F + 0.40F * dice.normal(), 0.55F, 2.4F),
          .softness = dice.between(0.8F, 1.5F),
          .darkness = dice.between(0.94F, 1.0F)};
}

/// Paper and scanner: the edges of the ink are uneven, the paper stays black.
void roughen(std::span<std::uint8_t> picture, float strength, Dice& dice) {
  for (std::uint8_t& pixel : picture) {
    if (pixel == 0) continue;
    const float value = static_cast<float>(pixel) / 255.0F;
    const float edge = 4 * value * (1 - value);
    const float noisy = value + strength * (edge + 0.05F) * (dice.uniform() - 0.5F);
    pixel = to_byte(noisy);
  }
}

}  // namespace

std::uint8_t write_digit(const Alphabet& alphabet, std::uint64_t seed, Split split,
                         std::uint32_t index, std::span<std::uint8_t> picture) {
  Dice dice(seed, split, index);
  const auto digit = static_cast<std::uint8_t>(dice.word() % 10);
  Skeleton skeleton = mix(choose(alphabet[digit], dice), dice);
  shake(skeleton, 0.042F, dice);
  const Hand hand(dice);
  const float unsteady = dice.between(0.0F, 0.22F);
  std::vector<Line> lines;
  for (Stroke& stroke : skeleton) {
    for (Point& point : stroke) point = hand(point);
    lines.push_back(trace(stroke, unsteady, dice));
  }
  draw(lines, choose_pen(dice), picture);
  roughen(picture, 0.25F, dice);
  return digit;
}

}  // namespace sterna::input
