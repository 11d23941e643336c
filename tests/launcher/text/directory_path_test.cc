#include "launcher/text/directory_path.h"

#include <gtest/gtest.h>

namespace sterna::launcher {
namespace {

TEST(DirectoryPath, IsTheSameHoweverTheDirectoryIsNamed) {
  const std::string here = std::filesystem::current_path().string();
  for (const char* word : {"runs/mine", "runs/mine/", "runs/mine//", "./runs/mine", "runs/mine/.",
                           "runs/../runs/mine/"}) {
    EXPECT_EQ(absolute_directory(word), here + "/runs/mine") << word;
    EXPECT_EQ(directory_name(word), "mine") << word;
  }
  EXPECT_EQ(absolute_directory("."), here);
  EXPECT_EQ(absolute_directory("/a/b/.."), "/a");
}

TEST(DirectoryPath, OfTheRootHasNoName) {
  EXPECT_EQ(absolute_directory("/"), "/");
  EXPECT_EQ(directory_name("/"), "");
}

TEST(DirectoryPath, IsAsItWasGivenButForItsLastSlashes) {
  EXPECT_EQ(without_last_slashes("./runs/mine//"), "./runs/mine");
  EXPECT_EQ(without_last_slashes("/"), "/");
  EXPECT_EQ(without_last_slashes(""), "");
}

}  // namespace
}  // namespace sterna::launcher
