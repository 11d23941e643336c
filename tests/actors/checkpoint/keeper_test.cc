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
    keeper = launcher.process->spawn<CheckpointKeeper>(setup);
  }
  /// The answer to it, which may be an error.
  Result<void> says(const std::string& server, PartWritten part) {
    Process& process = *servers.at(server)->process;
    return process.wait(process.ask(keeper, std::move(part), std::chrono::minutes(10)));
  }
  /// Server0's part of that version is there, as it says.
  void writes(std::uint64_t version) {
    const StatePart part{version, {}};
    const PartWritten written = write_part(part, folder.path(), "", "server0");
    ASSERT_EQ(written.error, "");
    const Result<void> said = says("server0", written);
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
