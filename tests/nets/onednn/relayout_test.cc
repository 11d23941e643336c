#include "nets/backend/relayout.h"

#include "tests/nets/finite_differences.h"

namespace sterna::nets {
namespace {

TEST(Relayout, TurnsChannelsLastIntoRowMajorAndBackAndIsCounted) {
  SeededRandom random(5);
  const Shape shape{2, 5, 3, 4};
  const Values x = random_values(element_count(shape), 1, random);
  const auto engine = backend();
  const auto operation = engine->relayout({.shape = shape});
  Tensor flat({2, 60}), back(shape, Layout::channels_last);
  operation->forward(tensor(shape, Layout::channels_last, x), flat);
  EXPECT_EQ(row_major(flat), x);
  operation->backward(flat, back);
  EXPECT_EQ(row_major(back), x);
  EXPECT_EQ(engine->reorders(), 2U);
}

}  // namespace
}  // namespace sterna::nets
