#include "runtime/host/piped_process.h"

#include <gtest/gtest.h>

#include <csignal>
#include <optional>

namespace sterna {
namespace {

using namespace std::chrono_literals;

class PipedProcesses : public testing::Test {
 protected:
  std::unique_ptr<PipedProcess> start(const std::vector<std::string>& command) {
    PipedProcess::Events events;
    events.output = [this](std::string_view bytes) { output += bytes; };
    events.errors = [this](std::string_view bytes) { errors += bytes; };
    events.exited = [this](const ProcessExit& how) { exit = how; };
    auto started = PipedProcess::start(loop, command, std::move(events));
    EXPECT_TRUE(started.ok()) << started.error().message;
    return started ? std::move(started).value() : nullptr;
  }
  bool until(const std::function<bool()>& done) { return loop.run_until(done, loop.now() + 20s); }
  bool ended() {
    return until([this] { return exit.has_value(); });
  }

  UvLoop loop;
  std::string output;
  std::string errors;
  std::optional<ProcessExit> exit;
};

TEST_F(PipedProcesses, ItsStreamsAreReadToTheirEndsBeforeItsExitIsTold) {
  const auto process = start({"sh", "-c", "echo out; echo err >&2; exit 3"});
  ASSERT_TRUE(ended());
  EXPECT_EQ(output, "out\n");
  EXPECT_EQ(errors, "err\n");
  EXPECT_EQ(exit->text(), "exited with code 3");
}

TEST_F(PipedProcesses, WhatIsWrittenArrivesInOrderAndTheEndOfTheInputToo) {
  const auto process = start({"cat"});
  const std::string large(300000, 'x');
  int written = 0;
  process->write(copy_bytes("begin "), [&] { ++written; });
  process->write(copy_bytes(large), [&] { ++written; });
  process->close_input();
  ASSERT_TRUE(ended());
  EXPECT_EQ(output, "begin " + large);
  EXPECT_EQ(written, 2);
  EXPECT_TRUE(exit->clean());
}

TEST_F(PipedProcesses, ASignalReachesItAndWhatItStarted) {
  const auto process = start({"sh", "-c", "echo ready; sleep 600 & wait"});
  ASSERT_TRUE(until([this] { return !output.empty(); }));
  process->signal(SIGKILL);
  ASSERT_TRUE(ended());  // both hold the streams open
  EXPECT_EQ(exit->text(), "killed by SIGKILL");
}

TEST_F(PipedProcesses, AfterItsEndWritingAndSignallingDoNoHarm) {
  const auto process = start({"true"});
  ASSERT_TRUE(ended());
  bool written = false;
  process->close_input();
  process->write(copy_bytes("anyone?"), [&] { written = true; });
  process->signal(SIGKILL);
  until([] { return true; });
  EXPECT_FALSE(written);
}

TEST_F(PipedProcesses, ACommandThatDoesNotExistIsAnErrorThatNamesIt) {
  const auto started = PipedProcess::start(loop, {"no-such-command-here"}, {});
  ASSERT_FALSE(started.ok());
  EXPECT_NE(started.error().message.find("cannot start no-such-command-here"), std::string::npos);
}

TEST_F(PipedProcesses, LetGoItIsKilledWithoutAWord) {
  auto process = start({"cat"});
  const auto pid = static_cast<pid_t>(process->pid());
  process.reset();
  EXPECT_EQ(::kill(pid, 0), -1);  // and reaped
  EXPECT_FALSE(exit.has_value());
}

TEST_F(PipedProcesses, ReleasedItOutlivesItsOwner) {
  auto process = start({"sh", "-c", "read line; exit 0"});
  const auto pid = static_cast<pid_t>(process->pid());
  process->release();
  process.reset();
  EXPECT_EQ(::kill(pid, 0), 0);
  ::kill(-pid, SIGKILL);
}

}  // namespace
}  // namespace sterna
