#include "nets/zoo/zoo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nets/net.h"
#include "nets/zoo/fixed_gradients.h"

namespace sterna::nets {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Zoo, ListsTheNetsThatAUserMayChoose) {
  EXPECT_THAT(net_names(), ElementsAre("lenet", "mlp"));
  for (const std::string_view name : net_names()) EXPECT_EQ(find_net(name)->name, name);
}

TEST(Zoo, HasNetsForMeasuringThatNoErrorNames) {
  for (const char* name : {kFixedGradientsName, kPacedFixedGradientsName})
    EXPECT_STREQ(find_net(name)->name, name);
  EXPECT_EQ(find_net("lennet"), nullptr);
  const auto made = make_net({.name = "lennet", .batch = 1});
  EXPECT_THAT(made.error().message, HasSubstr("there are: lenet, mlp"));
  EXPECT_THAT(made.error().message, Not(HasSubstr("fixed")));
}

TEST(Zoo, EachNetMarksTheTensorsOfItsLogits) {
  for (const std::string_view name : net_names()) {
    const auto net = make_net({.name = std::string(name), .batch = 1}).value();
    std::vector<std::string> marked;
    for (const ParameterSpec& spec : net->parameters())
      if (spec.logits) marked.push_back(spec.name);
    EXPECT_THAT(marked, ElementsAre("logits/weights", "logits/biases")) << name;
  }
}

}  // namespace
}  // namespace sterna::nets
