#include "runtime/base/log_tail.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/temporary_folder.h"

namespace sterna {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class LogTail : public testing::Test {
 protected:
  std::vector<std::string> tail(const std::string& log, std::size_t lines) {
    const std::string path = (folder / "a.log").string();
    std::ofstream(path, std::ios::binary) << log;
    return log_tail(path, lines);
  }
  TemporaryFolder folder;
};

TEST_F(LogTail, AreTheLastLinesThatSaySomething) {
  EXPECT_THAT(tail("one\ntwo\n\nthree\n", 2), ElementsAre("two", "three"));
  EXPECT_THAT(tail("one", 2), ElementsAre("one"));
  EXPECT_THAT(tail("", 2), IsEmpty());
}

TEST_F(LogTail, OfACrashAreWhatWasSaidBeforeAndWhatItWas) {
  std::string log = "one\ntwo [0x12]\n";
  for (int i = 0; i < 64; ++i) log += "libc.so.6(gsignal+0x12)[0x7f3a2b1c0e5b]\n";
  log +=
      "words(+0x2fbe1)[0x55d0c7b1fbe1]\n[0x55d0c7b1fbe1]\ncrashed: SIGABRT in thread \"words\"\n";
  EXPECT_THAT(tail(log, 3),
              ElementsAre("one", "two [0x12]", "crashed: SIGABRT in thread \"words\""));
}

TEST_F(LogTail, OfAnEndlessLineAreItsBeginningAsFarAsItIsSeen) {
  const std::vector<std::string> lines = tail(std::string(100000, 'x') + "\nlast\n", 2);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], std::string(300, 'x'));
  EXPECT_EQ(lines[1], "last");
}

TEST_F(LogTail, OfNoFileAreNone) {
  EXPECT_THAT(log_tail("", 3), IsEmpty());
  EXPECT_THAT(log_tail("/nowhere/a.log", 3), IsEmpty());
}

}  // namespace
}  // namespace sterna
