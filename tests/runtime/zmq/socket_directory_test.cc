#include "runtime/zmq/socket_directory.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "tests/runtime/zmq/temporary_tmpdir.h"

namespace sterna {
namespace {

using SocketDirectory = TemporaryTmpdir;

TEST_F(SocketDirectory, IsNewEachTimeOursAloneAndNamedAsSuch) {
  const Result<std::string> one = make_socket_directory("label-");
  const Result<std::string> two = make_socket_directory("label-");
  ASSERT_TRUE(one && two);
  EXPECT_NE(*one, *two);
  EXPECT_EQ(one->find(folder.path() + "/sterna-label-"), 0U) << *one;
  EXPECT_EQ(std::filesystem::status(*one).permissions(), std::filesystem::perms::owner_all);
}

TEST_F(SocketDirectory, LiesInTmpWhereTmpdirIsLongOrNotSet) {
  ::setenv("TMPDIR", std::string(100, 'd').c_str(), 1);
  EXPECT_EQ(socket_directory_base(), "/tmp");
  ::unsetenv("TMPDIR");
  EXPECT_EQ(socket_directory_base(), "/tmp");
}

TEST_F(SocketDirectory, ThatCannotBeMadeIsAnErrorThatSaysWhere) {
  ::setenv("TMPDIR", "/nowhere", 1);
  const Result<std::string> made = make_socket_directory("");
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("/nowhere/sterna-"), std::string::npos);
}

}  // namespace
}  // namespace sterna
