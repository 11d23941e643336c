#include "launcher/text/shell_word.h"

#include <gtest/gtest.h>

namespace sterna::launcher {
namespace {

TEST(ShellWord, IsAsItIsWhereAShellTakesItSo) {
  for (const char* word : {"run", "/a/b-c_1.toml", "checkpoint.resume=true", "a@b:c,d+e%"}) {
    EXPECT_EQ(shell_word(word), word);
  }
}

TEST(ShellWord, IsQuotedElse) {
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("$HOME"), "'$HOME'");
  EXPECT_EQ(shell_word("o'hara"), R"('o'\''hara')");
  EXPECT_EQ(shell_word("~/x"), "'~/x'");
  EXPECT_EQ(quoted_for_shell("a"), "'a'");
}

}  // namespace
}  // namespace sterna::launcher
