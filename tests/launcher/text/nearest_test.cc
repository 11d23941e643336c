#include "launcher/text/nearest.h"

#include <gtest/gtest.h>

#include <vector>

namespace sterna::launcher {
namespace {

const std::vector<std::string> kWords = {"run", "command", "commend"};

TEST(EditDistance, CountsWhatIsInsertedDeletedAndReplaced) {
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(EditDistance, OfTwoSwappedNeighboursIsOne) { EXPECT_EQ(edit_distance("codec", "cdoec"), 1U); }

TEST(Nearest, IsAWordOfWhichAtMostAThirdIsWrong) {
  EXPECT_TRUE(is_near("abcdef", "abcdxy"));
  EXPECT_FALSE(is_near("abcdef", "abcxyz"));
}

TEST(Nearest, MayDifferInOneLetterHoweverShort) {
  EXPECT_TRUE(is_near("up", "us"));
  EXPECT_FALSE(is_near("up", "in"));
}

TEST(Nearest, IsTheFirstOfThoseThatAreEquallyNear) {
  EXPECT_EQ(nearest("commnd", kWords), "command");
  EXPECT_EQ(nearest("commmnd", kWords), "command");
}

TEST(Nearest, IsOfferedAsAQuestion) {
  EXPECT_EQ(did_you_mean("comand", kWords), "; did you mean \"command\"?");
}

TEST(Nearest, OfAWordThatSeveralBeginWithIsEachOfThem) {
  const std::vector<std::string> nets = {"lenet", "resnet_20", "resnet_50"};
  EXPECT_EQ(did_you_mean("resnet", nets), "; did you mean \"resnet_20\" or \"resnet_50\"?");
  EXPECT_EQ(did_you_mean("resnet50", nets), "; did you mean \"resnet_50\"?");
  EXPECT_EQ(did_you_mean("", nets), "");
}

TEST(Nearest, IsNothingWhereNoWordIsNear) {
  EXPECT_EQ(nearest("zebra", kWords), std::nullopt);
  EXPECT_EQ(did_you_mean("zebra", kWords), "");
}

TEST(Nearest, OfAFewNamesThemWhereNoneIsNear) {
  EXPECT_EQ(did_you_mean_of("bee", std::vector<std::string>{"be"}), "; did you mean \"be\"?");
  EXPECT_EQ(did_you_mean_of("zebra", std::vector<std::string>{"a"}), "; there is only a");
  EXPECT_EQ(did_you_mean_of("zebra", std::vector<std::string>{"a", "b"}), "; there are a, b");
  EXPECT_EQ(did_you_mean_of("zebra", {}), "");
}

}  // namespace
}  // namespace sterna::launcher
