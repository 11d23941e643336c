#include "actors/job/observer.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace sterna::actors
