// What is said of runs that are over, or not there: status, watch, list, logs, down.
#include "tests/launcher/commands/command_fixture.h"

namespace sterna::launcher {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

using StatusCommand = CommandTest;
using ListCommand = CommandTest;
using LogsCommand = CommandTest;
using DownCommand = CommandTest;

TEST_F(StatusCommand, SaysHowARunHasEndedAndExitsAsItDid) {
  ended("mnist-1", 3);
  const Said said = sterna({"status"});
  EXPECT_EQ(said.exit, 3);
  EXPECT_EQ(said.out, "");
  EXPECT_EQ(said.err, "mnist-1 has ended: it was mnist-1\n");
  EXPECT_EQ(sterna({"watch", "mnist-1"}).err, said.err);
}

TEST_F(StatusCommand, IsALineOfJsonWhereAProgramReads) {
  ended("mnist-1", 3);
  const Said said = sterna({"status", "--json"});
  EXPECT_EQ(said.exit, 0);
  EXPECT_THAT(said.out, StartsWith("{\"format\":1,\"id\":\"mnist-1\""));
  EXPECT_EQ(said.err, "");
}

TEST_F(StatusCommand, OfNobodyKnownIsBadInput) {
  const Said said = sterna({"status"});
  EXPECT_EQ(said.exit, 2);
  EXPECT_EQ(said.err, "no run is known here; `sterna up FILE` starts one\n");
}

TEST_F(ListCommand, HasALineForEachRun) {
  EXPECT_EQ(sterna({"list"}).err, "no run is known here\n");
  ended("a-1", 0);
  ended("b-1", 1);
  const Said said = sterna({"list"});
  EXPECT_EQ(said.exit, 0);
  EXPECT_EQ(said.out, "a-1  1 host   ended: it was a-1\nb-1  1 host   ended: it was b-1\n");
  EXPECT_THAT(sterna({"list", "--json"}).out, HasSubstr("\"exit\":1,\"phase\":\"ended\"}\n"));
}

TEST_F(LogsCommand, ReadsTheDirectoryOfARunThatIsOver) {
  const RunState state = ended("mnist-1", 0);
  std::filesystem::create_directories(state.run_directory + "/logs");
  write("mnist-1/logs/worker0.log", "2026-01-01T00:00:00Z hello\n");
  write("mnist-1/logs/server0.log", "2026-01-01T00:00:00Z there\n");
  EXPECT_EQ(sterna({"logs"}).out,
            "server0      2026-01-01T00:00:00Z there\nworker0      2026-01-01T00:00:00Z hello\n");
  EXPECT_EQ(sterna({"logs", "worker0"}).out, "2026-01-01T00:00:00Z hello\n")
      << "of the only run there is, a process may be named alone";
  EXPECT_EQ(sterna({"logs", "--since", "1h"}).out, "") << "that was long ago";
  const Said nobody = sterna({"logs", "mnist-1", "worker7"});
  EXPECT_EQ(nobody.exit, 2);
  EXPECT_THAT(nobody.err, HasSubstr("has no log of worker7"));
}

TEST_F(LogsCommand, WantsToKnowHowLongAgo) {
  const Said said = sterna({"logs", "--since", "yesterday"});
  EXPECT_EQ(said.exit, 2);
  EXPECT_EQ(said.err, "--since yesterday: say how long ago, as in 30s, 10m or 2h\n");
}

TEST_F(DownCommand, LeavesWhatHasEndedAlone) {
  EXPECT_EQ(sterna({"down"}).err, "no run goes on\n");
  ended("mnist-1", 1);
  const Said said = sterna({"down", "mnist-1"});
  EXPECT_EQ(said.exit, 0);
  EXPECT_EQ(said.err, "mnist-1 has ended already: it was mnist-1\n");
  EXPECT_EQ(sterna({"down", "--all"}).err, "no run goes on\n");
  EXPECT_EQ(sterna({"down", "other"}).exit, 2);
}

}  // namespace
}  // namespace sterna::launcher
