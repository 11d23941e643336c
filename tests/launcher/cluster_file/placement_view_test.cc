#include "launcher/cluster_file/placement_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cluster_file_fixture.h"

namespace sterna::launcher {
namespace {

using testing::ElementsAre;
using Json = nlohmann::json;

class PlacementViewTest : public ClusterFileTest {
 protected:
  ClusterFile file(const std::string& text) {
    Result<ClusterFile> file = read(text);
    EXPECT_TRUE(file.ok()) << file.error().message;
    return file.ok() ? *file : ClusterFile{};
  }
};

TEST_F(PlacementViewTest, SummarizesWhatTrains) {
  EXPECT_EQ(summary(file(smallest)),
            "1 parameter server, 1 worker with 1 rank, 1 input reader, 1 evaluator; 200 steps of "
            "lenet");
}

TEST_F(PlacementViewTest, SaysThatServersHaveReplicas) {
  std::string text = smallest;
  const std::string role = "role = \"parameter_server\"\n";
  ASSERT_NE(text.find(role), text.npos);
  text.insert(text.find(role) + role.size(), "replicas = 1\n");
  EXPECT_THAT(summary(file(text)), testing::StartsWith("1 parameter server with a replica, 1 w"));
  const std::string two = text.replace(text.find(role), 0, "count = 2\n");
  EXPECT_THAT(summary(file(two)), testing::StartsWith("2 parameter servers with a replica each, "));
}

TEST_F(PlacementViewTest, SummarizesWhatIsOfAProgramsOwnTypes) {
  EXPECT_EQ(summary(file("format = 1\n[program]\npath = \"/bin/greeter\"\n"
                         "[[actor]]\ntype = \"counter\"\ncount = 2\n[[actor]]\ntype = \"echo\"\n")),
            "3 actors of /bin/greeter: 2 counter, 1 echo");
}

TEST_F(PlacementViewTest, SaysThatSlurmsHostsComeLater) {
  const ClusterFile later =
      file(std::string(smallest) + "[cluster]\nplacer = \"slurm\"\nnodes = 2\n");
  ASSERT_FALSE(later.placed());
  EXPECT_THAT(
      placement_lines(later),
      ElementsAre("The hosts come with Slurm's allocation, and the placement with them; the "
                  "actors ask for nothing in particular."));
  const Json json = Json::parse(placement_json(later));
  EXPECT_EQ(json["placed"], false);
  EXPECT_EQ(json["actors"].size(), 4U);
  EXPECT_TRUE(json["hosts"].empty());
}

TEST_F(PlacementViewTest, CountsTheProcessesOfTheHeadWithTheRunsOwn) {
  const std::vector<HostUse> uses = host_uses(file(smallest));
  ASSERT_EQ(uses.size(), 1U);
  EXPECT_TRUE(uses[0].head);
  EXPECT_EQ(uses[0].actors.size(), 4U);
  EXPECT_EQ(uses[0].processes, 7);
}

TEST_F(PlacementViewTest, IsOneLineOfJsonWithAllOfEachActor) {
  const std::string text = placement_json(file(smallest));
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const Json json = Json::parse(text);
  EXPECT_EQ(json["format"], 1);
  EXPECT_EQ(json["placed"], true);
  const Json& actors = json["hosts"][0]["actors"];
  ASSERT_EQ(actors.size(), 4U);
  EXPECT_EQ(actors[1]["name"], "worker0");
  EXPECT_EQ(actors[1]["role"], "worker");
  EXPECT_EQ(actors[1]["ranks"], 1);
  EXPECT_FALSE(actors[0].contains("ranks"));
}

}  // namespace
}  // namespace sterna::launcher
