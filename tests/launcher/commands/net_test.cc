// sterna net list and show.
#include <nlohmann/json.hpp>

#include "tests/launcher/commands/command_fixture.h"

namespace sterna::launcher {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

using NetCommand = CommandTest;

TEST_F(NetCommand, ListsEachNetWithItsParameters) {
  const Said said = sterna({"net", "list"});
  EXPECT_EQ(said.exit, 0);
  EXPECT_THAT(said.out, HasSubstr("1,068,298"));
  EXPECT_THAT(said.out, HasSubstr("25,557,032"));
  const Json json = Json::parse(sterna({"net", "list", "--json"}).out);
  EXPECT_EQ(json["nets"][0]["name"], "lenet");
  EXPECT_EQ(json["nets"][0]["parameters"], 1256080);
}

TEST_F(NetCommand, ShowsWhatOneIsMadeOf) {
  const Said said = sterna({"net", "show", "resnet_20", "--classes", "100", "--batch", "32"});
  EXPECT_EQ(said.exit, 0);
  EXPECT_THAT(said.out, HasSubstr("resnet_20 for images of 32 x 32 x 3 and 100 classes"));
  EXPECT_THAT(said.out, HasSubstr("block1_1/conv1/weights"));
  EXPECT_THAT(said.out, HasSubstr("statistic"));
}

TEST_F(NetCommand, RefusesInALineWhatThereIsNot) {
  const Said unknown = sterna({"net", "show", "resnet"});
  EXPECT_EQ(unknown.exit, 2);
  EXPECT_THAT(unknown.err, HasSubstr("no net is called \"resnet\"; there are: lenet, mlp,"));
  const Said small = sterna({"net", "show", "inception_v3", "--size", "64"});
  EXPECT_EQ(small.exit, 2);
  EXPECT_THAT(small.err, HasSubstr("inception_v3 takes none that is smaller than 107 x 107"));
}

}  // namespace
}  // namespace sterna::launcher
