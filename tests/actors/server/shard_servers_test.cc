// Of two servers the one that is asked, and when asking the other is of use.
#include "actors/server/shard_servers.h"

#include <gtest/gtest.h>

namespace sterna::actors {
namespace {

const Error kLost{Errc::actor_down, "lost"};
const Error kHasItNot{Errc::not_found, "has it not"};

TEST(ShardServersFailures, TheOtherIsAskedOnceWhereOneIsLostOrHasItNot) {
  for (const Error& error : {kLost, kHasItNot}) {
    ShardServers::Failures failures;
    EXPECT_FALSE(failures.are_all(0, error, false));
    EXPECT_TRUE(failures.are_all(1, kHasItNot, true));
  }
}

TEST(ShardServersFailures, WhatIsWrongWithTheQuestionIsSoWhoeverIsAsked) {
  ShardServers::Failures failures;
  EXPECT_TRUE(failures.are_all(0, {Errc::invalid_argument, "no such chunk"}, false));
}

TEST(ShardServersFailures, WhoHadItNotMayHaveItOnceTheOtherIsLost) {
  ShardServers::Failures failures;
  EXPECT_FALSE(failures.are_all(0, kHasItNot, false));
  EXPECT_FALSE(failures.are_all(1, kLost, false));
  EXPECT_TRUE(failures.are_all(0, kHasItNot, true));
}

TEST(ShardServersFailures, WhoWasLostMayBeThereAgain) {
  ShardServers::Failures gone;
  EXPECT_FALSE(gone.are_all(0, kLost, false));
  EXPECT_TRUE(gone.are_all(1, kLost, true));
  ShardServers::Failures again;
  EXPECT_FALSE(again.are_all(0, kLost, false));
  EXPECT_FALSE(again.are_all(1, kLost, false));
  EXPECT_TRUE(again.are_all(0, kHasItNot, true));
}

}  // namespace
}  // namespace sterna::actors
