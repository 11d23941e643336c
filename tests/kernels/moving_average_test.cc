#include "kernels/optimizer/moving_average.h"

#include <gtest/gtest.h>

#include <memory>

#include "kernels/optimizer/optimizer.h"
#include "packets.h"

namespace sterna::kernels {
namespace {

constexpr float kPart = 0.03F;

TEST(MovingAverage, MovesByAllThatItsDecayLeavesAndFasterAtFirst) {
  EXPECT_EQ(average_part(0.9999, 0), 0.9F);
  EXPECT_EQ(average_part(0.9999, 10), static_cast<float>(1 - 11.0 / 20));
  EXPECT_EQ(average_part(0.9999, 1'000'000), static_cast<float>(1 - 0.9999));
  EXPECT_EQ(average_part(0.5, 8), 0.5F);
  EXPECT_EQ(average_part(0, 8), 1.0F);
}

/// One step of momentum from packets, with a moving average, in the places of one's choice.
class AveragedStep {
 public:
  AveragedStep(std::size_t count, Isa isa)
      : packets_(count, {Packing::planes, Packing::fp32}),
        current(gaussian(count, 0.1F, 44)),
        slot(gaussian(count, 0.05F, 43)),
        average(gaussian(count, 0.1F, 45)),
        isa_(isa) {
    const Optimizer momentum = find_optimizer("momentum").value();
    options_ = {momentum, momentum.constants({{"momentum", 0.9}})(0.01, 3), 5e-4F, kPart};
  }
  void run(std::span<float> next, std::span<float> next_average) {
    const std::span<float> places[] = {slot};
    update(packets_.packets(), options_, {current, places, next, average, next_average}, isa_);
  }
  /// The same without an average.
  std::vector<float> plain() {
    std::vector<float> next(current.size());
    std::vector<float> own = slot;
    const std::span<float> places[] = {own};
    update(packets_.packets(), options_, {current, places, next}, isa_);
    return next;
  }
  std::vector<float> expected(const std::vector<float>& made) const {
    std::vector<float> moved;
    for (std::size_t i = 0; i < made.size(); ++i) {
      moved.push_back(average[i] - kPart * (average[i] - made[i]));
    }
    return moved;
  }

 private:
  RankPackets packets_;
  UpdateOptions options_;

 public:
  std::vector<float> current;
  std::vector<float> slot;
  std::vector<float> average;

 private:
  Isa isa_;
};

TEST(MovingAverage, FollowsTheStepInPlaceOrApartWithTheSameBits) {
  for (const std::size_t n : {std::size_t{1}, std::size_t{700}, std::size_t{300'003}}) {
    for (const Isa isa : every_isa()) {
      AveragedStep apart(n, isa);
      const std::vector<float> made = apart.plain();
      const auto moved = bits(apart.expected(made));
      const auto before = bits(apart.average);
      std::vector<float> room(n + 16);
      void* start = room.data();
      std::size_t space = room.size() * sizeof(float);
      // Aligned, so that a long one is written past the cache.
      const std::span next(static_cast<float*>(std::align(64, n * sizeof(float), start, space)), n);
      std::vector<float> next_average(n);
      apart.run(next, next_average);
      EXPECT_EQ(bits(next), bits(made)) << n;
      EXPECT_EQ(bits(next_average), moved) << n;
      EXPECT_EQ(bits(apart.average), before) << n;
      AveragedStep in_place(n, isa);
      in_place.run(in_place.current, in_place.average);
      EXPECT_EQ(bits(in_place.current), bits(made)) << n;
      EXPECT_EQ(bits(in_place.average), moved) << n;
    }
  }
}

TEST(MovingAverage, OfSeveralSumsAtOnceIsThatOfOneStepAfterTheOther) {
  constexpr std::size_t n = 3001;
  const RankPackets ranks(n, std::vector<Packing>(3, Packing::planes));
  std::vector<std::byte> sums(sum_bytes(n, 3));
  sum_trits(ranks.packets(), sums, Isa::scalar);
  const Optimizer gd = find_optimizer("gd").value();
  std::vector<SumStep> steps;
  for (std::uint64_t i = 0; i < 3; ++i) {
    steps.push_back({{3, 0.3F, sums}, {gd, gd.constants({})(0.01, i), 0, average_part(0.999, i)}});
  }
  const std::vector<float> current = gaussian(n, 0.1F, 44);
  std::vector<float> w = current;
  std::vector<float> e = current;
  for (const SumStep& step : steps) {
    update(std::span(&step, 1), {w, {}, w, e, e}, Isa::scalar);
  }
  for (const Isa isa : every_isa()) {
    std::vector<float> next(n);
    std::vector<float> moved(n);
    update(steps, {current, {}, next, current, moved}, isa);
    EXPECT_EQ(bits(next), bits(w));
    EXPECT_EQ(bits(moved), bits(e));
  }
}

}  // namespace
}  // namespace sterna::kernels
