#include "quad_case.h"

#include <fmt/format.h>

#include <bit>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/layers/runs.h"
#include "kernels/sums/bf16.h"
#include "same_bits.h"
#include "tests/kernels/gradients.h"
#include "there.h"

namespace sterna::kernels {
namespace {

/// T is float, or std::uint16_t for bf16s.
template <class T>
constexpr const char* kKind = std::is_same_v<T, float> ? "fp32s" : "bf16s";

template <class T>
std::vector<T> as(const Floats& values) {
  if constexpr (std::is_same_v<T, float>) return values;
  std::vector<T> rounded;
  for (const float value : values) rounded.push_back(static_cast<T>(to_bf16(value)));
  return rounded;
}

/// Numbers on the device that begin `shift` of them behind where quads do.
template <class T>
class Shifted {
 public:
  static Result<Shifted> make(There& there, const Floats& values, std::size_t shift) {
    std::vector<T> all = as<T>(values);
    all.insert(all.begin(), shift, T{});
    all.insert(all.end(), kQuad, T{});
    STERNA_ASSIGN(DeviceArray<T> array, there.bring(all));
    return Shifted(std::move(array), shift);
  }
  Numbers numbers() const { return Numbers(array_.data()).from(shift_); }
  /// Those; what lies around them nobody may write.
  Result<std::vector<T>> fetch(There& there) const {
    STERNA_ASSIGN(std::vector<T> all, there.fetch(array_));
    const std::size_t end = all.size() - kQuad;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool around = i < shift_ || i >= end;
      if (around && all[i] != T{}) return Error{Errc::internal, "what lies around was written"};
    }
    return std::vector<T>(all.begin() + static_cast<std::ptrdiff_t>(shift_),
                          all.begin() + static_cast<std::ptrdiff_t>(end));
  }

 private:
  Shifted(DeviceArray<T> array, std::size_t shift) : array_(std::move(array)), shift_(shift) {}
  DeviceArray<T> array_;
  std::size_t shift_;
};

template <class T>
Result<void> same(const std::vector<T>& found, const std::vector<T>& expected,
                  const std::string& of) {
  return same_bytes(std::as_bytes(std::span(found)), std::as_bytes(std::span(expected)), of);
}

template <class T>
Result<void> elements(There& there, std::size_t count) {
  const Floats a = gaussian(count, 1, 70), b = gaussian(count, 1, 71);
  for (const ElementPass pass :
       {ElementPass::clear, ElementPass::add, ElementPass::add_and_rectify, ElementPass::add_gated,
        ElementPass::subtract, ElementPass::scale, ElementPass::divide, ElementPass::move,
        ElementPass::relu, ElementPass::relu_gradient, ElementPass::sigmoid,
        ElementPass::sigmoid_gradient}) {
    const bool one = pass == ElementPass::scale || pass == ElementPass::divide ||
                     pass == ElementPass::relu || pass == ElementPass::sigmoid;
    std::vector<T> made[2];
    for (const std::size_t shift : {0U, 1U}) {
      STERNA_ASSIGN(const auto a_there, Shifted<T>::make(there, a, shift));
      STERNA_ASSIGN(const auto b_there, Shifted<T>::make(there, b, shift));
      STERNA_TRY(there.run(
          ElementLaunch{.pass = pass,
                        .a = pass == ElementPass::clear ? Numbers() : a_there.numbers(),
                        .b = one || pass == ElementPass::clear ? Numbers() : b_there.numbers(),
                        .out = b_there.numbers(),
                        .count = count,
                        .factor = 0.3F}));
      STERNA_ASSIGN(made[shift], b_there.fetch(there));
    }
    STERNA_TRY(
        same(made[0], made[1],
             fmt::format("pass {} of {} {} in quads", static_cast<int>(pass), count, kKind<T>)));
  }
  return {};
}

/// All that passes over the pixels of channels, and their sums.
template <class T>
Result<void> channels(There& there, std::size_t pixels, std::size_t channels, bool relu) {
  const std::size_t count = pixels * channels;
  const Floats x = gaussian(count, 1, 72), dy = gaussian(count, 1, 73);
  STERNA_ASSIGN(const auto scale, there.bring(gaussian(channels, 1, 74)));
  STERNA_ASSIGN(const auto shift, there.bring(gaussian(channels, 1, 75)));
  STERNA_ASSIGN(const auto room, there.bring(std::vector<TwoSums>(channel_sums(pixels, channels))));
  const ChannelSums sums{pixels, channels, room.data()};
  struct Made {
    std::vector<T> y, biased, dx;
    Floats mean, variance, dscale, dshift, sum;
  };
  Made made[2];
  for (const std::size_t by : {0U, 1U}) {
    STERNA_ASSIGN(const auto x_there, Shifted<T>::make(there, x, by));
    STERNA_ASSIGN(const auto dy_there, Shifted<T>::make(there, dy, by));
    STERNA_ASSIGN(const auto y, Shifted<T>::make(there, Floats(count, 7), by));
    STERNA_ASSIGN(const auto mean, there.bring(Floats(channels)));
    STERNA_ASSIGN(const auto variance, there.bring(Floats(channels)));
    STERNA_ASSIGN(const auto dscale, there.bring(Floats(channels)));
    STERNA_ASSIGN(const auto dshift, there.bring(Floats(channels)));
    STERNA_ASSIGN(const auto sum, there.bring(Floats(channels)));
    const ChannelNorm norm{x_there.numbers(), scale.data(), shift.data(), mean.data(),
                           variance.data(),   0.01F,        relu};
    STERNA_TRY(there.run(MomentsLaunch{sums, norm.x, mean.data(), variance.data()}));
    STERNA_TRY(there.run(ChannelNormLaunch{norm, y.numbers(), pixels, channels}));
    STERNA_TRY(there.run(ChannelNormGradientLaunch{
        norm, sums, dy_there.numbers(), dy_there.numbers(), dscale.data(), dshift.data()}));
    STERNA_TRY(there.run(ChannelSumLaunch{sums, norm.x, sum.data()}));
    STERNA_TRY(there.run(BiasLaunch{shift.data(), norm.x, pixels, channels}));
    STERNA_ASSIGN(made[by].y, y.fetch(there));
    STERNA_ASSIGN(made[by].dx, dy_there.fetch(there));
    STERNA_ASSIGN(made[by].biased, x_there.fetch(there));
    for (const auto& [array, into] :
         {std::pair{&mean, &made[by].mean}, std::pair{&variance, &made[by].variance},
          std::pair{&dscale, &made[by].dscale}, std::pair{&dshift, &made[by].dshift},
          std::pair{&sum, &made[by].sum}}) {
      STERNA_ASSIGN(*into, there.fetch(*array));
    }
  }
  const std::string of =
      fmt::format(" of {} pixels of {} channels of {}, in quads", pixels, channels, kKind<T>);
  STERNA_TRY(same(made[0].mean, made[1].mean, "means" + of));
  STERNA_TRY(same(made[0].variance, made[1].variance, "variances" + of));
  STERNA_TRY(same(made[0].y, made[1].y, "a norm" + of));
  STERNA_TRY(same(made[0].dscale, made[1].dscale, "gradients by scales" + of));
  STERNA_TRY(same(made[0].dshift, made[1].dshift, "gradients by shifts" + of));
  STERNA_TRY(same(made[0].dx, made[1].dx, "a norm's gradient" + of));
  STERNA_TRY(same(made[0].sum, made[1].sum, "sums" + of));
  return same(made[0].biased, made[1].biased, "biases" + of);
}

template <class T>
Result<void> runs(There& there, const Runs& runs) {
  const Floats x = gaussian(400, 1, 76);
  std::vector<T> made[2];
  for (const std::size_t shift : {0U, 1U}) {
    STERNA_ASSIGN(const auto from, Shifted<T>::make(there, x, shift));
    STERNA_ASSIGN(const auto to, Shifted<T>::make(there, Floats(400, 7), shift));
    STERNA_TRY(there.run(RunLaunch{from.numbers(), to.numbers(), runs}));
    STERNA_ASSIGN(made[shift], to.fetch(there));
  }
  const std::vector<T> read = as<T>(x);
  std::vector<T> expected = as<T>(Floats(400, 7));
  const auto begin = [](const Runs::Place& of, std::size_t image, std::size_t row,
                        std::size_t column) {
    return of.first + image * of.image + row * of.row + column * of.column;
  };
  for (std::size_t i = 0; i < runs.images * runs.rows * runs.columns; ++i) {
    const std::size_t column = i % runs.columns, row = i / runs.columns % runs.rows;
    const std::size_t image = i / runs.columns / runs.rows;
    for (std::size_t at = 0; at < runs.length; ++at) {
      expected[begin(runs.to, image, row, column) + at] =
          read[begin(runs.from, image, row, column) + at];
    }
  }
  STERNA_TRY(same(made[0], expected, fmt::format("runs of {} {}", runs.length, kKind<T>)));
  return same(made[0], made[1], fmt::format("runs of {} {} in quads", runs.length, kKind<T>));
}

template <class T>
Result<void> of_kind(There& there) {
  for (const std::size_t count : {1UL, 3UL, 4UL, 6UL, 2'047UL, 2'048UL, 9'001UL}) {
    STERNA_TRY(elements<T>(there, count));
  }
  for (const bool relu : {false, true}) {
    STERNA_TRY(channels<T>(there, 37, 4, relu));
    STERNA_TRY(channels<T>(there, 259, 20, relu));
    STERNA_TRY(channels<T>(there, 1, 32, relu));
    STERNA_TRY(channels<T>(there, 16 * 8 * 5 + 3, 64, relu));  // a last group of two tiles
    STERNA_TRY(channels<T>(there, 16 * 8 * 9, 160, relu));
  }
  // As many blocks of threads as sums in quads are for; the last of 2,048 have two tiles each.
  STERNA_TRY(channels<T>(there, 259, 4096, true));
  STERNA_TRY(channels<T>(there, 16 * 8 * 5 + 3, 2048, false));
  for (const std::size_t length : {4U, 5U, 12U}) {
    STERNA_TRY(runs<T>(there, {.images = 2,
                               .rows = 3,
                               .columns = 4,
                               .length = length,
                               .from = {.first = 8, .image = 152, .row = 48, .column = 12},
                               .to = {.first = 4, .image = 192, .row = 64, .column = 16}}));
  }
  return {};
}

}  // namespace

Result<void> takes_quads_like_single_numbers(Device& device) {
  STERNA_ASSIGN(There there, There::make(device));
  STERNA_TRY(of_kind<float>(there));
  return of_kind<std::uint16_t>(there);
}

}  // namespace sterna::kernels
