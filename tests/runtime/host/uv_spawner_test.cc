// Real children: scripts in the place of this program.
#include "runtime/host/uv_spawner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "runtime/message/packed_message.h"
#include "tests/temporary_folder.h"

namespace sterna {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class Spawning : public testing::Test {
 protected:
  Spawning() {
    std::signal(SIGPIPE, SIG_IGN);  // as RealMachine does: a child may end before it was told
    child.identity = {"worker-0", 1};
    child.run = 0xff;
    child.log_directory = folder.path();
    child.environment = {"FOLDER=" + folder.path()};
  }
  /// Starts a child that runs this.
  Result<std::int64_t> spawn(const std::string& script, bool answers = false) {
    const std::string path = (folder / "program").string();
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    spawner.set_program(path);
    Spawner::Callbacks callbacks;
    callbacks.on_exit = [this](const ProcessExit& how) { exit = how; };
    if (answers) callbacks.on_contact = [this](const Contact& told) { contact = told; };
    return spawner.spawn(child, std::move(callbacks));
  }
  void wait_for_end() {
    ASSERT_TRUE(loop.run_until([this] { return exit.has_value(); }, loop.now() + 20s));
  }
  std::string read(const std::string& name) const {
    std::ifstream file(folder / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TemporaryFolder folder;
  Bootstrap child;
  std::optional<ProcessExit> exit;
  std::optional<Contact> contact;
  UvLoop loop;
  UvSpawner spawner{loop};
};

TEST_F(Spawning, AChildIsCalledByItsNameAndLogsIntoItsFile) {
  ASSERT_TRUE(spawn("echo \"$@\"; echo trouble >&2; exit 3").ok());
  wait_for_end();
  EXPECT_EQ(exit->text(), "exited with code 3");
  EXPECT_EQ(read("worker-0.log"),
            "__process worker-0 00000000000000ff " + std::to_string(::getpid()) + "\ntrouble\n");
}

TEST_F(Spawning, AChildOfAnotherProgramIsCalledByThatProgramsName) {
  const std::string words = (folder / "words").string();
  std::filesystem::create_symlink("/bin/cat", words);
  spawner.set_program(words);
  Spawner::Callbacks callbacks;
  callbacks.on_exit = [this](const ProcessExit& how) { exit = how; };
  ASSERT_TRUE(spawner.spawn(child, std::move(callbacks)).ok());
  wait_for_end();
  EXPECT_THAT(read("worker-0.log"), HasSubstr("words: __process: "));
}

TEST_F(Spawning, AChildIsToldItsBootstrapOnStandardInput) {
  child.credentials.secret_key = "secret";
  ASSERT_TRUE(spawn("cat > $FOLDER/told").ok());
  wait_for_end();
  const std::string told = read("told");
  const Result<Bootstrap> read_back = unpack<Bootstrap>(std::as_bytes(std::span(told)));
  ASSERT_TRUE(read_back.ok()) << read_back.error().message;
  EXPECT_EQ(read_back->credentials.secret_key, "secret");
}

TEST_F(Spawning, AChildHasOurEnvironmentWithItsOwnVariables) {
  child.environment.emplace_back("HOME=/elsewhere");
  ASSERT_TRUE(spawn("echo $HOME $OMP_WAIT_POLICY; command -v sh >/dev/null && echo path").ok());
  wait_for_end();
  EXPECT_EQ(read("worker-0.log"), "/elsewhere PASSIVE\npath\n");
}

TEST_F(Spawning, AnActorsNextProcessHasTheMemoryOfTheOneBefore) {
  const auto say = [this](const std::string& script, bool answers = false) {
    exit.reset();
    ASSERT_TRUE(spawn(script, answers).ok());
    wait_for_end();
    ++child.identity.incarnation;
  };
  say("printf left > /proc/self/fd/4");
  say("cat /proc/self/fd/4 >&2");
  say("cat /proc/self/fd/4 >&2", true);
  EXPECT_EQ(read("worker-0.log"), "leftleft");
  child.identity.name = "worker-1";
  say("cat /proc/self/fd/4 >&2");
  EXPECT_EQ(read("worker-1.log"), "");
  child.identity.name = "worker-0";
  spawner.forget("worker-0");
  say("cat /proc/self/fd/4 >&2");
  EXPECT_EQ(read("worker-0.log"), "leftleft");
  say("printf again > /proc/self/fd/4");
  child.identity.incarnation = 1;
  say("cat /proc/self/fd/4 >&2");
  EXPECT_EQ(read("worker-0.log"), "leftleft");
}

TEST_F(Spawning, WhoIsNoActorHasNone) {
  child.kind = ProcessKind::NODE;
  ASSERT_TRUE(spawn("test -e /proc/self/fd/4 || echo none").ok());
  wait_for_end();
  EXPECT_EQ(read("worker-0.log"), "none\n");
}

TEST_F(Spawning, WhereItListensIsHeardFromWhoIsAsked) {
  Contact listens;
  listens.process = 7;
  listens.control_endpoint = "ipc:///c";
  const Bytes packed = pack(PeerContact{listens});
  std::ofstream(folder / "answer", std::ios::binary) << text_of(packed.view());
  ASSERT_TRUE(spawn("cat $FOLDER/answer >&3", true).ok());
  ASSERT_TRUE(loop.run_until([this] { return contact.has_value(); }, loop.now() + 20s));
  EXPECT_EQ(contact->control_endpoint, "ipc:///c");
  wait_for_end();
}

TEST_F(Spawning, AnAnswerThatIsNoneIsNotHeard) {
  ASSERT_TRUE(spawn("echo nonsense >&3", true).ok());
  wait_for_end();
  EXPECT_FALSE(contact.has_value());
}

TEST_F(Spawning, AKilledChildSaysBySignal) {
  const Result<std::int64_t> pid = spawn("echo $$; exec sleep 600");
  ASSERT_TRUE(pid.ok());
  spawner.kill(*pid);
  wait_for_end();
  EXPECT_EQ(exit->signal, SIGKILL);
  spawner.kill(*pid);  // harmless
}

/// What a process inherits as a node does.
class SpawningAsSubreaper : public Spawning {
 protected:
  void SetUp() override { ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0); }
  void TearDown() override { ::prctl(PR_SET_CHILD_SUBREAPER, 0); }
};

TEST_F(SpawningAsSubreaper, WhomAChildHasLeftInAGroupOfItsOwnIsReaped) {
  ASSERT_TRUE(spawn("(setsid sh -c 'echo $$ > $FOLDER/orphan' &)\nexec sleep 600").ok());
  const auto is_gone = [&] {
    const std::string pid = read("orphan");
    return pid.ends_with('\n') && ::kill(static_cast<pid_t>(std::stol(pid)), 0) != 0;
  };
  EXPECT_TRUE(loop.run_until(is_gone, loop.now() + 20s)) << read("orphan") << "is a zombie";
  EXPECT_FALSE(exit.has_value());
}

TEST_F(SpawningAsSubreaper, AChildsOwnEndIsStillTold) {
  ASSERT_TRUE(spawn("(setsid true &)\nexit 3").ok());
  wait_for_end();
  EXPECT_EQ(exit->code, 3);
}

TEST_F(Spawning, AProgramThatDoesNotExistIsAnError) {
  spawner.set_program("/nowhere/program");
  const Result<std::int64_t> pid = spawner.spawn(child, {});
  ASSERT_FALSE(pid.ok());
  EXPECT_THAT(pid.error().message, HasSubstr("cannot start a process"));
}

TEST_F(Spawning, ALogThatCannotBeWrittenIsAnErrorThatNamesIt) {
  child.log_directory = "/nowhere";
  const Result<std::int64_t> pid = spawn("exit 0");
  ASSERT_FALSE(pid.ok());
  EXPECT_THAT(pid.error().message, HasSubstr("/nowhere/worker-0.log"));
}

TEST_F(Spawning, TheMemoryOfAProcessIsKnownAsLongAsItLives) {
  EXPECT_GT(spawner.resident_bytes(::getpid()), 1U << 20);
  EXPECT_EQ(spawner.resident_bytes(-1), 0U);
}

TEST_F(Spawning, AChildIsStoppedAndGoesOn) {
  const auto pid = spawn("exec sleep 600");
  ASSERT_TRUE(pid.ok());
  // The kernel says so once it has happened; who has ended instead is not what is waited for.
  const auto comes_to = [&](int what) {
    siginfo_t how{};
    EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(*pid), &how, what), 0);
    return how.si_code;
  };
  spawner.freeze(*pid);
  EXPECT_EQ(comes_to(WSTOPPED), CLD_STOPPED);
  spawner.thaw(*pid);
  EXPECT_EQ(comes_to(WCONTINUED), CLD_CONTINUED);
  spawner.freeze(*pid);
  spawner.kill(*pid);
  wait_for_end();
  EXPECT_EQ(exit->signal, SIGKILL) << "one that is stopped dies, too";
}

}  // namespace
}  // namespace sterna
