#include "launcher/page/log_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

class LogFolderTest : public testing::Test {
 protected:
  void add(const std::string& name, const std::string& text) const {
    std::ofstream(folder / name, std::ios::app) << text;
  }
  /// Twice as long as what is read of a log that was there before, in lines of this many bytes.
  static constexpr std::size_t kLine = 64;
  static constexpr std::size_t kLines = 2 * LogFolder::kBytesBefore / kLine;
  void add_long(const std::string& name) const {
    for (std::size_t i = 0; i < kLines; ++i) add(name, std::string(kLine - 1, 'x') + "\n");
  }
  static Time at(int seconds) { return Time{} + std::chrono::seconds(seconds); }
  TemporaryFolder folder;
  LogFolder logs{folder.path()};
};

TEST_F(LogFolderTest, GivesTheLinesOfEachLogWithItsActor) {
  add("a.log", "one\n");
  add("b.log", "two\nthr");
  add("b.trace", "no log\n");
  EXPECT_THAT(logs.lines(at(0)), ElementsAre(Pair("a", "one"), Pair("b", "two")));
  add("b.log", "ee\n");
  EXPECT_THAT(logs.lines(at(0)), ElementsAre(Pair("b", "three")));
}

TEST_F(LogFolderTest, OfALogThatWasThereBeforeOnlyTheEndIsGiven) {
  add_long("a.log");
  EXPECT_THAT(logs.lines(at(0)), SizeIs(kLines / 2 - 1));
}

TEST_F(LogFolderTest, OfALogThatCameSinceAllIsGiven) {
  EXPECT_THAT(logs.lines(at(0)), IsEmpty());
  add_long("a.log");
  EXPECT_THAT(logs.lines(at(1)), IsEmpty());
  EXPECT_THAT(logs.lines(at(2)), SizeIs(kLines));
}

}  // namespace
}  // namespace sterna::launcher
