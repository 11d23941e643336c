#include "nets/zoo/zoo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nets/describe_net.h"
#include "nets/net.h"
#include "nets/zoo/fixed_gradients.h"

namespace sterna::nets {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

TEST(Zoo, ListsTheNetsThatAUserMayChoose) {
  EXPECT_THAT(net_names(),
              ElementsAre("lenet", "mlp", "cifarnet", "alexnet", "alexnet_v2", "vgg_a", "vgg_16",
                          "googlenet", "inception_v3", "resnet_20", "resnet_50"));
  for (const std::string_view name : net_names()) EXPECT_EQ(find_net(name)->name, name);
}

TEST(Zoo, HasNetsForMeasuringThatNoErrorNames) {
  for (const char* name : {kFixedGradientsName, kPacedFixedGradientsName})
    EXPECT_STREQ(find_net(name)->name, name);
  EXPECT_EQ(find_net("lennet"), nullptr);
  const auto made = make_net({.name = "lennet", .batch = 1});
  EXPECT_THAT(made.error().message, HasSubstr("there are: lenet, mlp, cifarnet, "));
  EXPECT_THAT(made.error().message, Not(HasSubstr("fixed")));
}

/// With images as the original takes them.
NetOptions usual(std::string_view name, std::size_t classes) {
  NetOptions options{.name = std::string(name), .images = find_net(name)->usual, .batch = 1};
  options.images.classes = classes;
  return options;
}

TEST(Zoo, EachNetHasTheParametersOfTheOriginal) {
  const auto trained = [](const char* name, std::size_t classes) {
    return describe_net(usual(name, classes)).value().trained_elements();
  };
  EXPECT_EQ(trained("lenet", 10), 1'256'080U);
  EXPECT_EQ(trained("cifarnet", 10), 1'068'298U);
  EXPECT_EQ(trained("alexnet", 1001), 60'969'321U);
  EXPECT_EQ(trained("alexnet_v2", 1001), 50'308'009U);
  EXPECT_EQ(trained("vgg_a", 1001), 132'867'433U);
  EXPECT_EQ(trained("vgg_16", 1001), 138'361'641U);
  EXPECT_EQ(trained("googlenet", 1001), 6'618'649U);
  EXPECT_EQ(trained("inception_v3", 1001), 27'145'970U);
  EXPECT_EQ(trained("resnet_20", 10), 269'722U);
  EXPECT_EQ(trained("resnet_50", 1000), 25'557'032U);
}

TEST(Zoo, InceptionWithFactorsInItsBatchNormsHasTorchvisionsParameters) {
  const auto net =
      describe_net({.name = "inception_v3",
                    .images = {.rows = 299, .columns = 299, .channels = 3, .classes = 1000},
                    .batch = 1,
                    .bn_scale = true});
  ASSERT_TRUE(net.ok());
  EXPECT_EQ(net->trained_elements(), 27'161'264U);
}

TEST(Zoo, EachNetMarksTheTensorsOfItsLogits) {
  for (const std::string_view name : net_names()) {
    const NetDescription net = describe_net(usual(name, 10)).value();
    std::vector<std::size_t> marked;
    for (const ParameterSpec& spec : net.parameters)
      if (spec.logits) marked.push_back(spec.count());
    ASSERT_THAT(marked, SizeIs(name == "inception_v3" ? 4 : 2)) << name;
    EXPECT_EQ(marked.back(), 10U) << name;
  }
}

TEST(Zoo, StatisticsStandLastInTheTable) {
  for (const std::string_view name : net_names()) {
    const NetDescription net = describe_net(usual(name, 10)).value();
    for (std::size_t i = 0; i < net.parameters.size(); ++i) {
      const ParameterSpec& spec = net.parameters[i];
      EXPECT_EQ(spec.role == Role::statistic, i >= net.trained) << spec.name;
      EXPECT_EQ(spec.moving_decay > 0, i >= net.trained) << spec.name;
    }
  }
}

TEST(Zoo, EachNetTakesItsSmallestImagesAndRefusesSmallerOnes) {
  for (const std::string_view name : net_names()) {
    const ZooNet& net = *find_net(name);
    NetOptions options = usual(name, 3);
    options.images.rows = options.images.columns = net.smallest;
    options.divisor = 8;
    const auto made = make_net(options);
    EXPECT_TRUE(made.ok()) << name << ": " << made.error().message;
    if (net.smallest == 1) continue;
    options.images.rows = net.smallest - 1;
    const auto refused = describe_net(options);
    ASSERT_FALSE(refused.ok()) << name;
    EXPECT_THAT(refused.error().message, HasSubstr("takes none that is smaller than"));
  }
}

TEST(DescribeNet, SaysWhatANetNeedsWithoutMakingIt) {
  const NetDescription lenet = describe_net({.name = "lenet", .batch = 64}).value();
  EXPECT_EQ(lenet.trained, 8U);
  // Products and sums: 784 x 25 x 20, 196 x 500 x 50, 2450 x 500 and 500 x 10.
  EXPECT_EQ(lenet.flops, 2U * (784 * 25 * 20 + 196 * 500 * 50 + 2450 * 500 + 500 * 10));
  const auto made = make_net({.name = "lenet", .batch = 64}).value();
  EXPECT_EQ(made->activation_memory().bytes, lenet.activations.bytes);
  EXPECT_LE(lenet.activations.bytes, lenet.activations.bound * 5 / 4);
  EXPECT_EQ(lenet.training_bytes(), 2 * 4 * 1'256'080 + lenet.activations.bytes);
  EXPECT_FALSE(describe_net({.name = "lenet", .batch = 0}).ok());
}

}  // namespace
}  // namespace sterna::nets
