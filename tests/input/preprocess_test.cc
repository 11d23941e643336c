#include "input/batches/preprocess.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace sterna::input {
namespace {

TEST(Preprocess, MnistMapsBlackToMinusOneAndWhiteToOne) {
  const std::vector<std::uint8_t> image = {0, 51, 255};
  std::vector<float> out(3);
  preprocessing_of("mnist").image(image, out);
  EXPECT_THAT(out, ::testing::ElementsAre(-1.0F, ::testing::FloatEq(-0.6F), 1.0F));
}

TEST(Preprocess, GatherFollowsTheOrderOfTheIndices) {
  const Dataset dataset{.count = 3,
                        .rows = 1,
                        .columns = 2,
                        .channels = 1,
                        .classes = 1001,
                        .images = {0, 0, 255, 0, 0, 255},
                        .labels = {7, 8, 1000}};
  std::vector<float> images(4);
  std::vector<std::uint16_t> labels(2);
  const std::vector<std::uint64_t> indices = {2, 1};
  gather(dataset, indices, images, labels);
  EXPECT_THAT(images, ::testing::ElementsAre(-1, 1, 1, -1));
  EXPECT_THAT(labels, ::testing::ElementsAre(1000, 8));
}

}  // namespace
}  // namespace sterna::input
