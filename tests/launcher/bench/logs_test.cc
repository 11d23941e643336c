#include "launcher/bench/logs.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace sterna::launcher {
namespace {

TEST(BenchLogs, AreKeptUntilTheyAreDiscarded) {
  const BenchLogs logs = BenchLogs::create().value();
  EXPECT_TRUE(std::filesystem::is_directory(logs.path()));
  EXPECT_EQ(logs.explain({Errc::io, "it failed"}).message, "it failed; logs are in " + logs.path());
  logs.discard();
  EXPECT_FALSE(std::filesystem::exists(logs.path()));
}

}  // namespace
}  // namespace sterna::launcher
