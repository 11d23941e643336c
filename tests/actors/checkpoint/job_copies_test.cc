// Each checkpoint of a job lies whole on another host, too: what is there is gone on from as it is,
// and a copy that cannot be made stops nobody.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "actors/checkpoint/copy_holder.h"
#include "actors/checkpoint/state_part.h"
#include "runtime/base/file.h"
#include "tests/actors/simulated_job.h"
#include "tests/temporary_folder.h"

namespace sterna::actors {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class JobCopies : public SimulatedJob {
 protected:
  JobCopies() {
    fs::current_path(there_.path());  // of all actors
    job.steps = 12;
    job.checkpoint.every_steps = 4;
    job.checkpoint.keep = 10;
    job.checkpoint.copies = 1;
    job.checkpoint.folder = here_.path();
    job.gradient.error_feedback = true;
  }
  ~JobCopies() override { fs::current_path(before_); }

  std::string here(std::uint64_t step) const { return (here_ / checkpoint_name(step)).string(); }
  std::string copy(std::uint64_t step) const {
    return (fs::current_path() / kCopyFolder / checkpoint_name(step)).string();
  }
  static std::vector<std::uint64_t> steps_in(const std::string& folder) {
    std::vector<std::uint64_t> steps;
    for (const FoundCheckpoint& one : find_checkpoints(folder)) {
      if (one.manifest) steps.push_back(one.step);
    }
    return steps;
  }

  const fs::path before_ = fs::current_path();
  const TemporaryFolder here_;
  const TemporaryFolder there_;
};

TEST_F(JobCopies, AreWholeAndGoneOnFromAsTheyLie) {
  JobLayout layout{.servers = 2, .workers = 2};
  layout.copies_at = {{"server1", "b", true}, {"worker0", "c", false}};
  const std::string hash = hash_of(layout);
  EXPECT_EQ(kept->made, 3U);
  EXPECT_EQ(kept->copied, 12U);
  EXPECT_EQ(kept->copies_missed, record.no_copies.size());
  for (const std::uint64_t step : steps_in(here_.path())) {
    const std::string at = read_manifest(here(step)).value().copy;
    if (at.empty()) continue;  // it was due while the one before was copied
    EXPECT_EQ(at, "b:" + copy(step));
    const Result<SavedCheckpoint> saved = open_checkpoint(copy(step));
    ASSERT_TRUE(saved.ok()) << saved.error().message;
    EXPECT_EQ(saved->manifest.parts.size(), 4U);
  }
  EXPECT_EQ(read_manifest(here(12))->copy, "b:" + copy(12)) << "the end waits for the last one";
  EXPECT_TRUE(fs::exists(fs::path(kCopyFolder) / kCopiedClusterFile));

  // The head's disk is lost.
  fs::remove_all(here_.path());
  fs::create_directory(here_.path());
  const std::uint64_t step = steps_in(kCopyFolder).front();
  ASSERT_LT(step, 12U);
  job.first_step = step;
  job.first_position = read_manifest(copy(step))->position;
  job.resumes = true;
  layout.resume = copy(step);
  EXPECT_EQ(hash_of(layout), hash);
}

TEST_F(JobCopies, OfWhichTheNewestStay) {
  job.steps = 40;
  job.checkpoint.every_steps = 10;
  job.checkpoint.keep = 1;
  JobLayout layout{.workers = 2};
  layout.copies_at = {{"worker1", "b", false}};
  ASSERT_FALSE(hash_of(layout).empty());
  EXPECT_THAT(steps_in(kCopyFolder), ElementsAre(40));
  EXPECT_THAT(steps_in(here_.path()), ElementsAre(40));
}

TEST_F(JobCopies, ThatCannotBeMadeAreCountedAndTrainingGoesOn) {
  std::ofstream(kCopyFolder) << "no folder";
  JobLayout layout{.servers = 2, .workers = 2};
  layout.copies_at = {{"server1", "b", true}, {"worker1", "b", false}};
  ASSERT_FALSE(hash_of(layout).empty());
  EXPECT_EQ(kept->made, 3U);
  EXPECT_EQ(kept->copied, 0U);
  EXPECT_EQ(kept->copies_missed, 3U);
  ASSERT_EQ(record.no_copies.size(), 3U);
  EXPECT_THAT(record.no_copies.front(), StartsWith("no copy of step 4: server1 on b: "));
  EXPECT_THAT(read_manifest(here(12))->copy, IsEmpty());
}

TEST_F(JobCopies, AreMadeByAnotherWhereTheFirstIsLost) {
  JobLayout layout{.servers = 2, .workers = 2};
  layout.copies_at = {{"nobody", "a", true}, {"worker1", "b", false}};
  ASSERT_FALSE(hash_of(layout).empty());
  EXPECT_EQ(kept->copied, 12U);
  EXPECT_THAT(read_manifest(here(12))->copy, StartsWith("b:"));
}

TEST_F(JobCopies, ThatNobodyWaitsForAnyMoreAreRemoved) {
  JobLayout layout{.workers = 2};
  layout.copies_at = {{"worker1", "b", false}};
  launch(layout);
  loop.run_until([this] { return fs::exists(copy(4) + "/server0.safetensors"); }, kNever);
  ASSERT_FALSE(fs::exists(copy(4) + "/" + kManifestFile));
  process_of("launcher").process->kill(ref_of(kKeeperName).id.local, "");
  pass(std::chrono::seconds(1));
  EXPECT_FALSE(fs::exists(copy(4)));
}

TEST_F(JobCopies, WhereTheyAreSaidToLieIsNoPartOfAManifestUnlessItIsAPlace) {
  JobLayout layout{.workers = 2};
  layout.copies_at = {{"server0", "b", true}};
  ASSERT_FALSE(hash_of(layout).empty());
  const std::string place = read_manifest(here(12))->copy;
  for (const std::string at : {"b", "b:there", "b:/a\nb", ":/there"}) {
    EXPECT_FALSE(note_copy(here(12), at).ok()) << at;
    EXPECT_EQ(read_manifest(here(12))->copy, place);
  }
  EXPECT_FALSE(note_copy(here(12), "b:/" + std::string(5000, 'x')).ok());
}

}  // namespace
}  // namespace sterna::actors
