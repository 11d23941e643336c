#include "launcher/page/page_shelf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sterna::launcher {
namespace {

constexpr Duration kFresh = std::chrono::seconds(2);
Time at(int seconds) { return Time{} + std::chrono::seconds(seconds); }

TEST(PageShelf, MakesWhatIsAskedForAndNothingElse) {
  PageShelf shelf;
  int made = 0;
  const auto make = [&](const std::string& name) { return name + std::to_string(++made); };
  shelf.make_wanted(at(0), kFresh, make);
  EXPECT_EQ(made, 0);
  EXPECT_EQ(shelf.get("runs", at(0)), std::nullopt);
  shelf.make_wanted(at(0), kFresh, make);
  EXPECT_EQ(shelf.get("runs", at(0)), "runs1");
}

TEST(PageShelf, MakesItAgainOnlyWhereItIsAskedForAndOld) {
  PageShelf shelf;
  int made = 0;
  const auto make = [&](const std::string&) { return std::to_string(++made); };
  shelf.get("a", at(0));
  shelf.make_wanted(at(0), kFresh, make);
  shelf.make_wanted(at(9), kFresh, make);
  EXPECT_EQ(made, 1) << "nobody asked again";
  shelf.get("a", at(10));
  shelf.make_wanted(at(10), kFresh, make);
  shelf.get("a", at(11));
  shelf.make_wanted(at(11), kFresh, make);
  EXPECT_EQ(made, 2) << "what was made at 10 s is fresh at 11 s";
  shelf.make_wanted(at(12), kFresh, make);
  EXPECT_EQ(made, 3);
}

TEST(PageShelf, ForgetsWhatWasAskedForLongestAgo) {
  PageShelf shelf;
  const auto make = [](const std::string& name) { return name; };
  for (int i = 0; i <= static_cast<int>(PageShelf::kMost); ++i) {
    shelf.get(std::to_string(i), at(i));
    shelf.make_wanted(at(i), kFresh, make);
  }
  EXPECT_EQ(shelf.get("1", at(99)), "1");
  EXPECT_EQ(shelf.get("0", at(99)), std::nullopt);
}

}  // namespace
}  // namespace sterna::launcher
