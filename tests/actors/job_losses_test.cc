// Workers of schemes whose ranks do not go in step are lost at any moment and come again: the job
// makes all its versions, each of as many packets as the scheme wants, and no packet counts twice.
#include <gtest/gtest.h>

#include <algorithm>

#include "actors/checkpoint/manifest.h"
#include "actors/checkpoint/state_part.h"
#include "kernels/device/host_device.h"
#include "launcher/simulate/packet_ledger.h"
#include "tests/actors/simulated_job.h"
#include "tests/sanitized.h"
#include "tests/temporary_folder.h"

namespace sterna::actors {
namespace {

using namespace std::chrono_literals;

class JobLossesTest : public SimulatedJob {
 protected:
  JobLossesTest() {
    job.hidden = {100};  // a tensor of two chunks, on two servers
    job.steps = 40;
  }
  ~JobLossesTest() override {  // the job may outlive what these use
    network.set_delay(nullptr);
    network.set_on_message(nullptr);
  }
  /// How long the job takes that nobody disturbs.
  void calm(const JobLayout& layout) {
    const Time began = loop.now();
    ASSERT_FALSE(hash_of(layout).empty()) << job.scheme.name;
    took = loop.now() - began;
  }
  void begin(const JobLayout& layout) {
    job.ranks = layout.workers * layout.ranks_per_worker;
    ledger.emplace(job);
    network.set_on_message(
        [this](const std::string& from, const std::string& to, const std::vector<Bytes>& frames) {
          ledger->saw(from, to, frames);
        });
    log.clear();
    launch(layout);
  }
  void delay_messages() {
    network.set_delay([this](const std::string&, const std::string&) {
      return Duration(static_cast<std::int64_t>(delays.below(1'000'000)));
    });
  }
  void pass_part(double part) {
    pass(Duration(static_cast<std::int64_t>(static_cast<double>(took.count()) * part)));
  }
  void lose_and_bring_back(const std::string& name, Duration pause) {
    lose(name);
    pass(pause);
    bring_back(name);
  }
  /// All that such a job promises.
  void end() {
    finish();
    network.set_on_message(nullptr);
    for (const std::string& death : deaths) ADD_FAILURE() << job.scheme.name << ": " << death;
    ASSERT_TRUE(record.finished) << job.scheme.name;
    EXPECT_EQ(record.evaluated.back().step, job.steps);
    for (const WorkerDone& done : record.done) EXPECT_EQ(done.steps, job.steps);
    for (const std::string& fault : ledger->faults(true)) {
      ADD_FAILURE() << job.scheme.name << ": " << fault;
    }
  }
  /// `name` is lost after a part of the time; false: that moment was left out.
  bool disturbed(const JobLayout& layout, const std::string& name, double part,
                 Duration pause = 20ms) {
    if (moments.leaves_out()) return false;
    SCOPED_TRACE(name + " at " + std::to_string(part));
    begin(layout);
    pass_part(part);
    lose_and_bring_back(name, pause);
    end();
    return true;
  }
  bool said(const std::string& words) const {
    return std::ranges::any_of(
        log, [&](const std::string& line) { return line.find(words) != std::string::npos; });
  }

  SeededRandom delays{1};
  Duration took{};
  test::Moments moments;
  std::optional<launcher::PacketLedger> ledger;
};

TEST_F(JobLossesTest, AWorkerBelowAQuorumIsLostAndItsRankGoesOnInTheNextOne) {
  job.scheme.quorum = 2;
  const JobLayout layout{.servers = 2, .workers = 3};
  for (const char* codec : {"ternary", "none"}) {
    for (const ScalerRule rule : {ScalerRule::own, ScalerRule::last_step}) {
      job.gradient.codec = codec;
      job.gradient.scaler = rule;
      calm(layout);
      for (int ninth = 1; ninth < 9; ++ninth) disturbed(layout, "worker1", ninth / 9.0);
    }
  }
}

TEST_F(JobLossesTest, NobodyWaitsForWhomTheQuorumDoesNotNeed) {
  job.scheme.quorum = 2;
  const JobLayout layout{.servers = 2, .workers = 3};
  calm(layout);
  begin(layout);
  pass_part(0.3);
  lose("worker1");
  // The others make all that is left of the versions.
  loop.run_until([this] { return record.finished.has_value(); }, loop.now() + 10 * took);
  EXPECT_TRUE(record.finished);
  bring_back("worker1");
  end();
}

TEST_F(JobLossesTest, MoreThanAQuorumCanDoWithoutAreWaitedFor) {
  job.scheme.quorum = 2;
  const JobLayout layout{.servers = 2, .workers = 3};
  calm(layout);
  begin(layout);
  pass_part(0.3);
  for (const char* name : {"worker0", "worker1"}) lose(name);
  pass(20 * took);
  EXPECT_FALSE(record.finished);
  for (const char* name : {"worker0", "worker1"}) bring_back(name);
  end();
}

TEST_F(JobLossesTest, AsynchronousRanksAreLostAndGoOn) {
  job.scheme.name = "async";
  const JobLayout layout{.servers = 2, .workers = 2, .ranks_per_worker = 2};
  test::Few ways(5);
  for (const StalenessWeight weight : {StalenessWeight::none, StalenessWeight::inverse}) {
    for (const std::int64_t most : {-1, 0, 2}) {
      for (const bool feedback : {false, true}) {
        if (ways.leaves_out()) continue;
        job.scheme.staleness_weight = weight;
        job.scheme.max_staleness = most;
        job.gradient.error_feedback = feedback;
        calm(layout);
        for (int fifth = 1; fifth < 5; ++fifth) disturbed(layout, "worker1", fifth / 5.0);
      }
    }
  }
}

TEST_F(JobLossesTest, AtTheBoundOfStalenessTheOthersWaitForALostRankAndGoOn) {
  job.scheme.name = "async";
  job.scheme.max_staleness = 1;
  const JobLayout layout{.workers = 2};
  calm(layout);
  begin(layout);
  pass_part(0.4);
  lose("worker1");
  pass(20 * took);
  EXPECT_FALSE(record.finished);
  bring_back("worker1");
  end();
}

TEST_F(JobLossesTest, ARankThatKeepsNothingBeginsItsWindowAnew) {
  job.scheme.window = 3;
  job.steps = 12;
  job.local_optimizer.name = "gd";
  const JobLayout layout{.servers = 2, .workers = 2, .ranks_per_worker = 2};
  for (const char* name : {"downpour", "agn", "sagn", "local_sgd"}) {
    for (const bool feedback : {false, true}) {
      job.scheme.name = name;
      job.gradient.error_feedback = feedback;
      calm(layout);
      for (int tenth = 1; tenth < 10; ++tenth) disturbed(layout, "worker1", tenth / 10.0);
    }
  }
}

TEST_F(JobLossesTest, RoundedParametersAndTensorsThatAreNotTrainedAreThereInTheNextOne) {
  job.gradient.down = Down::parameters_bf16;
  job.init.train_only = {"fc2/*"};
  const JobLayout layout{.servers = 2, .workers = 3};
  for (const char* name : {"async", "sync"}) {
    job.scheme.name = name;
    job.scheme.quorum = name == std::string("sync") ? 2 : 0;
    calm(layout);
    for (int fifth = 1; fifth < 5; ++fifth) disturbed(layout, "worker1", fifth / 5.0);
  }
}

TEST_F(JobLossesTest, AWorkerThatIsLostAtEachOfManyMomentsOfAStepLosesNothing) {
  job.gradient.error_feedback = true;
  const JobLayout layout{.servers = 2, .workers = 3, .ranks_per_worker = 2};
  delay_messages();  // so that a push has come to one server sooner than to the other
  std::uint64_t repeated = 0;
  for (const char* name : {"sync", "async"}) {
    job.scheme.name = name;
    job.scheme.quorum = name == std::string("sync") ? 4 : 0;
    calm(layout);
    for (int i = 0; i < 60; ++i) {
      disturbed(layout, "worker1", 0.5 + i / 60.0 / 15, Duration(1));
      repeated += ledger->repeated();
    }
  }
  EXPECT_GT(repeated, 0U);
  EXPECT_TRUE(said("chunks from the worker before"));
}

TEST_F(JobLossesTest, AllWorkersAreLostTogetherAgainAndAgain) {
  const JobLayout layout{.servers = 2, .workers = 2, .ranks_per_worker = 2};
  job.gradient.error_feedback = true;
  for (const char* name : {"sync", "async"}) {
    job.scheme.name = name;
    job.scheme.quorum = name == std::string("sync") ? 3 : 0;
    calm(layout);
    begin(layout);
    for (int i = 0; i < 12; ++i) {
      pass_part(1 / 15.0);
      for (const char* worker : {"worker0", "worker1"}) lose(worker);
      pass(1ms);
      for (const char* worker : {"worker1", "worker0"}) bring_back(worker);
    }
    end();
  }
}

TEST_F(JobLossesTest, AWorkerThatIsDoneIsLostAndSaysAgainThatItIs) {
  job.scheme.name = "async";
  const JobLayout layout{.workers = 2};
  calm(layout);
  begin(layout);
  loop.run_until([this] { return !record.done.empty(); }, kNever);
  const std::string name = record.done.front().worker;
  record.done.clear();
  lose_and_bring_back(name, 1ms);
  end();
  EXPECT_TRUE(
      std::ranges::any_of(record.done, [&](const WorkerDone& one) { return one.worker == name; }));
}

TEST_F(JobLossesTest, WhatErrorFeedbackKeptIsFoundOrSaidToStartFromZero) {
  job.scheme.name = "async";
  job.gradient.error_feedback = true;
  const JobLayout layout{.workers = 2};
  calm(layout);
  disturbed(layout, "worker1", 0.5);
  EXPECT_TRUE(said("going on at push"));
  EXPECT_FALSE(said("go on without what error feedback kept"));
  begin(layout);
  pass_part(0.5);
  lose("worker1");
  host_memory.forget("worker1");  // as if its host had kept nothing
  bring_back("worker1");
  end();
  EXPECT_TRUE(said("1 ranks go on without what error feedback kept of them"));
}

TEST_F(JobLossesTest, WhatErrorFeedbackKeptOnADeviceIsFoundToo) {
  job.gradient.error_feedback = true;
  JobLayout layout{.servers = 2, .workers = 3};
  layout.device = [seed = std::uint64_t{0}](std::uint32_t) mutable {
    return kernels::make_host_device({.seed = ++seed});
  };
  for (const char* scheme : {"async", "sync"}) {  // packets that are late, and a quorum's
    job.scheme.name = scheme;
    if (scheme == std::string("sync")) job.scheme.quorum = 2;
    delay_messages();
    calm(layout);
    for (int fourth = 1; fourth < 4; ++fourth) disturbed(layout, "worker1", fourth / 4.0, 1ms);
    EXPECT_FALSE(said("go on without what error feedback kept"));
  }
}

TEST_F(JobLossesTest, CheckpointsGoOnWithTheNextWorker) {
  const TemporaryFolder folder;
  job.scheme.name = "async";
  job.gradient.error_feedback = true;
  job.checkpoint.every_steps = 5;
  job.checkpoint.keep = 10;
  const JobLayout layout{.servers = 2, .workers = 2, .ranks_per_worker = 2};
  delay_messages();
  job.checkpoint.folder = (folder / "calm").string();
  calm(layout);
  ASSERT_EQ(kept->last, 40U);
  std::uint64_t made = 0, due = 0;
  for (int twentieth = 1; twentieth < 20; ++twentieth) {
    job.checkpoint.folder = (folder / std::to_string(twentieth)).string();
    if (!disturbed(layout, "worker1", twentieth / 20.0, 1ms)) continue;
    EXPECT_EQ(kept->made + kept->skipped, 8U) << twentieth;
    made += kept->made;
    due += 8;
    EXPECT_EQ(kept->last, 40U) << twentieth;
  }
  EXPECT_GT(3 * made, due) << "most of what was due";
}

TEST_F(JobLossesTest, CheckpointsAreMadeWithoutWhoDoesNotComeAgain) {
  const TemporaryFolder folder;
  job.scheme.quorum = 2;
  job.gradient.error_feedback = true;
  job.checkpoint.every_steps = 5;
  job.checkpoint.keep = 10;
  const JobLayout layout{.servers = 2, .workers = 3};
  delay_messages();
  job.checkpoint.folder = (folder / "calm").string();
  calm(layout);
  test::Moments moments(4);
  for (int tenth = 1; tenth < 10; ++tenth) {
    if (moments.leaves_out()) continue;
    job.checkpoint.folder = (folder / std::to_string(tenth)).string();
    begin(layout);
    pass_part(tenth / 10.0);
    lose("worker1");
    kept->do_without("worker1");
    loop.run_until([this] { return record.finished && kept->over; }, loop.now() + 10 * took);
    EXPECT_TRUE(record.finished) << tenth;
    EXPECT_EQ(kept->last, 40U) << tenth;
    EXPECT_GE(kept->made, 6U) << tenth;
  }
}

TEST_F(JobLossesTest, AWorkerIsLostOfAJobThatGoesOnFromACheckpoint) {
  const TemporaryFolder folder;
  job.scheme.name = "async";
  job.gradient.error_feedback = true;
  job.checkpoint.every_steps = 20;
  job.checkpoint.folder = folder.path();
  JobLayout layout{.servers = 2, .workers = 2};
  calm(layout);
  const Result<Manifest> manifest = read_manifest((folder / checkpoint_name(20)).string());
  ASSERT_TRUE(manifest.ok()) << manifest.error().message;
  job.first_step = manifest->step;
  job.first_position = manifest->position;
  job.resumes = true;
  layout.resume = (folder / checkpoint_name(20)).string();
  job.checkpoint = {};
  calm(layout);
  for (int tenth = 0; tenth < 10; ++tenth) disturbed(layout, "worker0", tenth / 10.0);
}

TEST_F(JobLossesTest, RanksWithStateOfTheirOwnDoNotComeAgain) {
  job.ranks = 2;
  for (const char* name : {"aeasgd", "aeamsgd"}) {
    job.scheme.name = name;
    EXPECT_FALSE(job.workers_come_again()) << name;
  }
  job.scheme.name = "downpour";
  job.local_optimizer.name = "momentum";
  EXPECT_FALSE(job.workers_come_again());
  job.local_optimizer.name = "gd";
  EXPECT_TRUE(job.workers_come_again());
  job.scheme.name = "sagn";
  job.gradient.scaler = ScalerRule::shared;
  EXPECT_FALSE(job.workers_come_again());
}

}  // namespace
}  // namespace sterna::actors
