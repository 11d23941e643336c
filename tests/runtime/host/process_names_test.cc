#include "runtime/host/process_names.h"

#include <gtest/gtest.h>

namespace sterna {
namespace {

TEST(ProcessNames, AChildReadsBackWhatItsParentWrote) {
  const std::vector<std::string> arguments =
      child_arguments("/usr/bin/words", "worker-0", 0xfedcba9876543210ULL, 4711);
  EXPECT_EQ(arguments[0], "words");
  const auto child = parse_child_arguments(arguments);
  ASSERT_TRUE(child.has_value());
  EXPECT_EQ(child->name, "worker-0");
  EXPECT_EQ(child->run, 0xfedcba9876543210ULL);
  EXPECT_EQ(child->parent, 4711);
}

TEST(ProcessNames, AnythingElseIsAUsersCommand) {
  EXPECT_FALSE(parse_child_arguments({}));
  EXPECT_FALSE(parse_child_arguments({"sterna", "run", "file.toml", "--set", "a=b"}));
  EXPECT_FALSE(parse_child_arguments({"sterna", "__process", "a", "xyz", "1"}));
  EXPECT_FALSE(parse_child_arguments({"sterna", "__process", "a", "ff", "1 "}));
}

TEST(ProcessNames, ARunThatNeverWasHasNoProcesses) {
  EXPECT_TRUE(processes_of_run(0x123456789abcdefULL).empty());
}

}  // namespace
}  // namespace sterna
