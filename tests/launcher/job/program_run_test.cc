// What is noted of the ends of a program's actors.
#include "launcher/job/program_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace sterna::launcher {
namespace {

using testing::ElementsAre;

class ProgramRun : public testing::Test {
 protected:
  ProgramRun() {
    const Result<ClusterFile> file = parse_cluster_file(
        "format = 1\n[program]\ndone_when = [\"a\"]\n[[actor]]\ntype = \"t\"\nname = \"a\"\n"
        "[[actor]]\ntype = \"t\"\nname = \"b\"\n",
        "x.toml");
    EXPECT_TRUE(file.ok()) << file.error().message;
    expect_actors(record_, *file);
    for (const char* name : {"a", "b"}) record_.status.actors.push_back({name, "t", "running"});
  }
  static ProcessDown down(const std::string& name, bool wanted, int signal = 0) {
    ProcessDown down;
    down.identity = {name, 1};
    down.signal = signal;
    down.cause = "a cause";
    down.wanted = wanted;
    return down;
  }
  const ActorEnd& a() const { return record_.result.actors[0]; }
  const ActorEnd& b() const { return record_.result.actors[1]; }
  RunRecord record_;
};

TEST_F(ProgramRun, AwaitsWhatTheFileNames) {
  EXPECT_THAT(record_.result.awaited, ElementsAre("a"));
  EXPECT_EQ(a().host, "localhost");
  EXPECT_EQ(a().type, "t");
  EXPECT_EQ(a().end, "");
}

TEST_F(ProgramRun, AnActorThatEndsByItselfIsDoneAndOneThatIsAskedToIsStopped) {
  note_end(record_, down("a", true), false);
  note_end(record_, down("b", true), true);
  EXPECT_EQ(a().end, "done");
  EXPECT_EQ(a().cause, "");
  EXPECT_EQ(b().end, "stopped");
  EXPECT_EQ(record_.status.actors[1].state, "stopped");
}

TEST_F(ProgramRun, OneThatDoesNotStopInTimeIsKilled) {
  note_end(record_, down("b", true, SIGKILL), true);
  EXPECT_EQ(b().end, "killed");
  EXPECT_EQ(b().cause, "a cause");
}

TEST_F(ProgramRun, ADeathHasACauseAndIsToldOnce) {
  note_end(record_, down("a", false), false);
  note_end(record_, down("a", true), true);
  note_end(record_, down("node-localhost", true), true);
  EXPECT_EQ(a().end, "dead");
  EXPECT_EQ(a().cause, "a#1 is dead: a cause");
  EXPECT_EQ(record_.status.actors[0].state, "dead");
}

}  // namespace
}  // namespace sterna::launcher
