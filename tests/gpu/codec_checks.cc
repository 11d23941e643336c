#include "codec_checks.h"

#include <algorithm>
#include <limits>

#include "encode_case.h"
#include "kernels/trits/statistics.h"
#include "layer_case.h"
#include "norm_case.h"
#include "quad_case.h"
#include "rounding_case.h"
#include "step_case.h"
#include "tests/kernels/gradients.h"

namespace sterna::kernels {
namespace {

constexpr std::size_t kMostShort = 4100;

/// Every length up to 4,100; of a quick check, those around the borders of words and blocks.
std::vector<std::size_t> short_lengths(Thoroughness how) {
  if (how == Thoroughness::quick) {
    std::vector<std::size_t> some = lengths();
    some.erase(std::remove_if(some.begin(), some.end(), [](auto n) { return n > kMostShort; }),
               some.end());
    for (const std::size_t n : {31, 32, 33, 2047, 2049, 4064, 4100}) some.push_back(n);
    return some;
  }
  std::vector<std::size_t> all(kMostShort + 1);
  for (std::size_t n = 0; n < all.size(); ++n) all[n] = n;
  return all;
}

Result<void> lengths_and_starts(Device& device, Thoroughness) {
  for (const float clip : {2.5F, 0.0F}) {
    EncodeCase what{.clip = clip, .draw = {123, 7, 1}};
    const auto g = gaussian(kMostShort, 0.01F, 1);
    // All in one launch, one behind the other, so that they start at any element.
    for (std::size_t n = 0; n <= kMostShort; ++n) {
      what.tensors.emplace_back(g.begin(), g.begin() + static_cast<std::ptrdiff_t>(n));
    }
    STERNA_TRY(encodes_like_the_cpu(device, what));
  }
  return {};
}

Result<void> chunk_borders(Device& device, Thoroughness) {
  for (const float clip : {2.5F, 0.0F}) {
    EncodeCase what{.clip = clip, .draw = {0x0123456789ABCDEF, 2000, 65535}, .first_tensor = 65000};
    for (const std::size_t chunks : {1, 2, 3}) {
      const std::size_t border = chunks * kChunkElements;
      for (const std::size_t n : {border - 4097, border - 1, border, border + 1, border + 4097}) {
        auto g = gaussian(n, 1.0F, n);
        shrink_by_blocks(g);
        what.tensors.push_back(std::move(g));
      }
    }
    STERNA_TRY(encodes_like_the_cpu(device, what));
  }
  return {};
}

Result<void> many_chunks(Device& device, Thoroughness how) {
  // More chunks than a block of threads, which adds them up, has threads.
  const std::size_t n = how == Thoroughness::full ? 25'600'000 : 2'000'003;
  return encodes_like_the_cpu(device, {.tensors = {gaussian(n, 0.02F, 5)}, .draw = {9, 1, 3}});
}

Result<void> seeds(Device& device, Thoroughness how) {
  SeededRandom random(3);
  const int count = how == Thoroughness::full ? 1000 : 100;
  for (int i = 0; i < count; ++i) {
    EncodeCase what{.clip = i % 4 == 0 ? 0.0F : 2.5F,
                    .draw = {random.next(), static_cast<std::uint32_t>(random.next()),
                             static_cast<std::uint32_t>(random.below(65'536))},
                    .first_tensor = static_cast<std::uint32_t>(random.below(65'534))};
    what.tensors = {gaussian(600, 1.0F, random.next()), gaussian(4100, 0.1F, random.next())};
    STERNA_TRY(encodes_like_the_cpu(device, what));
  }
  return {};
}

Result<void> special_numbers(Device& device, Thoroughness how) {
  const std::vector<float> special = special_values();
  for (const float s :
       {0x1p-149F, 0x1p-96F, 0x1p-95F, 0.5F, 1.0F, 0x1.000002p0F, 3.0F, 0x1.FFFFFEp127F, 0.0F}) {
    for (std::uint32_t step = 0; step < (how == Thoroughness::full ? 50U : 5U); ++step) {
      for (const float clip : {2.5F, 0.0F}) {
        // One that is not finite, as a whole and in its last element alone; any finite bits; small
        // ones, whose squares are denormals; large ones, whose squares overflow.
        EncodeCase what{.clip = clip, .draw = {9, step, 0}};
        what.tensors = {special,
                        gaussian(1000, 1.0F, step),
                        any_finite(3000, step),
                        gaussian(1500, 1e-30F, step),
                        gaussian(700, 1e-40F, step),
                        gaussian(700, 1e37F, step)};
        what.tensors[1].back() = step % 2 == 0 ? -std::numeric_limits<float>::infinity()
                                               : std::numeric_limits<float>::quiet_NaN();
        what.last_scalers.assign(what.tensors.size(), s);
        STERNA_TRY(encodes_like_the_cpu(device, what));
      }
    }
  }
  return {};
}

Result<void> error_feedback(Device& device, Thoroughness how) {
  EncodeCase what{.draw = {11, 5, 2}};
  for (const std::size_t n : short_lengths(Thoroughness::quick)) {
    what.tensors.push_back(gaussian(n, 0.1F, n));
  }
  what.tensors.push_back(gaussian(how == Thoroughness::full ? 1'000'001 : 140'000, 0.1F, 8));
  STERNA_TRY(feeds_errors_back_like_the_cpu(device, what));
  what.clip = 0;
  return feeds_errors_back_like_the_cpu(device, what);
}

Result<void> halves(Device& device, Thoroughness) {
  EncodeCase what;
  what.tensors = {special_values(), any_finite(3001, 4), gaussian(70'001, 1.0F, 5), {}};
  return encodes_bf16_like_the_cpu(device, what);
}

Result<void> sums_of_ranks(Device& device, Thoroughness how) {
  const auto of_ranks = [&](std::size_t ranks, std::vector<std::size_t> elements) {
    return sums_like_the_cpu(
        device, {std::move(elements), std::vector<Packing>(ranks, Packing::planes), 77 + ranks});
  };
  for (const std::size_t ranks : {1, 2, 3, 4, 7, 8, 11, 15, 16, 31, 100}) {
    STERNA_TRY(of_ranks(ranks, {0, 1, 511, 512, 513, 4100}));
  }
  STERNA_TRY(of_ranks(8, {how == Thoroughness::full ? 25'600'000U : 200'001U}));
  // Lengths between two that differ only behind the last element are the encoder's matter.
  return of_ranks(5, short_lengths(Thoroughness::quick));
}

Result<void> steps_of_ranks(Device& device, Thoroughness how) {
  using enum Packing;
  const std::vector<std::vector<Packing>> every = {
      {planes},
      {fp32},
      {bf16},
      {planes, bf16},
      {fp32, planes},
      {planes, bf16, fp32},
      {planes, planes, planes},
      {planes, planes, planes, planes, planes, planes, planes, planes},
      {planes, fp32, planes, planes, planes, bf16, planes}};
  for (const auto& packings : every) {
    STERNA_TRY(steps_like_the_cpu(device, {{0, 1, 31, 511, 512, 513, 4100}, packings, 3}));
  }
  for (const std::size_t ranks : {1, 2, 3, 8}) {
    STERNA_TRY(averages_from_fp32_sums_like_the_cpu(
        device, {{0, 1, 31, 513, 4100}, std::vector<Packing>(ranks, fp32), 6}));
  }
  const std::size_t large = how == Thoroughness::full ? 25'600'000 : 140'001;
  STERNA_TRY(steps_like_the_cpu(device, {{large}, std::vector<Packing>(2, planes), 4}));
  return steps_like_the_cpu(device, {short_lengths(how), {planes, planes}, 5});
}

}  // namespace

std::vector<DeviceCheck> codec_checks() {
  return {
      {"trits and scalers of every length up to 4,100, at any alignment", lengths_and_starts},
      {"trits and scalers around the borders of chunks", chunk_borders},
      {"trits and the scaler of a tensor of many chunks", many_chunks},
      {"trits and scalers for many seeds, steps, ranks and tensors", seeds},
      {"trits and scalers of denormals, infinities and NaNs", special_numbers},
      {"residuals of error feedback", error_feedback},
      {"bf16s", halves},
      {"sums of 1 to 100 ranks", sums_of_ranks},
      {"averages and steps from packets and sums", steps_of_ranks},
      {"products, windows, elements, pixels, dropout, decay and the losses of layers",
       [](Device& device, Thoroughness) { return computes_layers_like_the_cpu(device); }},
      {"normalizations across channels and over batches",
       [](Device& device, Thoroughness) { return normalizes_as_defined(device); }},
      {"what layers read and write four numbers at once",
       [](Device& device, Thoroughness) { return takes_quads_like_single_numbers(device); }},
      {"what layers round to bf16",
       [](Device& device, Thoroughness) { return rounds_layers_like_the_cpu(device); }},
  };
}

}  // namespace sterna::kernels
