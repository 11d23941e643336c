#include "runtime/remote/join_placer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "runtime/sim/sim_loop.h"
#include "tests/runtime/remote/local_spawner.h"
#include "tests/temporary_folder.h"

namespace sterna {
namespace {

namespace fs = std::filesystem;

class Joining : public testing::Test {
 protected:
  Joining() {
    node.kind = ProcessKind::NODE;
    node.identity = {"node-b", 1};
    node.host = "b";
    JoinPlacerOptions options;
    options.folder = files.string();
    options.hosts = {"b"};
    options.written = [this](const std::string& host, const std::string& path) {
      EXPECT_EQ(host, "b");
      written = path;
    };
    placer.emplace(loop, local, std::move(options));
  }
  Result<std::int64_t> spawn() {
    Spawner::Callbacks callbacks;
    callbacks.on_exit = [this](const ProcessExit& how) { exit = how; };
    return placer->spawn(node, std::move(callbacks));
  }
  static Result<Bootstrap> read(const fs::path& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    Result<Bootstrap> bootstrap = read_bootstrap_file(file, path.string());
    ::close(file);
    return bootstrap;
  }

  TemporaryFolder folder;
  fs::path files = folder / "joins";
  SimLoop loop;
  LocalSpawner local;
  Bootstrap node;
  std::string written;
  std::optional<ProcessExit> exit;
  std::optional<JoinPlacer> placer;
};

TEST_F(Joining, ANodeIsWhoeverReadsItsFileWhichOnlyItsOwnerMay) {
  ASSERT_TRUE(spawn().ok());
  EXPECT_EQ(written, (files / "b").string());
  EXPECT_EQ(fs::status(files).permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(written).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  const Result<Bootstrap> told = read(written);
  ASSERT_TRUE(told.ok()) << told.error().message;
  EXPECT_EQ(told->identity, node.identity);
}

TEST_F(Joining, WhatBelongsHereIsStartedHere) {
  node.host = "here";
  EXPECT_EQ(*spawn(), 100);
  node.host = "b";
  node.kind = ProcessKind::COORDINATOR;
  EXPECT_EQ(*spawn(), 101);
  EXPECT_EQ(local.started.size(), 2U);
  placer->kill(100);
  EXPECT_EQ(local.killed, std::vector<std::int64_t>{100});
  EXPECT_EQ(placer->resident_bytes(100), 4096U);
}

TEST_F(Joining, AFileThatIsThereAlreadyIsNotWrittenOver) {
  ASSERT_TRUE(spawn().ok());
  EXPECT_FALSE(spawn().ok());
}

TEST_F(Joining, WhoIsKilledFindsNoFileAndHasEndedOnce) {
  const Result<std::int64_t> id = spawn();
  ASSERT_TRUE(id.ok());
  EXPECT_EQ(placer->resident_bytes(*id), 0U);
  placer->kill(*id);
  placer->kill(*id);
  EXPECT_FALSE(fs::exists(written));
  EXPECT_FALSE(exit.has_value());  // not from within
  loop.run_until([this] { return exit.has_value(); }, kNever);
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->text(), "its bootstrap file was withdrawn");
}

TEST_F(Joining, TheFilesGoWithThePlacer) {
  ASSERT_TRUE(spawn().ok());
  placer.reset();
  EXPECT_FALSE(fs::exists(files));
}

TEST_F(Joining, AFileThatOthersMayReadIsRefused) {
  ASSERT_TRUE(spawn().ok());
  fs::permissions(written, fs::perms::group_read, fs::perm_options::add);
  EXPECT_EQ(read(written).error().code, Errc::permission);
}

TEST_F(Joining, WhatIsNoBootstrapOfANodeIsRefused) {
  const auto refused = [&](const std::string& content) {
    std::ofstream(written, std::ios::binary) << content;
    const Result<Bootstrap> told = read(written);
    return !told.ok() && told.error().code == Errc::malformed;
  };
  ASSERT_TRUE(spawn().ok());
  std::ifstream file(written, std::ios::binary);
  const std::string good(std::istreambuf_iterator<char>(file), {});
  EXPECT_TRUE(refused(""));
  EXPECT_TRUE(refused("nonsense that is longer than a size"));
  EXPECT_TRUE(refused(good.substr(0, good.size() - 1)));
  EXPECT_TRUE(refused(good + "x"));
  EXPECT_FALSE(refused(good));
  EXPECT_EQ(read(folder.path()).error().code, Errc::malformed);  // a folder
}

}  // namespace
}  // namespace sterna
