// What the owner of a run keeps for its coordinators.
#include "runtime/cluster/succession.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/sim/sim_world.h"

namespace sterna::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;

class SuccessionTest : public testing::Test {
 protected:
  static Note note(std::uint64_t number, std::vector<std::pair<std::string, std::string>> entries) {
    Note note;
    note.number = number;
    for (const auto& [key, value] : entries) {
      note.entries.push_back({key, value.empty() ? Bytes() : copy_bytes(value)});
    }
    return note;
  }
  Bootstrap next() {
    Bootstrap coordinator;
    coordinator.process = kCoordinatorProcess;
    EXPECT_TRUE(succession.equip(coordinator).ok());
    return coordinator;
  }
  /// "KEY=VALUE" of the journal that the next one is given.
  std::vector<std::string> journal() {
    std::vector<std::string> lines;
    for (const JournalPage& page : next().journal) {
      for (const JournalEntry& one : page.entries) {
        const ByteView value = one.value.view();
        lines.push_back(one.key + "=" +
                        std::string(reinterpret_cast<const char*>(value.data()), value.size()));
      }
    }
    return lines;
  }
  std::optional<Duration> lose(Time when, const std::string& cause = "killed") {
    ProcessDown down;
    down.cause = cause;
    const std::optional<Duration> pause = succession.pause_after(down, when);
    last_cause = down.cause;
    return pause;
  }

  Registry registry;
  SimWorld world{1, registry};
  Succession succession{world.launcher().keys(), {.times = 3}, seconds(8)};
  std::string last_cause;
};

TEST_F(SuccessionTest, EachOneHasTheKeyThatWasToldOfItBefore) {
  Bootstrap one = next();
  for (std::uint64_t incarnation = 2; incarnation < 12; ++incarnation) {
    ASSERT_GE(one.successors.size(), 2U);
    const Contact told = one.successors.front();
    one = next();
    EXPECT_EQ(one.identity.incarnation, incarnation);
    EXPECT_EQ(told.identity, one.identity);
    EXPECT_EQ(told.public_key, one.credentials.public_key);
    EXPECT_EQ(told.token_hash, world.launcher().keys().hash(one.credentials.token));
    EXPECT_EQ(told.process, kCoordinatorProcess.value);
  }
}

TEST_F(SuccessionTest, OfAKeyTheNewestIsKeptAndOneThatIsEmptyForgets) {
  succession.note(note(1, {{"a", "1"}, {"b", "1"}}));
  succession.note(note(2, {{"a", "2"}, {"c", "1"}}));
  succession.note(note(3, {{"b", ""}}));
  succession.note(note(1, {{"a", "late"}}));
  EXPECT_EQ(journal(), (std::vector<std::string>{"a=2", "c=1"}));
  // The next one counts from the beginning.
  succession.note(note(1, {{"a", "3"}}));
  EXPECT_EQ(journal(), (std::vector<std::string>{"a=3", "c=1"}));
}

TEST_F(SuccessionTest, ManyNotesAreManyPages) {
  for (std::uint64_t i = 1; i <= 5000; ++i) {
    succession.note(note(i, {{"key " + std::to_string(i), "1"}}));
  }
  EXPECT_EQ(next().journal.size(), 2U);
  EXPECT_EQ(journal().size(), 5000U);
}

TEST_F(SuccessionTest, PausesGrowButNeverTakeTheLease) {
  EXPECT_EQ(lose({}), milliseconds(200));
  EXPECT_EQ(lose({}), milliseconds(400));
  EXPECT_EQ(lose({}), milliseconds(800));
  Succession often(world.launcher().keys(), {.times = 100}, seconds(8));
  for (int i = 0; i < 50; ++i) {
    ProcessDown down;
    EXPECT_LE(*often.pause_after(down, {}), seconds(1));
  }
}

TEST_F(SuccessionTest, LostTooOftenTheCauseSaysSoAndTimeHeals) {
  EXPECT_TRUE(lose({}, "the first").has_value());
  EXPECT_TRUE(lose(Time{} + minutes(1)).has_value());
  EXPECT_TRUE(lose(Time{} + minutes(2)).has_value());
  EXPECT_FALSE(lose(Time{} + minutes(3)).has_value());
  EXPECT_THAT(last_cause,
              HasSubstr("killed (after 3 restarts of it within 10m; first lost: the first)"));
  EXPECT_TRUE(lose(Time{} + minutes(11)).has_value());
}

TEST_F(SuccessionTest, WhereNoneMayFollowNoneIsTold) {
  Succession never(world.launcher().keys(), {.times = 0}, seconds(8));
  Bootstrap coordinator;
  ASSERT_TRUE(never.equip(coordinator).ok());
  EXPECT_TRUE(coordinator.successors.empty());
  ProcessDown down;
  EXPECT_FALSE(never.pause_after(down, {}).has_value());
}

}  // namespace
}  // namespace sterna::test
