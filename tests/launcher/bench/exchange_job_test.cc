#include "launcher/bench/exchange/exchange_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sterna::launcher {
namespace {

using testing::ElementsAre;

TEST(ExchangeJob, IsOneTensorWhereOneMayBeSoLarge) {
  EXPECT_THAT(exchange_tensors({.elements = 25'600'000}), ElementsAre(25000));
  EXPECT_THAT(exchange_tensors({.elements = 1}), ElementsAre(1));
  EXPECT_THAT(exchange_tensors({.elements = std::size_t{65537} * 1024}), ElementsAre(32769, 32768));
  EXPECT_THAT(exchange_tensors({.elements = 10240, .tensors = 4}), ElementsAre(3, 3, 2, 2));
}

TEST(ExchangeJob, HasServersBesideTheRanks) {
  const auto file = exchange_file({.elements = 65536, .ranks = 3, .servers = 2, .steps = 5},
                                  {.name = "tcp"}, {"gradient.codec=none"});
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->count(Role::kParameterServer), 2);
  EXPECT_EQ(file->ranks(), 3);
  EXPECT_EQ(file->count(Role::kInputReader), 3);
  EXPECT_EQ(file->gradient.codec, "none");
  EXPECT_EQ(file->job.net, nets::kFixedGradientsName);
  EXPECT_THAT(file->job.hidden, ElementsAre(64));
  EXPECT_TRUE(file->placed());
}

}  // namespace
}  // namespace sterna::launcher
