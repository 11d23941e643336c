#include "actors/job/observer.h"

#include <gtest/gtest.h>

#include "tests/actors/round_trip.h"

namespace sterna::actors {
namespace {

TEST(TensorTotals, AddUpButForWhatTheTensorIs) {
  TensorTotals sum{.tensor = "fc.weight",
                   .codec = schema::Codec::TERNARY,
                   .steps = 1,
                   .pushes = 2,
                   .elements = 512,
                   .bytes_up = 3,
                   .bytes_down = 4,
                   .ternarized = 5,
                   .nonzero = 6,
                   .measured = 7,
                   .saturated = 8,
                   .encode_seconds = 0.5,
                   .decode_seconds = 1.5,
                   .exchange_seconds = 2.5};
  const TensorTotals one = sum;
  sum += one;
  EXPECT_EQ(sum, (TensorTotals{.tensor = "fc.weight",
                               .codec = schema::Codec::TERNARY,
                               .steps = 2,
                               .pushes = 4,
                               .elements = 512,
                               .bytes_up = 6,
                               .bytes_down = 8,
                               .ternarized = 10,
                               .nonzero = 12,
                               .measured = 14,
                               .saturated = 16,
                               .encode_seconds = 1,
                               .decode_seconds = 3,
                               .exchange_seconds = 5}));
}

TEST(Evaluated, HasAConfusionOfItsClassesInTheirOrderOrIsMalformed) {
  const auto taken = [](std::uint32_t classes, std::vector<ConfusionCell> cells) {
    return round_trip(Evaluated{.step = 1, .classes = classes, .confusion = std::move(cells)}).ok();
  };
  EXPECT_TRUE(taken(3, {{0, 0, 5}, {0, 3, 1}, {2, 1, 7}}));
  EXPECT_TRUE(taken(60000, {}));
  EXPECT_FALSE(taken(3, {{3, 0, 5}}));
  EXPECT_FALSE(taken(3, {{0, 4, 5}}));
  EXPECT_FALSE(taken(3, {{1, 0, 5}, {0, 2, 5}}));
  EXPECT_FALSE(taken(3, {{1, 0, 5}, {1, 0, 5}}));
  EXPECT_FALSE(taken(kMostConfusedClasses + 1, {{0, 0, 1}}));
}

}  // namespace
}  // namespace sterna::actors
