#include "rounding_case.h"

#include <bit>
#include <iterator>
#include <span>
#include <vector>

#include "kernels/sums/bf16.h"
#include "same_bits.h"
#include "tests/kernels/gradients.h"
#include "there.h"

namespace sterna::kernels {
namespace {

using Bf16s = std::vector<std::uint16_t>;

Bf16s nearest(const Floats& values) {
  Bf16s rounded;
  for (const float value : values) rounded.push_back(to_bf16(value));
  return rounded;
}

Result<void> same_bf16s(const Bf16s& found, const Bf16s& expected, const std::string& of) {
  return same_bytes(std::as_bytes(std::span(found)), std::as_bytes(std::span(expected)), of);
}

Result<void> numbers(There& there) {
  // Ties, borders, zeros, denormals, infinities and NaNs.
  constexpr std::uint32_t kSpecial[] = {0x3F808000, 0x3F818000, 0x3F807FFF, 0x3F808001, 0x80000000,
                                        0x00000001, 0x007FFFFF, 0x7F7FFFFF, 0xFF800000, 0x7F800001};
  for (const std::size_t count : {1UL, 255UL, 1024UL, 5'001UL}) {
    Floats values = gaussian(count, 1, 50 + count);
    for (std::size_t i = 0; i < std::size(kSpecial) && i < count; ++i) {
      values[i] = std::bit_cast<float>(kSpecial[i]);
    }
    STERNA_ASSIGN(const auto from, there.bring(values));
    STERNA_ASSIGN(const auto to, there.bring(Bf16s(count)));
    STERNA_ASSIGN(const auto back, there.bring(Floats(count)));
    STERNA_TRY(there.run(RoundLaunch{from.data(), to.data(), count}));
    STERNA_TRY(there.run(WidenLaunch{to.data(), back.data(), count}));
    STERNA_ASSIGN(const Bf16s rounded, there.fetch(to));
    STERNA_TRY(same_bf16s(rounded, nearest(values), "what is rounded"));
    STERNA_ASSIGN(const Floats found, there.fetch(back));
    Floats expected;
    for (const std::uint16_t one : rounded) expected.push_back(from_bf16(one));
    STERNA_TRY(same_floats(found, expected, "what is widened"));
  }
  return {};
}

/// What a launch that moves elements writes as bf16s is what it writes as fp32s, rounded, and so is
/// what it moves of bf16s.
template <class Launch>
Result<void> moves(There& there, Launch launch, std::size_t elements, const std::string& what) {
  const Floats values = gaussian(elements, 1, 60);
  STERNA_ASSIGN(const auto from, there.bring(values));
  STERNA_ASSIGN(const auto rounded, there.bring(nearest(values)));
  STERNA_ASSIGN(const auto fp32s, there.bring(Floats(elements, 7)));
  STERNA_ASSIGN(const auto bf16s, there.bring(nearest(Floats(elements, 7))));
  launch.from = from.data();
  launch.to = fp32s.data();
  STERNA_TRY(there.run(launch));
  launch.to = bf16s.data();
  STERNA_TRY(there.run(launch));
  STERNA_ASSIGN(const Floats expected, there.fetch(fp32s));
  STERNA_ASSIGN(const Bf16s found, there.fetch(bf16s));
  STERNA_TRY(same_bf16s(found, nearest(expected), what));
  STERNA_ASSIGN(const auto moved, there.bring(nearest(Floats(elements, 7))));
  launch.from = rounded.data();
  launch.to = moved.data();
  STERNA_TRY(there.run(launch));
  STERNA_ASSIGN(const Bf16s of_bf16s, there.fetch(moved));
  return same_bf16s(of_bf16s, found, what + " of bf16s");
}

/// A product of bf16s is that of the fp32s which are the same numbers.
Result<void> products_of_bf16s(There& there) {
  constexpr std::size_t kRows = 5, kColumns = 67, kDepth = 530;
  const Bf16s a = nearest(gaussian(kRows * kDepth, 1, 61));
  const Bf16s b = nearest(gaussian(kDepth * kColumns, 1, 62));
  STERNA_ASSIGN(const auto a_there, there.bring(a));
  STERNA_ASSIGN(const auto b_there, there.bring(b));
  STERNA_ASSIGN(const auto a_wide, there.bring(Floats(a.size())));
  STERNA_ASSIGN(const auto b_wide, there.bring(Floats(b.size())));
  STERNA_TRY(there.run(WidenLaunch{a_there.data(), a_wide.data(), a.size()}));
  STERNA_TRY(there.run(WidenLaunch{b_there.data(), b_wide.data(), b.size()}));
  STERNA_ASSIGN(const auto bias, there.bring(gaussian(kColumns, 1, 63)));
  STERNA_ASSIGN(const auto expected, there.bring(Floats(kRows * kColumns)));
  STERNA_ASSIGN(const auto found, there.bring(Floats(kRows * kColumns)));
  for (const bool turned : {false, true}) {  // b lies column by column
    ProductLaunch launch{.a = {a_wide.data(), kDepth, 1},
                         .b = {b_wide.data(), turned ? 1 : kColumns, turned ? kDepth : 1},
                         .bias = turned ? nullptr : bias.data(),
                         .out = expected.data(),
                         .rows = kRows,
                         .columns = kColumns,
                         .depth = kDepth};
    STERNA_TRY(there.run(launch));
    launch.a.data = a_there.data();
    launch.b.data = b_there.data();
    launch.out = found.data();
    STERNA_TRY(there.run(launch));
    STERNA_ASSIGN(const Floats wide, there.fetch(expected));
    STERNA_ASSIGN(const Floats of_bf16s, there.fetch(found));
    STERNA_TRY(same_floats(of_bf16s, wide, "a product of bf16s"));
  }
  return {};
}

}  // namespace

Result<void> rounds_layers_like_the_cpu(Device& device) {
  STERNA_ASSIGN(There there, There::make(device));
  STERNA_TRY(numbers(there));
  STERNA_TRY(moves(there, TransposeLaunch{.count = 3, .rows = 5, .columns = 13}, 195,
                   "transposed matrices"));
  const Runs runs{.images = 2,
                  .rows = 3,
                  .columns = 4,
                  .length = 5,
                  .from = {.first = 2, .image = 100, .row = 30, .column = 6},
                  .to = {.first = 1, .image = 70, .row = 21, .column = 5}};
  STERNA_TRY(moves(there, RunLaunch{.runs = runs}, 200, "runs"));
  return products_of_bf16s(there);
}

}  // namespace sterna::kernels
