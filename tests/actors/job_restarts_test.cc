// Readers and workers are lost at any moment and come again: the parameters end the same.
#include <gtest/gtest.h>

#include <algorithm>

#include "actors/checkpoint/manifest.h"
#include "actors/checkpoint/state_part.h"
#include "kernels/device/host_device.h"
#include "tests/actors/job_restarts.h"
#include "tests/sanitized.h"
#include "tests/temporary_folder.h"

namespace sterna::actors {
namespace {

using namespace std::chrono_literals;

TEST_F(JobRestartsTest, AReaderIsLostAndTrainingWaitsForIt) {
  const JobLayout layout{.readers = 2, .workers = 2};
  calm(layout);
  for (int tenth = 1; tenth < 10; ++tenth) disturbed(layout, "reader1", tenth / 10.0);
}

TEST_F(JobRestartsTest, AReaderOfAShardIsLostAndTrainingWaitsForIt) {
  job.shards = 2;
  const JobLayout layout{.readers = 2, .workers = 2};
  calm(layout);
  for (int third = 1; third < 3; ++third) disturbed(layout, "reader0", third / 3.0);
}

TEST_F(JobRestartsTest, AWorkerIsLostAndItsRanksGoOnInTheNextOne) {
  const JobLayout layout{.servers = 2, .workers = 2};
  for (const char* codec : {"ternary", "none"}) {
    for (const ScalerRule rule : {ScalerRule::own, ScalerRule::shared, ScalerRule::mean}) {
      job.gradient.codec = codec;
      job.gradient.scaler = rule;
      calm(layout);
      for (int ninth = 1; ninth < 9; ++ninth) disturbed(layout, "worker1", ninth / 9.0);
    }
  }
}

TEST_F(JobRestartsTest, AWorkerOnADeviceIsLostAndTheNextGoesOnThere) {
  JobLayout layout{.servers = 2, .workers = 2, .ranks_per_worker = 2};
  layout.device = [seed = std::uint64_t{0}](std::uint32_t) mutable {
    return kernels::make_host_device({.seed = ++seed});
  };
  job.hidden = {20};
  job.gradient.check_every = 3;
  for (const char* optimizer : {"momentum", "gd"}) {
    for (const Down down : {Down::parameters, Down::average, Down::ternary}) {
      layout.devices = down == Down::ternary ? 1 : 2;
      job.optimizer.name = optimizer;
      job.gradient.down = down;
      job.gradient.scaler = ScalerRule::shared;
      calm(layout);
      for (int fifth = 0; fifth < 5; ++fifth) disturbed(layout, "worker1", fifth / 5.0);
    }
  }
}

TEST_F(JobRestartsTest, WithRoundedParametersTheyGoOnFromTheSameOnes) {
  job.gradient.down = Down::parameters_bf16;
  const JobLayout layout{.servers = 2, .workers = 2};
  calm(layout);
  for (int tenth = 1; tenth < 10; ++tenth) disturbed(layout, "worker0", tenth / 10.0);
}

TEST_F(JobRestartsTest, WhereWorkersStepTheyGetParametersAndSlotsAsTheyWere) {
  job.gradient.check_every = 3;
  job.evaluation.every = 4;
  job.optimizer.average_decay = 0.9;
  const JobLayout layout{.servers = 2, .workers = 2, .ranks_per_worker = 2};
  test::Few ways(5);
  for (const char* optimizer : {"momentum", "adam", "gd"}) {
    for (const Down down : {Down::average, Down::ternary}) {
      for (const ScalerRule rule : {ScalerRule::shared, ScalerRule::last_step}) {
        if (ways.leaves_out()) continue;
        job.optimizer.name = optimizer;
        job.gradient.down = down;
        job.gradient.scaler = rule;
        job.gradient.error_feedback = rule == ScalerRule::shared;
        calm(layout);
        for (int ninth = 0; ninth < 9; ++ninth) disturbed(layout, "worker1", ninth / 9.0);
      }
    }
  }
}

TEST_F(JobRestartsTest, RanksThatTakeTurnsGoOnWhereTheFirstOfThemWas) {
  const JobLayout layout{.servers = 2, .workers = 2, .ranks_per_worker = 3, .cores = 2};
  calm(layout);
  for (int twentieth = 1; twentieth < 20; ++twentieth) {
    disturbed(layout, "worker0", twentieth / 20.0);
  }
}

TEST_F(JobRestartsTest, AllWorkersAreLostTogetherAgainAndAgain) {
  const JobLayout layout{.servers = 2, .workers = 2, .ranks_per_worker = 2};
  calm(layout);
  launch(layout);
  for (int i = 0; i < 12; ++i) {
    pass(took / 15);
    for (const char* name : {"worker0", "worker1"}) lose(name);
    pass(1ms);
    for (const char* name : {"worker1", "worker0"}) bring_back(name);
  }
  finish();
  for (const std::string& death : deaths) ADD_FAILURE() << death;
  ASSERT_TRUE(record.finished);
  EXPECT_EQ(record.finished->parameters_sha256, hash);
}

TEST_F(JobRestartsTest, AWorkerThatIsDoneIsLostAndSaysAgainThatItIs) {
  const JobLayout layout{.workers = 2};
  calm(layout);
  launch(layout);
  loop.run_until([this] { return !record.done.empty(); }, kNever);
  const std::string name = record.done.front().worker;
  record.done.clear();
  lose(name);
  bring_back(name);
  const auto said_again = [&] {
    return std::ranges::any_of(record.done, [&](const WorkerDone& one) {
      return one.worker == name && one.steps == job.steps && one.loss > 0;
    });
  };
  loop.run_until([&] { return record.finished && said_again(); }, loop.now() + 100 * took);
  for (const std::string& death : deaths) ADD_FAILURE() << death;
  EXPECT_TRUE(said_again());
  ASSERT_TRUE(record.finished);
  EXPECT_EQ(record.finished->parameters_sha256, hash);
}

TEST_F(JobRestartsTest, WithNormalizedBatchesThePushedMomentsAreTheSame) {
  job.net = "resnet_20";
  job.hidden.clear();
  job.steps = 3;
  job.batch = 2;
  const JobLayout layout{.servers = 2, .workers = 2};
  calm(layout);
  for (int third = 1; third < 3; ++third) disturbed(layout, "worker1", third / 3.0);
}

TEST_F(JobRestartsTest, WhatErrorFeedbackKeepsOutlivesItsWorker) {
  const JobLayout layout{.servers = 2, .workers = 2};
  job.gradient.error_feedback = true;
  for (const char* codec : {"ternary", "topk"}) {
    for (const ScalerRule rule : {ScalerRule::own, ScalerRule::shared, ScalerRule::last_step}) {
      if (codec == std::string("topk") && rule != ScalerRule::own) continue;
      job.gradient.codec = codec;
      job.gradient.scaler = rule;
      calm(layout);
      for (int ninth = 1; ninth < 9; ++ninth) disturbed(layout, "worker1", ninth / 9.0);
    }
  }
}

TEST_F(JobRestartsTest, WhatErrorFeedbackKeepsOnADeviceOutlivesItsWorkerToo) {
  JobLayout layout{.servers = 2, .workers = 2, .ranks_per_worker = 2};
  layout.device = [seed = std::uint64_t{0}](std::uint32_t) mutable {
    return kernels::make_host_device({.seed = ++seed});
  };
  job.gradient.error_feedback = true;
  job.gradient.check_every = 3;
  test::Few ways(3);
  for (const char* codec : {"ternary", "bf16"}) {
    for (const ScalerRule rule : {ScalerRule::own, ScalerRule::shared, ScalerRule::last_step}) {
      if (codec == std::string("bf16") && rule != ScalerRule::own) continue;
      if (ways.leaves_out()) continue;
      job.gradient.codec = codec;
      job.gradient.scaler = rule;
      job.gradient.down = rule == ScalerRule::shared ? Down::average : Down::parameters;
      layout.devices = rule == ScalerRule::shared ? 1 : 2;
      calm(layout);
      for (int i = 0; i < 6; ++i) disturbed(layout, "worker1", 0.05 + i / 6.0, Duration(1));
    }
  }
  job.hidden = {20};
  job.gradient.codec = "ternary";
  job.gradient.scaler = ScalerRule::own;
  job.gradient.host = HostRule::average;
  calm(layout);
  for (int i = 0; i < 4; ++i) disturbed(layout, "worker0", 0.1 + i / 5.0, Duration(1));
}

TEST_F(JobRestartsTest, OnADeviceRanksGoOnWithoutTheirResidualsIfTheJobSaysSo) {
  JobLayout layout{.servers = 2, .workers = 2, .ranks_per_worker = 2};
  layout.device = [seed = std::uint64_t{0}](std::uint32_t) mutable {
    return kernels::make_host_device({.seed = ++seed});
  };
  job.gradient.error_feedback = true;
  for (const LostResiduals rule : {LostResiduals::zero, LostResiduals::rollback}) {
    job.gradient.residuals = rule;
    calm(layout);
    loses_its_host(layout, "worker1", took / 2);
    if (rule == LostResiduals::zero) {
      ASSERT_TRUE(record.finished);
      ASSERT_EQ(record.without.size(), 1U);
      EXPECT_EQ(record.without.front().ranks, 2U);
      EXPECT_NE(record.finished->parameters_sha256, hash) << "something of them was lost";
    } else {
      ASSERT_FALSE(deaths.empty());
      EXPECT_NE(deaths.front().find("what error feedback kept of rank"), std::string::npos);
    }
  }
}

TEST_F(JobRestartsTest, RanksWhoseHostIsLostGoOnWithoutTheirResidualsIfTheJobSaysSo) {
  const JobLayout layout{.servers = 2, .workers = 2, .ranks_per_worker = 2, .cores = 2};
  job.gradient.error_feedback = true;
  job.gradient.check_every = 3;
  test::Few ways(6);
  for (const Down down : {Down::parameters, Down::average, Down::ternary}) {
    for (const ScalerRule rule : {ScalerRule::own, ScalerRule::shared, ScalerRule::last_step}) {
      if (down == Down::average && rule == ScalerRule::own) continue;
      if (ways.leaves_out()) continue;
      job.gradient.down = down;
      job.gradient.scaler = rule;
      job.gradient.residuals = LostResiduals::zero;
      calm(layout);
      int others = 0;
      test::Moments ninths(4);
      for (int ninth = 1; ninth < 9; ++ninth) {
        if (ninths.leaves_out()) continue;
        loses_its_host(layout, "worker1", took * ninth / 9);
        for (const std::string& death : deaths) ADD_FAILURE() << ninth << ": " << death;
        ASSERT_TRUE(record.finished) << ninth << ", " << static_cast<int>(rule);
        ASSERT_EQ(record.without.size(), 1U) << ninth;
        EXPECT_EQ(record.without.front().worker, "worker1");
        EXPECT_EQ(record.without.front().incarnation, 2U);
        EXPECT_EQ(record.without.front().ranks, 2U);
        EXPECT_GT(record.without.front().step, 0U);
        others += record.finished->parameters_sha256 != hash ? 1 : 0;
        // Where its host is there, nothing is lost, nor told.
        if (disturbed(layout, "worker0", ninth / 9.0)) {
          EXPECT_TRUE(record.without.empty());
        }
      }
      EXPECT_GT(others, test::wide() ? 4 : 0) << "something of them was lost";
      job.gradient.residuals = LostResiduals::rollback;
      loses_its_host(layout, "worker1", took / 2);
      ASSERT_FALSE(deaths.empty());
      EXPECT_NE(deaths.front().find("what error feedback kept of rank"), std::string::npos)
          << deaths.front();
    }
  }
}

TEST_F(JobRestartsTest, TheServersKnowTheScalersOfTheStepBefore) {
  const JobLayout layout{.servers = 2, .workers = 2};
  job.gradient.scaler = ScalerRule::last_step;
  for (const bool buckets : {false, true}) {
    job.gradient.buckets = buckets;
    calm(layout);
    for (int tenth = 1; tenth < 10; ++tenth) disturbed(layout, "worker0", tenth / 10.0);
  }
}

TEST_F(JobRestartsTest, OfRanksThatTakeTurnsEachFindsItsOwn) {
  job.gradient.error_feedback = true;
  const JobLayout layout{.servers = 2, .workers = 2, .ranks_per_worker = 3, .cores = 2};
  for (const ScalerRule rule : {ScalerRule::own, ScalerRule::mean, ScalerRule::last_step}) {
    job.gradient.scaler = rule;
    calm(layout);
    for (int tenth = 1; tenth < 10; ++tenth) disturbed(layout, "worker0", tenth / 10.0);
  }
}

TEST_F(JobRestartsTest, AWorkerThatIsLostAtEachOfManyMomentsOfAStepLosesNothing) {
  job.gradient.error_feedback = true;
  job.gradient.scaler = ScalerRule::last_step;
  const JobLayout layout{.servers = 2, .workers = 2, .ranks_per_worker = 2};
  calm(layout);
  for (int i = 0; i < 60; ++i) {
    disturbed(layout, "worker1", 0.5 + i / 60.0 / 15, Duration(1));  // two steps of thirty
  }
}

TEST_F(JobRestartsTest, AWorkerThatPushesItsRanksAverageGoesOnWithTheSameOne) {
  job.hidden = {20};
  job.gradient.host = HostRule::average;
  job.gradient.error_feedback = true;
  job.gradient.check_every = 3;
  const JobLayout layout{.servers = 2, .workers = 2, .ranks_per_worker = 3, .cores = 2};
  for (const ScalerRule rule : {ScalerRule::own, ScalerRule::shared, ScalerRule::last_step}) {
    job.gradient.scaler = rule;
    job.gradient.down = rule == ScalerRule::shared ? Down::average : Down::parameters;
    calm(layout);
    for (int i = 0; i < 5; ++i) {
      disturbed(layout, i % 2 == 0 ? "worker1" : "worker0", 0.1 + i / 6.0, Duration(1));
    }
  }
}

TEST_F(JobRestartsTest, WorkersThatAreLostAgainAndAgainKeepWhatTheyHad) {
  job.gradient.error_feedback = true;
  const JobLayout layout{.servers = 2, .workers = 2, .ranks_per_worker = 2};
  for (const ScalerRule rule : {ScalerRule::shared, ScalerRule::last_step}) {
    job.gradient.scaler = rule;
    calm(layout);
    launch(layout);
    for (int i = 0; i < 25; ++i) {
      pass(took / 40);
      for (const char* name : {"worker0", "worker1"}) lose(name);
      pass(1ms);
      for (const char* name : {"worker1", "worker0"}) bring_back(name);
    }
    finish();
    for (const std::string& death : deaths) ADD_FAILURE() << death;
    ASSERT_TRUE(record.finished);
    EXPECT_EQ(record.finished->parameters_sha256, hash);
  }
}

TEST_F(JobRestartsTest, AWorkerIsLostOfAJobThatGoesOnFromACheckpoint) {
  const TemporaryFolder folder;
  job.gradient.error_feedback = true;
  job.gradient.scaler = ScalerRule::last_step;
  job.checkpoint.every_steps = 10;
  job.checkpoint.keep = 10;
  job.checkpoint.folder = folder.path();
  JobLayout layout{.servers = 2, .workers = 2};
  ASSERT_FALSE(hash_of(layout).empty());
  const Result<Manifest> manifest = read_manifest((folder / checkpoint_name(10)).string());
  ASSERT_TRUE(manifest.ok()) << manifest.error().message;
  job.first_step = manifest->step;
  job.first_position = manifest->position;
  job.resumes = true;
  layout.resume = (folder / checkpoint_name(10)).string();
  job.checkpoint = {};
  calm(layout);
  // From where nothing is restored yet.
  for (int twentieth = 0; twentieth < 20; ++twentieth) {
    disturbed(layout, "worker0", twentieth / 20.0);
  }
}

TEST_F(JobRestartsTest, CheckpointsAreMadeOfWhatRanksThatGoOnHave) {
  const TemporaryFolder folder;
  job.gradient.error_feedback = true;
  job.checkpoint.every_steps = 5;
  job.checkpoint.keep = 10;
  job.checkpoint.folder = (folder / "calm").string();
  const JobLayout layout{.servers = 2, .workers = 2};
  calm(layout);
  ASSERT_EQ(kept->made, 6U);
  const auto parts = [&](std::uint64_t step) {
    std::vector<Hash> hashes;
    const auto manifest = read_manifest(job.checkpoint.folder + "/" + checkpoint_name(step));
    if (manifest) {
      for (const Manifest::Part& part : manifest->parts) hashes.push_back(part.hash);
    }
    return hashes;
  };
  std::map<std::uint64_t, std::vector<Hash>> expected;
  for (std::uint64_t step = 5; step <= 30; step += 5) expected[step] = parts(step);
  for (int twentieth = 1; twentieth < 20; ++twentieth) {
    job.checkpoint.folder = (folder / std::to_string(twentieth)).string();
    disturbed(layout, "worker0", twentieth / 20.0);
    // One may be lost with the worker that was writing it; the others are the same.
    EXPECT_GE(kept->made, 5U) << twentieth;
    EXPECT_EQ(kept->made + kept->skipped, 6U) << twentieth;
    EXPECT_EQ(kept->last, 30U);
    for (const auto& [step, hashes] : expected) {
      const std::vector<Hash> found = parts(step);
      EXPECT_TRUE(found.empty() || found == hashes) << twentieth << ", " << step;
    }
  }
}

TEST_F(JobRestartsTest, VersionsThatAreNamedWhileAWorkerIsAwayAreKeptOrSaidNotToBe) {
  const TemporaryFolder folder;
  job.gradient.error_feedback = true;
  job.checkpoint.every_seconds = 1e-4;  // of the virtual clock: some steps take as long
  job.checkpoint.keep = 10;
  job.checkpoint.folder = folder.path();
  const JobLayout layout{.servers = 2, .workers = 2};
  calm(layout);
  for (int tenth = 1; tenth < 10; ++tenth) {
    disturbed(layout, "worker0", tenth / 10.0, 10ms);
    EXPECT_EQ(kept->last, 30U);
  }
}

TEST_F(JobRestartsTest, WhatAWorkerAloneHadIsNotMadeUp) {
  job.gradient.error_feedback = true;
  const JobLayout layout{.workers = 2};
  calm(layout);
  launch(layout);
  pass(took / 2);
  lose("worker1");
  host_memory.forget("worker1");  // as if its host had kept nothing
  pass(1ms);
  bring_back("worker1");
  finish();
  ASSERT_FALSE(deaths.empty());
  EXPECT_NE(deaths[0].find("what error feedback kept of rank 1 was lost"), std::string::npos)
      << deaths[0];
}

TEST_F(JobRestartsTest, MomentsOfNormalizedBatchesAndWhatIsLeftOfGradientsGoTogether) {
  job.net = "resnet_20";
  job.hidden.clear();
  job.steps = 4;
  job.batch = 2;
  job.gradient.error_feedback = true;
  const JobLayout layout{.servers = 2, .workers = 2};
  calm(layout);
  for (int fifth = 1; fifth < 5; ++fifth) disturbed(layout, "worker1", fifth / 5.0, 1ms);
}

}  // namespace
}  // namespace sterna::actors
