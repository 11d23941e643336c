// What the keys of [gradient] say together, and each mistake's line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster_file_fixture.h"

namespace sterna::launcher {
namespace {

using testing::HasSubstr;

TEST_F(ClusterFileTest, AveragesDownNeedTritsAndOneScaler) {
  EXPECT_EQ(
      error_of_more("[gradient]\ndown = \"average\"\n"),
      "x.toml:14: \"gradient.down\" = \"average\" sends sums of trits: \"gradient.scaler\" must "
      "be \"shared\", \"last_step\" or \"mean\"");
  EXPECT_EQ(
      error_of_more("[gradient]\nscaler = \"shared\"\ncodec = \"none\"\ndown = \"average\"\n"),
      "x.toml:16: \"gradient.down\" = \"average\" sends sums of trits: \"gradient.codec\" must be "
      "\"ternary\" or \"ternary_entropy\"");
}

TEST_F(ClusterFileTest, TernarizedAveragesDownNeedTrits) {
  const std::string down = "[gradient]\ndown = \"ternary\"\n";
  for (const char* codec : {"none", "bf16"}) {
    EXPECT_EQ(error_of_more(down + "codec = \"" + codec + "\"\n"),
              "x.toml:14: \"gradient.down\" = \"ternary\" is of tensors that come up as trits: "
              "\"gradient.codec\" must be \"ternary\" or \"ternary_entropy\", or \"gradient.down\" "
              "\"parameters\"")
        << codec;
  }
  EXPECT_TRUE(read(std::string(smallest) + down).ok());
  EXPECT_TRUE(read(std::string(smallest) + down +
                   "codec = \"none\"\n[gradient.tensors]\n\"fc3/weights\" = \"ternary\"\n")
                  .ok());
}

TEST_F(ClusterFileTest, KeysOfACodecNeedIt) {
  EXPECT_EQ(
      error_of_more("[gradient]\nbits = 4\n"),
      "x.toml:14: \"gradient.bits\" is for the codec \"rowwise\", which no tensor has; remove "
      "it");
  EXPECT_EQ(error_of_more("[gradient]\ncodec = \"rowwise\"\nbits = 3\n"),
            "x.toml:15: \"gradient.bits\" must be 1, 2, 4 or 8, not 3");
  EXPECT_EQ(
      error_of_more("[gradient]\ndensity = 0.5\n"),
      "x.toml:14: \"gradient.density\" is for the codec \"topk\", which no tensor has; remove "
      "it");
  const std::string biased =
      "x.toml:14: the codecs \"sign\" and \"topk\" are wrong on average: they need "
      "\"gradient.error_feedback\" = true, or \"sign\" a vote (\"scheme.combine\")";
  for (const char* codec : {"sign", "topk"}) {
    const std::string chosen = "[gradient]\ncodec = \"" + std::string(codec) + "\"\n";
    EXPECT_EQ(error_of_more(chosen), biased);
    EXPECT_TRUE(read(std::string(smallest) + chosen + "error_feedback = true\n").ok());
  }
  EXPECT_TRUE(read(std::string(smallest) +
                   "[gradient]\nbits = 4\n[gradient.tensors]\n\"fc3/weights\" = \"rowwise\"\n")
                  .ok());
  EXPECT_EQ(
      error_of_more("[gradient]\ndown_feedback = false\n"),
      "x.toml:14: \"gradient.down_feedback\" is for \"gradient.down\" = \"ternary\"; remove it");
  EXPECT_EQ(
      error_of_more("[gradient]\nresiduals = \"zero\"\n"),
      "x.toml:14: \"gradient.residuals\" is for \"gradient.error_feedback\" = true; remove it");
  EXPECT_TRUE(
      read(std::string(smallest) + "[gradient]\nresiduals = \"zero\"\nerror_feedback = true\n")
          .ok());
  EXPECT_TRUE(read(std::string(smallest) +
                   "[gradient]\ndown = \"ternary\"\ndown_feedback = false\nclip = 0\n")
                  .ok());
}

TEST_F(ClusterFileTest, CodecsOfTensorsNeedBothToExist) {
  const std::string lenet = "[gradient.tensors]\n";
  EXPECT_EQ(error_of_more(lenet + "\"fc3/weihgts\" = \"none\"\n"),
            "x.toml:13: \"gradient.tensors\": lenet has no tensor \"fc3/weihgts\"; did you mean "
            "\"fc3/weights\"?");
  EXPECT_EQ(error_of_more(lenet + "\"fc3/weights\" = \"bf61\"\n"),
            "x.toml:13: \"gradient.tensors\": there is no codec \"bf61\"; did you mean \"bf16\"?");
}

TEST_F(ClusterFileTest, AutoChoosesAmongCodecsThatLeaveItAChoice) {
  EXPECT_THAT(error_of_more("[gradient]\ncodec = \"auto\"\nallow = [\"none\", \"bf61\"]\n"),
              testing::HasSubstr("\"gradient.allow\": there is no codec \"bf61\"; did you mean"));
  EXPECT_THAT(error_of_more("[gradient]\ncodec = \"auto\"\nallow = [\"ternary\"]\n"),
              testing::HasSubstr("\"none\" must be among them"));
  EXPECT_THAT(error_of_more("[gradient]\ncodec = \"auto\"\nscaler = \"shared\"\n"
                            "down = \"average\"\nallow = [\"none\", \"bf16\"]\n"),
              testing::HasSubstr("it needs \"ternary\" or \"ternary_entropy\""));
  EXPECT_THAT(error_of_more("[gradient]\ncodec = \"auto\"\ndown = \"average\"\n"),
              testing::HasSubstr("\"gradient.scaler\" must be"));
}

}  // namespace
}  // namespace sterna::launcher
