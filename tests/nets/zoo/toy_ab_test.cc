// The toy problem: its loss and gradients are what can be written down.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/nets/net_fixture.h"

namespace sterna::nets {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

NetOptions toy_ab(std::size_t batch) {
  return {.name = "toy_ab", .images = {1, 1, 1, 2}, .batch = batch};
}

TEST(ToyAb, HandsOutTheDistanceToItsTargetForBothParameters) {
  for (const std::size_t batch : {1U, 4U}) {
    const auto net = make_net(toy_ab(batch)).value();
    net->parameter(0)[0] = 3;
    net->parameter(1)[0] = 4;
    net->parameter(1)[1] = -1;
    for (const std::size_t i : {0U, 1U}) net->parameters_changed(i);
    const std::vector<float> images(batch);
    const std::vector<std::uint16_t> labels(batch);
    Recorder recorder;
    const auto loss = net->train_step(images, labels, recorder);
    ASSERT_TRUE(loss.ok()) << loss.error().message;
    EXPECT_FLOAT_EQ(loss->cross_entropy, (93.0F * 93 + 101.0F * 101) / 2);
    EXPECT_THAT(recorder.order, ElementsAre(1, 0));
    EXPECT_THAT(recorder.gradients[0], ElementsAre(-93, -101));
    EXPECT_THAT(recorder.gradients[1], ElementsAre(-93, -101));
  }
}

TEST(ToyAb, AnswersWithCAndIsEvaluatedByItsOwnLoss) {
  NetOptions options = toy_ab(2);
  options.trains = false;
  const auto net = make_net(options).value();
  net->parameter(0)[1] = 98;
  const std::vector<float> images(2);
  std::vector<float> logits(4), scratch(4);
  ASSERT_TRUE(net->infer(images, 2, logits).ok());
  EXPECT_THAT(logits, ElementsAre(0, 98, 0, 98));
  EXPECT_FLOAT_EQ(net->loss(logits, std::vector<std::uint16_t>{0, 1}, scratch), (10000 + 4) / 2.0F);
}

TEST(ToyAb, IsForTwoClassesAndNoNetForPictures) {
  NetOptions options = toy_ab(1);
  options.images.classes = 10;
  EXPECT_THAT(make_net(options).error().message, HasSubstr("set data.classes = 2"));
  EXPECT_THAT(net_names(), testing::Not(testing::Contains("toy_ab")));
  EXPECT_THAT(trainable_names(), testing::Contains("toy_ab"));
}

}  // namespace
}  // namespace sterna::nets
