#include "launcher/owner/relay_placer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sterna::launcher {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Starts nothing, and keeps what it was asked for.
struct LocalSpawner final : Spawner {
  Result<std::int64_t> spawn(const Bootstrap& bootstrap, Callbacks) override {
    spawned.push_back(bootstrap.host);
    return 7;
  }
  void kill(std::int64_t pid) override { killed.push_back(pid); }
  std::uint64_t resident_bytes(std::int64_t) const override { return 100; }
  std::vector<std::string> spawned;
  std::vector<std::int64_t> killed;
};

Bootstrap bootstrap(ProcessKind kind, const std::string& host) {
  Bootstrap bootstrap;
  bootstrap.kind = kind;
  bootstrap.host = host;
  return bootstrap;
}

class RelayPlacerTest : public testing::Test {
 protected:
  /// A node on a host that only the launcher reaches.
  std::int64_t place_elsewhere() {
    Spawner::Callbacks callbacks;
    callbacks.on_exit = [this](const ProcessExit& exit) { exits_.push_back(exit.text()); };
    callbacks.on_release = [this] { ++released_; };
    return placer_.spawn(bootstrap(ProcessKind::NODE, "far"), callbacks).value();
  }
  LocalSpawner local_;
  std::vector<OwnerWord> said_;
  std::vector<std::string> exits_;
  int released_ = 0;
  int made_ = 0;
  RelayPlacer placer_{local_,
                      {"far"},
                      [this](const OwnerWord& word) { said_.push_back(word); },
                      [this]() -> Result<std::unique_ptr<Spawner>> {
                        if (++made_ == 1) return Error{Errc::unavailable, "no way there"};
                        return std::unique_ptr<Spawner>(std::make_unique<LocalSpawner>());
                      }};
};

TEST_F(RelayPlacerTest, HandsTheLauncherTheNodesOfHostsElsewhere) {
  const std::int64_t id = place_elsewhere();
  EXPECT_THAT(local_.spawned, IsEmpty());
  ASSERT_EQ(said_.size(), 1U);
  EXPECT_EQ(said_[0].kind, "place");
  EXPECT_EQ(said_[0].text, "far");
  EXPECT_EQ(said_[0].number, id);
  EXPECT_EQ(unpack<Bootstrap>(said_[0].data.view()).value().host, "far");
}

TEST_F(RelayPlacerTest, StartsWhatIsHereItself) {
  EXPECT_EQ(placer_.spawn(bootstrap(ProcessKind::NODE, "here"), {}).value(), 7);
  EXPECT_EQ(placer_.spawn(bootstrap(ProcessKind::ACTOR, "far"), {}).value(), 7);
  EXPECT_THAT(local_.spawned, ElementsAre("here", "far"));
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(RelayPlacerTest, GivesIdsThatAreNoPids) {
  const std::int64_t id = place_elsewhere();
  EXPECT_GT(id, std::int64_t{1} << 32);
  EXPECT_NE(place_elsewhere(), id);
}

TEST_F(RelayPlacerTest, HasTheLauncherWithdrawWhatItPlaced) {
  const std::int64_t id = place_elsewhere();
  placer_.kill(id);
  placer_.kill(7);
  EXPECT_EQ(said_.back().kind, "withdraw");
  EXPECT_EQ(said_.back().number, id);
  EXPECT_THAT(local_.killed, ElementsAre(7));
}

TEST_F(RelayPlacerTest, TellsOfAnEndOnceInTheLaunchersWords) {
  const std::int64_t id = place_elsewhere();
  placer_.ended(id, "far: no route to host");
  placer_.ended(id, "again");
  EXPECT_THAT(exits_, ElementsAre("far: no route to host"));
}

TEST_F(RelayPlacerTest, ReleasesItsNodesWhenTheLauncherLeaves) {
  const std::int64_t id = place_elsewhere();
  placer_.release_all();
  EXPECT_EQ(released_, 1);
  placer_.ended(id, "too late");
  EXPECT_THAT(exits_, IsEmpty());
}

TEST_F(RelayPlacerTest, ReachesHostsItselfOnceTheLauncherHasLeft) {
  placer_.release_all();
  const auto refused = placer_.spawn(bootstrap(ProcessKind::NODE, "far"), {});
  EXPECT_EQ(refused.error().message, "no way there");
  EXPECT_EQ(placer_.spawn(bootstrap(ProcessKind::NODE, "far"), {}).value(), 7) << "asked anew";
  EXPECT_EQ(placer_.spawn(bootstrap(ProcessKind::NODE, "far"), {}).value(), 7);
  EXPECT_EQ(made_, 2) << "once it is there, it stays";
  EXPECT_THAT(local_.spawned, IsEmpty());
  EXPECT_THAT(said_, IsEmpty());
}

}  // namespace
}  // namespace sterna::launcher
