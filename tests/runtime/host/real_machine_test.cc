#include "runtime/host/real_machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>

#include "tests/runtime/host/borrowed_descriptor.h"
#include "tests/temporary_folder.h"

namespace sterna {
namespace {

using namespace std::chrono_literals;

std::string logged(std::string_view line) {
  BorrowedDescriptor errors(STDERR_FILENO);
  log_to_stderr(line);
  return errors.text();
}

TEST(LogToStderr, IsOneLineWithTheTime) {
  EXPECT_THAT(logged("worker-0 is ready"),
              testing::ContainsRegex("^[0-9]+-[0-9]+-[0-9]+T[0-9]+:[0-9]+:[0-9]+[.][0-9]+Z "
                                     "worker-0 is ready\n$"));
}

TEST(LogToStderr, APeersWordsNeitherLookLikeLinesOfOursNorFillTheLog) {
  const std::string line = logged("it said: \n2026 all is well\x1b[0m" + std::string(5000, 'x'));
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  EXPECT_EQ(line.find('\x1b'), std::string::npos);
  EXPECT_LT(line.size(), 2100U);
}

class RealMachines : public testing::Test {
 protected:
  std::vector<std::string> lines;
  RealMachine machine{[this](std::string_view line) { lines.emplace_back(line); }};
  TemporaryFolder folder;
};

TEST(RealMachineLimits, ItMayHoldAsManyDescriptorsAsTheSystemAllows) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = limit.rlim_max / 2;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  const RealMachine machine;
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(limit.rlim_cur, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST_F(RealMachines, ASocketDirectoryIsMadeAndRemoved) {
  const Result<std::string> made = machine.make_socket_directory();
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_TRUE(std::filesystem::is_directory(*made));
  machine.remove_socket_directory(*made);
  EXPECT_FALSE(std::filesystem::exists(*made));
}

TEST_F(RealMachines, NoFolderIsRemovedThatIsNotOfThatKind) {
  const std::filesystem::path precious = folder / "precious";
  std::filesystem::create_directory(precious);
  machine.remove_socket_directory(precious.string());
  EXPECT_TRUE(std::filesystem::exists(precious));
}

TEST_F(RealMachines, AnExecutorHasAThreadAtLeast) {
  const auto executor = machine.make_executor(0);
  bool done = false;
  executor->submit([] {}, [&] { done = true; });
  EXPECT_TRUE(machine.loop().run_until([&] { return done; }, machine.loop().now() + 10s));
}

TEST_F(RealMachines, ARunThatLeftNothingIsSweptWithoutAWord) {
  EXPECT_EQ(machine.sweep(0x123456789abcdefULL), 0U);
  EXPECT_TRUE(lines.empty());
}

TEST_F(RealMachines, KeysAreNewEachTimeAndTokensAreKnownByTheirHash) {
  const Result<Credentials> one = machine.keys().issue();
  const Result<Credentials> two = machine.keys().issue();
  ASSERT_TRUE(one && two);
  EXPECT_NE(one->secret_key, two->secret_key);
  EXPECT_NE(machine.keys().hash(one->token), one->token);
}

}  // namespace
}  // namespace sterna
