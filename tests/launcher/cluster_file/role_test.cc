#include "launcher/cluster_file/role.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "actors/register_actors.h"
#include "launcher/cluster_file/cluster_file.h"

namespace sterna::launcher {
namespace {

TEST(Roles, LieInTheTableAtTheirOwnNumber) {
  for (const RoleFacts& facts : roles()) {
    EXPECT_EQ(facts_of(facts.role).name, facts.name);
    EXPECT_EQ(role_named(facts.name), facts.role);
  }
  EXPECT_EQ(role_named("wroker"), Role::kNone);
}

TEST(Roles, AreCalledAsTheActorTypesThatPlayThem) {
  Registry registry;
  actors::register_actors(registry);
  for (const std::string_view name : role_names()) {
    EXPECT_TRUE(registry.knows(std::string(name))) << name;
  }
  EXPECT_EQ(role_names().size() + 1, roles().size());
}

TEST(Roles, ThatReadDataWantItOnTheirHosts) {
  ClusterFile file;
  file.hosts = {HostSection{"a", "127.0.0.1"}, HostSection{"b", "127.0.0.2"}};
  file.actors = {{"worker0", Role::kWorker, "a", 1, 0}, {"reader0", Role::kInputReader, "b", 0, 0}};
  EXPECT_FALSE(reads_data(file, file.hosts[0]));
  EXPECT_TRUE(reads_data(file, file.hosts[1]));
  EXPECT_THAT(file.names_of(Role::kInputReader), testing::ElementsAre("reader0"));
}

}  // namespace
}  // namespace sterna::launcher
