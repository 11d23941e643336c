#include "actors/register_actors.h"

#include <gtest/gtest.h>

namespace sterna::actors {
namespace {

TEST(RegisterActors, MakesEveryRoleOfAJobAType) {
  Registry registry;
  register_actors(registry);
  for (const char* role : {"parameter_server", "worker", "input_reader", "evaluator"}) {
    EXPECT_TRUE(registry.knows(role)) << role;
  }
}

TEST(RegisterActors, MixesTheirMessagesIntoTheHashThatPeersCompare) {
  const Registry none;
  Registry all;
  register_actors(all);
  EXPECT_NE(all.schema_hash(), none.schema_hash());
}

}  // namespace
}  // namespace sterna::actors
