#include "runtime/cluster/children.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>

#include "runtime/cluster/process_control.h"
#include "runtime/sim/sim_loop.h"

namespace sterna {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;

/// Children that do what the test says.
class FakeSpawner final : public Spawner {
 public:
  Result<std::int64_t> spawn(const Bootstrap&, Callbacks callbacks) override {
    if (refuses) return Error{Errc::io, "no more processes"};
    running[next] = std::move(callbacks);
    return next++;
  }
  void kill(std::int64_t pid) override { killed.push_back(pid); }
  void freeze(std::int64_t pid) override { frozen.push_back(pid); }
  void thaw(std::int64_t pid) override { std::erase(frozen, pid); }
  std::uint64_t resident_bytes(std::int64_t) const override { return 0; }
  void exit(std::int64_t pid, const ProcessExit& how) {
    const auto callbacks = std::move(running[pid]);
    running.erase(pid);
    callbacks.on_exit(how);
  }

  bool refuses = false;
  std::int64_t next = 100;
  std::map<std::int64_t, Callbacks> running;
  std::vector<std::int64_t> killed;
  std::vector<std::int64_t> frozen;
};

class ChildrenTest : public testing::Test, private Loop::Source {
 protected:
  ChildrenTest() {
    loop.add(*this);
    Bootstrap b;
    b.process = kChild;
    b.identity = {"worker-0", 2};
    EXPECT_EQ(*children.spawn(b), 100);
  }
  ~ChildrenTest() override { loop.remove(*this); }
  void turn() override { timers.fire(loop.now(), 10); }
  bool ready() override { return timers.next() <= loop.now(); }
  Time next_deadline() override { return timers.next(); }
  void pass(Duration time) {
    loop.run_until([] { return false; }, loop.now() + time);
  }

  static constexpr ProcessId kChild{5};
  SimLoop loop;
  Timers timers;
  FakeSpawner spawner;
  std::vector<ProcessDown> ends;
  Children children{spawner, loop, timers,
                    [this](const ProcessDown& down) { ends.push_back(down); }};
};

TEST_F(ChildrenTest, AnExitSaysWhoAndHow) {
  spawner.exit(100, {-1, SIGSEGV, false});
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].identity.text(), "worker-0#2");
  EXPECT_EQ(ends[0].cause, "killed by SIGSEGV");
  EXPECT_EQ(ends[0].signal, SIGSEGV);
  EXPECT_FALSE(ends[0].wanted);
  EXPECT_TRUE(children.empty());
}

TEST_F(ChildrenTest, AKillThatMayBeForWantOfMemorySaysSo) {
  spawner.exit(100, {-1, SIGKILL, true});
  EXPECT_EQ(ends[0].cause, "killed by SIGKILL (likely out of memory)");
}

TEST_F(ChildrenTest, LastWordsAreTheCause) {
  children.leaving(kChild, {"the loss is not finite", false});
  spawner.exit(100, {1, 0, false});
  EXPECT_EQ(ends[0].cause, "the loss is not finite");
  EXPECT_EQ(ends[0].exit_code, 1);
  EXPECT_FALSE(ends[0].wanted);
}

TEST_F(ChildrenTest, WhoHadLostAnotherAndThenFailsIsAConsequence) {
  children.leaving(kChild, {"no parameters from server0", true});
  spawner.exit(100, {1, 0, false});
  EXPECT_TRUE(ends[0].consequence);
  EXPECT_FALSE(ends[0].wanted);
}

TEST_F(ChildrenTest, OneThatNoSignalEndsIsToldOfAsDeadOnceAndIsThereUntilItsExit) {
  children.condemn(kChild, "silence");
  pass(milliseconds(4900));
  EXPECT_TRUE(ends.empty());
  pass(milliseconds(200));
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].identity.text(), "worker-0#2");
  EXPECT_EQ(ends[0].cause, "silence, and SIGKILL has not ended it");
  EXPECT_FALSE(ends[0].wanted);
  EXPECT_EQ(children.size(), 1U);
  spawner.exit(100, {-1, SIGKILL, false});
  EXPECT_EQ(ends.size(), 1u);
  EXPECT_TRUE(children.empty());
}

TEST_F(ChildrenTest, AFarewellWithoutComplaintIsNoFailure) {
  children.leaving(kChild, {});
  spawner.exit(100, {0, 0, false});
  EXPECT_TRUE(ends[0].wanted);
}

TEST_F(ChildrenTest, AnExitWithoutFarewellIsAFailureEvenWithCodeZero) {
  spawner.exit(100, {0, 0, false});
  EXPECT_FALSE(ends[0].wanted);
  EXPECT_EQ(ends[0].cause, "exited with code 0");
}

TEST_F(ChildrenTest, TheExitThatFollowsALostLinkSaysMoreThanTheLink) {
  children.suspect(kChild, "link lost");
  pass(milliseconds(500));
  EXPECT_TRUE(spawner.killed.empty());
  spawner.exit(100, {-1, SIGBUS, false});
  EXPECT_EQ(ends[0].cause, "killed by SIGBUS");
}

TEST_F(ChildrenTest, ALostLinkWithoutExitIsTheCauseAfterASecond) {
  children.suspect(kChild, "link lost");
  pass(milliseconds(1500));
  EXPECT_THAT(spawner.killed, ElementsAre(100));
  spawner.exit(100, {-1, SIGKILL, false});
  EXPECT_EQ(ends[0].cause, "link lost");
}

TEST_F(ChildrenTest, AVerdictIsTheCauseWhateverTheExitSays) {
  children.condemn(kChild, "silence");
  children.condemn(kChild, "and something later");
  spawner.exit(100, {-1, SIGKILL, false});
  EXPECT_EQ(ends[0].cause, "silence");
  EXPECT_FALSE(ends[0].wanted);
}

TEST_F(ChildrenTest, AnEndThatWasAskedForIsNoFailure) {
  children.want_end(kChild);
  spawner.exit(100, {-1, SIGKILL, false});
  EXPECT_TRUE(ends[0].wanted);
}

TEST_F(ChildrenTest, ADeathQuotesTheLastLinesOfTheLog) {
  Bootstrap b;
  b.process = {6};
  b.identity = {"logger", 1};
  b.log_directory = testing::TempDir();
  {
    std::ofstream log(b.log_file());
    log << "one\ntwo\n\nthree\nfour\n";
  }
  const std::int64_t pid = *children.spawn(b);
  spawner.exit(pid, {4, 0, false});
  EXPECT_THAT(ends[0].last_lines, ElementsAre("two", "three", "four"));
  EXPECT_EQ(ends[0].full_cause(), "exited with code 4; it logged last: two | three | four");
}

TEST_F(ChildrenTest, WhoEndsForWantOfWhatIsAboveHasLostTheLink) {
  Bootstrap b;
  b.process = {6};
  b.identity = {"worker0", 1};
  spawner.exit(*children.spawn(b), {kExitLostLease, 0, false});
  b.process = {7};
  const std::int64_t pid = *children.spawn(b);
  children.suspect({7}, "link lost: cut");
  spawner.exit(pid, {kExitLostLease, 0, false});
  b.process = {8};
  b.kind = ProcessKind::NODE;
  spawner.exit(*children.spawn(b), {kExitLostLease, 0, false});
  ASSERT_EQ(ends.size(), 3U);
  EXPECT_EQ(ends[0].cause, "it lost the link to its node");
  EXPECT_EQ(ends[1].cause, "link lost: cut");
  EXPECT_EQ(ends[2].cause, "it lost the link to the coordinator");
}

TEST_F(ChildrenTest, WhoEndsByItselfWithACodeOfItsOwnHasLostNothing) {
  const std::vector<int> codes = {2, 3, 4, 66, 75, 77, 78, 99, 126, 127, 255};
  for (const int code : codes) {
    ends.clear();
    Bootstrap b;
    b.process = {6};
    b.identity = {"worker0", 1};
    spawner.exit(*children.spawn(b), {code, 0, false});
    ASSERT_EQ(ends.size(), 1U);
    EXPECT_EQ(ends[0].cause, "exited with code " + std::to_string(code));
    EXPECT_FALSE(is_loss(ends[0])) << code;
  }
}

TEST_F(ChildrenTest, AProcessThatCannotBeStartedIsAnError) {
  spawner.refuses = true;
  Bootstrap b;
  b.process = {6};
  EXPECT_FALSE(children.spawn(b).ok());
  EXPECT_EQ(children.size(), 1u);
}

TEST_F(ChildrenTest, TheirEndKillsThem) {
  {
    Children brief(spawner, loop, timers, [](const ProcessDown&) { FAIL(); });
    Bootstrap b;
    b.process = {8};
    ASSERT_TRUE(brief.spawn(b).ok());
  }
  EXPECT_THAT(spawner.killed, ElementsAre(101));
  spawner.exit(101, {-1, SIGKILL, false});  // nobody is told
}

TEST_F(ChildrenTest, OneIsStoppedAndGoesOn) {
  children.freeze(kChild);
  children.freeze({77});
  EXPECT_THAT(spawner.frozen, ElementsAre(100));
  children.thaw(kChild);
  EXPECT_TRUE(spawner.frozen.empty());
  EXPECT_TRUE(spawner.killed.empty());
}

}  // namespace
}  // namespace sterna
