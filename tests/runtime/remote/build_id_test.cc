#include "runtime/remote/build_id.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/temporary_folder.h"

namespace sterna {
namespace {

TEST(BuildIdTest, IsThatOfTheRunningProgram) {
  EXPECT_EQ(own_build_id().size(), 40U);
  const Result<std::string> same = build_id_of("/proc/self/exe");
  ASSERT_TRUE(same);
  EXPECT_EQ(*same, own_build_id());
}

TEST(BuildIdTest, WhatIsNoProgramHasNone) {
  EXPECT_EQ(build_id_of("/proc/self/environ").error().code, Errc::malformed);
  EXPECT_EQ(build_id_of("/nowhere").error().code, Errc::io);
}

TEST(BuildIdTest, OfAProgramThatIsCutShortIsNone) {
  std::ifstream self("/proc/self/exe", std::ios::binary);
  std::string beginning(100, '\0');
  self.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  const TemporaryFolder folder;
  for (const std::size_t size : {0U, 3U, 60U, 100U}) {
    std::ofstream(folder / "cut", std::ios::binary) << beginning.substr(0, size);
    EXPECT_EQ(build_id_of(folder / "cut").error().code, Errc::malformed) << size;
  }
}

}  // namespace
}  // namespace sterna
