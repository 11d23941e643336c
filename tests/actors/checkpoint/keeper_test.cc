// What the keeper makes of what it is told, by who may mean no good and at moments that a whole job
// does not choose.
#include "actors/checkpoint/keeper.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <set>

#include "actors/checkpoint/state_part.h"
#include "tests/runtime/sim/sim_fixture.h"
#include "tests/temporary_folder.h"

namespace sterna::actors {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A server that is at a version which no job has.
class Liar final : public Actor<ParameterServerInterface> {
 public:
  KeepAnswer on(KeepVersion) { return {.kept = false, .version = UINT64_MAX - 1}; }
  template <Askable M>
  Result<typename M::Reply> on(M) {
    return Error{Errc::unavailable, "it is asked nothing else"};
  }
  template <class M>
  void on(M) {}
};

class KeeperTest : public test::SimFixture {
 protected:
  KeeperTest() {
    setup.job.net = "mlp";
    setup.job.steps = 40;
    setup.job.evaluation.every = 4;
    setup.job.checkpoint.every_steps = 4;
    setup.job.checkpoint.keep = 1;
    setup.folder = folder.path();
    setup.record = kept;
    setup.say = [](const std::string&) {};
    setup.committed = [](const SavedCheckpoint&) {};
  }

  /// With a process for each server, of its name.
  void keep() {
    test::SimProcess& launcher = start("launcher");
    launcher.process->set_on_death(
        [this](LocalId, const std::string& cause) { deaths.push_back(cause); });
    launcher.process->set_on_link_end([this](const Contact&, const std::string& cause, bool fault) {
      if (fault) blamed.push_back(cause);
    });
    for (const std::string& name : setup.servers) servers[name] = &start(name);
    keeper = launcher.process->spawn<CheckpointKeeper>(setup, finder);
  }
  /// The answer to it, which may be an error.
  Result<void> says(const std::string& server, PartWritten part) {
    Process& process = *servers.at(server)->process;
    return process.wait(process.ask(keeper, std::move(part), std::chrono::minutes(10)));
  }
  /// Server0's part of that version, on disk.
  PartWritten part(std::uint64_t version) const {
    const PartWritten written = write_part({version, {}}, folder.path(), "", "server0");
    EXPECT_EQ(written.error, "");
    return written;
  }
  void writes(std::uint64_t version) {
    const Result<void> said = says("server0", part(version));
    ASSERT_TRUE(said.ok()) << said.error().message;
  }
  std::vector<std::uint64_t> there() const {
    std::vector<std::uint64_t> steps;
    for (const FoundCheckpoint& one : find_checkpoints(folder.path())) steps.push_back(one.step);
    return steps;
  }
  std::string at(std::uint64_t step) const { return folder / checkpoint_name(step); }

  TemporaryFolder folder;
  std::shared_ptr<KeeperRecord> kept = std::make_shared<KeeperRecord>();
  KeeperSetup setup;
  Finder finder = find_any;
  std::map<std::string, test::SimProcess*> servers;
  ActorRef<CheckpointKeeperInterface> keeper;
  std::vector<std::string> deaths;
  std::vector<std::string> blamed;  // why
};

TEST_F(KeeperTest, APartThatIsToBeFetchedAndIsNotCalledSoMakesNone) {
  setup.servers = {"server0"};
  setup.node_of = [](const std::string&) { return std::optional(ProcessId{99}); };
  keep();
  EXPECT_TRUE(says("server0", {.version = 4, .file = "server0.safetensors", .bytes = 8}).ok());
  EXPECT_THAT(deaths, IsEmpty());
  EXPECT_THAT(kept->said, ElementsAre(HasSubstr("no checkpoint of step 4: ")));
}

TEST_F(KeeperTest, APartIsCalledByAllOfItsWritersName) {
  setup.servers = {"b", "a.b"};
  keep();
  EXPECT_FALSE(says("b", {.version = 4, .file = "step-000000004.a.b.safetensors"}).ok());
  EXPECT_THAT(blamed, ElementsAre(HasSubstr("a part called")));
}

TEST_F(KeeperTest, OfVersionsThatNobodyKeepsNothingIsHeard) {
  setup.servers = {"server0", "server1"};
  keep();
  EXPECT_FALSE(says("server0", {.version = 5, .file = "", .error = "its disk is full"}).ok());
  EXPECT_THAT(blamed, ElementsAre("a part of version 5, which is not kept"));
  EXPECT_THAT(kept->said, IsEmpty());
}

TEST_F(KeeperTest, OfAnErrorNoMoreIsKeptThanOfAFailure) {
  setup.servers = {"server0"};
  keep();
  EXPECT_TRUE(
      says("server0", {.version = 4, .file = "", .error = std::string(1U << 20, 'x')}).ok());
  EXPECT_THAT(kept->said, ElementsAre("no checkpoint of step 4: " + std::string(4096, 'x')));
}

TEST_F(KeeperTest, WhatIsYetToBeMeasuredStaysWhereTheBestDoes) {
  setup.servers = {"server0"};
  setup.job.evaluation.every = 8;
  setup.job.checkpoint.best = setup.is_evaluated = true;
  keep();
  for (const std::uint64_t version : {4, 8, 12, 16, 20, 24, 28}) writes(version);
  EXPECT_THAT(there(), ElementsAre(8, 16, 24, 28));
  const auto measured = [&](std::uint64_t version, double precision) {
    kept->measured(version, {precision, 2000});
    pass(std::chrono::seconds(1));
    return there();
  };
  EXPECT_THAT(measured(8, 0.8), ElementsAre(8, 16, 24, 28));
  EXPECT_THAT(measured(16, 0.9), ElementsAre(16, 24, 28));
  EXPECT_THAT(measured(24, 0.85), ElementsAre(16, 28));
}

TEST_F(KeeperTest, WhereNobodyMeasuresTheNewestAreAll) {
  setup.servers = {"server0"};
  setup.job.checkpoint.best = true;
  keep();
  for (const std::uint64_t version : {4, 8, 12}) writes(version);
  EXPECT_THAT(there(), ElementsAre(12));
}

TEST_F(KeeperTest, APrecisionThatComesWhileTheManifestIsWrittenIsNoted) {
  setup.servers = {"server0"};
  keep();
  Process& process = *servers.at("server0")->process;
  auto answer = process.ask(keeper, part(4), std::chrono::minutes(10));
  loop.run_until([&] { return fs::exists(fs::path(at(4)) / kManifestFile); }, kNever);
  ASSERT_EQ(kept->made, 0U) << "its thread has not heard of it";
  kept->measured(4, {0.9, 2000});
  EXPECT_TRUE(process.wait(std::move(answer)).ok());
  pass(std::chrono::seconds(1));
  const Result<Manifest> manifest = read_manifest(at(4));
  ASSERT_TRUE(manifest.ok() && manifest->precision);
  EXPECT_EQ(manifest->precision->at_1, 0.9);
}

TEST_F(KeeperTest, AVersionThatTheJobHasNotIsNobodys) {
  setup.servers = {"server0"};
  finder = [this](Process&, std::string, Duration) -> Task<Result<AnyRef>> {
    co_return AnyRef(servers.at("server0")->process->spawn<Liar>());
  };
  keep();
  kept->keep_soon();
  pass(std::chrono::seconds(1));
  EXPECT_EQ(kept->soon, 0U);
  EXPECT_THAT(deaths, IsEmpty());
}

TEST(StatePart, TakesThePlaceOfItsWritersPartBeforeAndOfNoOther) {
  const TemporaryFolder own;
  for (const char* actor : {"a.b", "b"}) {
    for (const std::uint64_t version : {4, 8}) {
      EXPECT_EQ(write_part({version, {}}, "", own.path(), actor).error, "");
    }
  }
  std::set<std::string> files;
  for (const auto& one : fs::directory_iterator(own.path())) files.insert(one.path().filename());
  EXPECT_THAT(files, ElementsAre("step-000000008.a.b.safetensors", "step-000000008.b.safetensors"));
}

}  // namespace
}  // namespace sterna::actors
