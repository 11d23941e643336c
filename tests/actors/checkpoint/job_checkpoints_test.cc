// Whole jobs that are kept beside training and gone on from: with the same ranks the same bits as
// without a break, whatever optimizer, codec and way down, and however many servers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "actors/checkpoint/state_part.h"
#include "kernels/device/host_device.h"
#include "kernels/optimizer/moving_average.h"
#include "runtime/base/full_disk.h"
#include "tests/actors/simulated_job.h"

namespace sterna::actors {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Way {
  std::string name;
  std::string optimizer = "momentum";
  Down down = Down::parameters;
  ScalerRule scaler = ScalerRule::own;
  bool error_feedback = false;
  double average_decay = 0;
  std::string codec = "ternary";
  bool buckets = false;
  std::vector<std::string> train_only = {};
};

void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

class JobCheckpoints : public SimulatedJob, public testing::WithParamInterface<Way> {
 protected:
  JobCheckpoints() {
    folder_ = fs::path(testing::TempDir()) / ("sterna-checkpoints-" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    job.steps = 12;
    job.evaluation.every = 4;
    job.checkpoint.every_steps = 4;
    job.checkpoint.keep = 10;
    job.checkpoint.folder = folder_.string();
  }
  ~JobCheckpoints() override { fs::remove_all(folder_); }

  std::string at(std::uint64_t step) const { return (folder_ / checkpoint_name(step)).string(); }
  /// The final hash of the job that goes on from there.
  std::string resumed(std::uint64_t step, JobLayout layout) {
    const JobConfig before = job;
    const Manifest manifest = read_manifest(at(step)).value();
    job.first_step = manifest.step;
    job.first_position = manifest.position;
    job.resumes = true;
    layout.resume = at(step);
    const std::string hash = hash_of(layout);
    job = before;
    return hash;
  }

  std::vector<float> fc1_at(std::uint64_t step, std::string_view kind) const {
    const SavedState state = SavedState::open(open_checkpoint(at(step)).value()).value();
    const std::string array = array_of(kind, "fc1/weights");
    const Bytes bytes = state.read(array, 0, state.count(array)).value();
    std::vector<float> read(bytes.size() / sizeof(float));
    std::memcpy(read.data(), bytes.data(), bytes.size());
    return read;
  }

  fs::path folder_;
};

TEST_P(JobCheckpoints, GoOnAsIfNothingHadBeen) {
  const Way& way = GetParam();
  job.optimizer.name = way.optimizer;
  job.optimizer.average_decay = way.average_decay;
  if (way.optimizer == "adam") job.optimizer.learning_rate = 1e-3;
  job.gradient.down = way.down;
  job.gradient.scaler = way.scaler;
  job.gradient.error_feedback = way.error_feedback;
  job.gradient.codec = way.codec;
  job.gradient.buckets = way.buckets;
  job.init.train_only = way.train_only;
  const JobLayout layout{.servers = 1, .workers = 2};
  const std::string hash = hash_of(layout);
  ASSERT_FALSE(hash.empty());
  EXPECT_EQ(kept->made, 3U);
  EXPECT_THAT(kept->said, ElementsAre());
  EXPECT_EQ(resumed(4, layout), hash);
  EXPECT_EQ(resumed(8, {.servers = 3, .readers = 2, .workers = 1, .ranks_per_worker = 2}), hash);
  // Nor do checkpoints change what is trained.
  job.checkpoint.every_steps = 0;
  EXPECT_EQ(hash_of(layout), hash);
  if (way.optimizer == "adam" && way.down != Down::parameters) return;  // no device steps by it yet
  job.checkpoint.every_steps = 4;
  JobLayout there = layout;
  there.device = [](std::uint32_t worker) { return kernels::make_host_device({.seed = worker}); };
  const std::string hash_there = hash_of(there);
  ASSERT_FALSE(hash_there.empty());
  EXPECT_EQ(resumed(8, there), hash_there);
}

INSTANTIATE_TEST_SUITE_P(
    Ways, JobCheckpoints,
    testing::Values(
        Way{.name = "momentum"}, Way{.name = "adam", .optimizer = "adam", .average_decay = 0.9},
        Way{.name = "gradient_descent", .optimizer = "gd", .codec = "none"},
        Way{.name = "error_feedback", .error_feedback = true},
        Way{.name = "error_feedback_of_bf16", .error_feedback = true, .codec = "bf16"},
        Way{.name = "last_step", .scaler = ScalerRule::last_step},
        Way{.name = "last_step_average",
            .optimizer = "adam",
            .down = Down::average,
            .scaler = ScalerRule::last_step,
            .error_feedback = true},
        Way{.name = "shared_average", .down = Down::average, .scaler = ScalerRule::shared},
        Way{.name = "ternary_down", .down = Down::ternary, .average_decay = 0.99},
        Way{.name = "bf16_down", .down = Down::parameters_bf16},
        Way{.name = "buckets", .scaler = ScalerRule::last_step, .buckets = true},
        Way{.name = "bf16_down_frozen",
            .down = Down::parameters_bf16,
            .train_only = {"fc2", "logits"}},
        Way{.name = "shared_average_frozen",
            .optimizer = "adam",
            .down = Down::average,
            .scaler = ScalerRule::shared,
            .average_decay = 0.9,
            .train_only = {"fc1/biases", "logits"}}),
    [](const auto& info) { return info.param.name; });

using JobCheckpointsTest = JobCheckpoints;

TEST_F(JobCheckpointsTest, AveragesOfAWorkersRanksGoOnWithWhatWasLeftOfThem) {
  job.gradient.host = HostRule::average;
  job.gradient.error_feedback = true;
  job.gradient.scaler = ScalerRule::last_step;
  const JobLayout layout{.workers = 2, .ranks_per_worker = 3, .cores = 2};
  const std::string hash = hash_of(layout);
  ASSERT_FALSE(hash.empty());
  EXPECT_EQ(kept->made, 3U);
  EXPECT_EQ(resumed(4, layout), hash);
  EXPECT_EQ(resumed(8, {.servers = 3, .workers = 2, .ranks_per_worker = 3}), hash);
  // To ranks that push by themselves that is nothing that they left.
  job.gradient.host = HostRule::each;
  resumed(8, layout);
  EXPECT_THAT(log, testing::Contains(testing::HasSubstr("no residuals of rank 0")));
}

// Where a rank's steps come out the same each time: all make each version, or there is but one.
TEST_F(JobCheckpointsTest, RanksThatStepByThemselvesGoOnAsIfNothingHadBeen) {
  struct Case {
    const char* scheme;
    std::uint64_t window;
    const char* local;
    std::uint32_t ranks;
  };
  for (const Case& one : {Case{"sagn", 3, "adam", 2}, Case{"local_sgd", 3, "momentum", 2},
                          Case{"async", 1, "gd", 1}, Case{"downpour", 2, "momentum", 1}}) {
    job.scheme.name = one.scheme;
    job.scheme.window = one.window;
    job.local_optimizer.name = one.local;
    job.local_optimizer.learning_rate = one.local == std::string("adam") ? 1e-3 : 1e-2;
    job.gradient.error_feedback = !job.gradient.error_feedback;
    fs::remove_all(folder_);
    const std::string hash = hash_of({.workers = one.ranks});
    ASSERT_FALSE(hash.empty()) << one.scheme;
    EXPECT_EQ(kept->made, 3U) << one.scheme;
    EXPECT_EQ(resumed(4, {.workers = one.ranks}), hash) << one.scheme;
    EXPECT_EQ(resumed(8, {.servers = 3, .workers = 1, .ranks_per_worker = one.ranks}), hash)
        << one.scheme;
  }
}

// What it pulls first is rounded as it was for one that went on.
TEST_F(JobCheckpointsTest, ParametersComeRoundedToRanksThatStepByThemselvesAndGoOn) {
  job.gradient.down = Down::parameters_bf16;
  job.scheme.window = 2;
  job.local_optimizer.learning_rate = 1e-2;
  for (const char* scheme : {"sagn", "local_sgd", "downpour", "aeasgd"}) {
    job.scheme.name = scheme;
    fs::remove_all(folder_);
    const std::uint32_t ranks = job.facts().together ? 2 : 1;
    const std::string hash = hash_of({.workers = ranks});
    EXPECT_EQ(resumed(4, {.servers = 2, .workers = ranks}), hash) << scheme;
  }
  const std::string rounded = hash_of({.workers = 1});
  job.gradient.down = Down::parameters;
  EXPECT_NE(hash_of({.workers = 1}), rounded) << "of an elastic rank";
}

TEST_F(JobCheckpointsTest, AnElasticRankAloneGoesOnAsIfNothingHadBeen) {
  job.scheme.window = 3;
  job.local_optimizer.learning_rate = 1e-2;
  for (const char* scheme : {"aeasgd", "aeamsgd"}) {
    job.scheme.name = scheme;
    job.local_optimizer.name = scheme == std::string("aeasgd") ? "momentum" : "gd";
    fs::remove_all(folder_);
    const std::string hash = hash_of({.workers = 1});
    ASSERT_FALSE(hash.empty());
    EXPECT_EQ(resumed(4, {.workers = 1}), hash) << scheme;
    EXPECT_EQ(resumed(8, {.servers = 2, .readers = 2, .workers = 1}), hash) << scheme;
  }
}

TEST_F(JobCheckpointsTest, AnElasticRanksStatisticsOfAWindowGoOnToo) {
  job.net = "resnet_20";
  job.hidden.clear();
  job.batch = 1;
  job.steps = 4;
  job.evaluation = {.every = 0, .examples = 8, .batch = 8};
  job.checkpoint.every_steps = 2;
  job.scheme.name = "aeasgd";
  job.scheme.window = 2;
  const std::string hash = hash_of({.workers = 1});
  ASSERT_FALSE(hash.empty());
  EXPECT_EQ(resumed(2, {.workers = 1}), hash);
}

TEST_F(JobCheckpointsTest, ElasticRanksGoOnWithParametersOfTheirOwn) {
  job.steps = 40;
  job.checkpoint.every_steps = 20;
  job.scheme.window = 2;
  job.local_optimizer.learning_rate = 1e-2;
  for (const char* scheme : {"aeasgd", "aeamsgd"}) {
    job.scheme.name = scheme;
    fs::remove_all(folder_);
    ASSERT_FALSE(hash_of({.workers = 2}).empty());
    // What the servers have of a tensor is not what a rank has.
    const SavedState state = SavedState::open(open_checkpoint(at(20)).value()).value();
    const std::string own = array_of(local_state(1, "own"), "logits/weights");
    const Bytes rank = state.read(own, 0, 10).value();
    const Bytes server = state.read(array_of(kParameterState, "logits/weights"), 0, 10).value();
    EXPECT_FALSE(std::ranges::equal(rank.view(), server.view())) << scheme;
    const double start = record.progress.front().loss;
    EXPECT_FALSE(resumed(20, {.servers = 2, .workers = 2}).empty()) << scheme;
    EXPECT_LT(record.progress.front().loss, 0.5 * start) << scheme;
    EXPECT_THAT(log, testing::Not(testing::Contains(HasSubstr("start anew"))));
  }
}

TEST_F(JobCheckpointsTest, AFolderWithoutItsManifestIsNoCheckpoint) {
  hash_of({.servers = 2, .workers = 2});
  fs::remove(fs::path(at(12)) / kManifestFile);
  EXPECT_EQ(open_checkpoint(folder_.string()).value().manifest.step, 8U);
  EXPECT_THAT(open_checkpoint(at(12)).error().message, HasSubstr("was never finished"));
  // A shard is missing.
  fs::remove(fs::path(at(8)) / "server1.safetensors");
  EXPECT_EQ(open_checkpoint(folder_.string()).value().manifest.step, 4U);
  EXPECT_THAT(open_checkpoint(at(8)).error().message, HasSubstr("server1.safetensors"));
}

TEST_F(JobCheckpointsTest, AFlippedByteIsFound) {
  hash_of({.workers = 2});
  const SavedCheckpoint saved = open_checkpoint(at(12)).value();
  EXPECT_TRUE(check_parts(saved, true).ok());
  const fs::path part = fs::path(at(12)) / "server0.safetensors";
  std::fstream file(part, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-9, std::ios::end);
  file.put('\x7f');
  file.close();
  EXPECT_TRUE(check_parts(saved, false).ok());
  EXPECT_THAT(check_parts(saved, true).error().message, HasSubstr("not those that were written"));
}

TEST_F(JobCheckpointsTest, OnlyTheNewestStayAndTheBest) {
  job.checkpoint.keep = 1;
  hash_of({.workers = 2});
  ASSERT_EQ(find_checkpoints(folder_.string()).size(), 1U);
  EXPECT_EQ(find_checkpoints(folder_.string()).front().step, 12U);
}

TEST_F(JobCheckpointsTest, APartThatCannotBeWrittenMakesNoneAndTrainingGoesOn) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / checkpoint_name(8)) << "in the way";
  const std::string hash = hash_of({.workers = 2});
  EXPECT_FALSE(hash.empty());
  EXPECT_EQ(kept->made, 2U);
  ASSERT_EQ(kept->said.size(), 1U);
  EXPECT_THAT(kept->said.front(), HasSubstr("no checkpoint of step 8: "));
}

TEST_F(JobCheckpointsTest, OnAFullDiskTrainingGoesOnAndTheCheckpointBeforeStays) {
  const JobLayout layout{.servers = 2, .workers = 2};
  const std::string hash = hash_of(layout);
  fs::remove_all(at(8));
  fs::remove_all(at(12));
  std::string resumed_hash;
  {
    const FullDisk full(4096);
    resumed_hash = resumed(4, layout);
  }
  EXPECT_EQ(resumed_hash, hash);
  EXPECT_EQ(kept->made, 0U);
  ASSERT_EQ(kept->said.size(), 2U);
  EXPECT_THAT(kept->said.front(),
              AllOf(HasSubstr("no checkpoint of step 8: "), HasSubstr("File too large")));
  EXPECT_EQ(open_checkpoint(folder_.string()).value().manifest.step, 4U);
  EXPECT_FALSE(fs::exists(at(8)));
  EXPECT_FALSE(fs::exists(at(12)));
}

TEST_F(JobCheckpointsTest, WithoutItsManifestNothingOfItStays) {
  fs::create_directories(fs::path(at(8)) / kManifestFile);  // in the way
  EXPECT_FALSE(hash_of({.workers = 2}).empty());
  EXPECT_EQ(kept->made, 2U);
  EXPECT_THAT(kept->said, ElementsAre(HasSubstr("no checkpoint of step 8: cannot write ")));
  EXPECT_FALSE(fs::exists(at(8)));
}

TEST_F(JobCheckpointsTest, OtherNumbersOfRanksGoOnToo) {
  job.gradient.error_feedback = true;
  hash_of({.workers = 2});
  job.ranks = 3;
  EXPECT_FALSE(resumed(4, {.workers = 3}).empty());
  job.ranks = 1;
  EXPECT_FALSE(resumed(4, {.workers = 1}).empty());
  EXPECT_THAT(deaths, ElementsAre());
}

// Adam corrects that its slots begin at 0. Where they do at a later step, it counts from there, and
// goes on to do so.
TEST_F(JobCheckpointsTest, SlotsThatItLacksBeginThereAndGoOnFromThere) {
  job.optimizer.schedule = "fixed";
  hash_of({.workers = 2});
  job.optimizer.name = "adam";
  job.optimizer.learning_rate = 1e-3;
  job.gradient.codec = "none";
  for (const ExchangeRule exchange : {ExchangeRule::servers, ExchangeRule::nccl}) {
    job.gradient.exchange = exchange;
    JobLayout layout{.workers = 1, .ranks_per_worker = 2};
    if (exchange == ExchangeRule::nccl) {
      layout.device = [](std::uint32_t) { return kernels::make_host_device({.late = false}); };
    }
    job.steps = 5;
    resumed(4, layout);
    // The first step of Adam moves by the rate, wherever the gradient is no rounding error.
    const std::vector<float> before = fc1_at(4, kParameterState);
    const std::vector<float> after = fc1_at(5, kParameterState);
    double most = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      most = std::max(most, double{std::abs(after[i] - before[i])});
    }
    EXPECT_NEAR(most, 1e-3, 1e-5);
    job.steps = 12;
    const std::string hash = resumed(4, layout);
    EXPECT_EQ(resumed(8, layout), hash);
  }
}

TEST_F(JobCheckpointsTest, AveragesThatItLacksBeginAtItsParameters) {
  hash_of({.workers = 2});
  job.steps = 5;
  job.optimizer.average_decay = 0.9;
  const float part = kernels::average_part(0.9, 4);
  for (const ExchangeRule exchange : {ExchangeRule::servers, ExchangeRule::nccl}) {
    job.gradient.exchange = exchange;
    const bool within = exchange == ExchangeRule::nccl;
    fs::remove_all(at(5));
    resumed(4, {.servers = within ? 1U : 2U, .workers = 1, .ranks_per_worker = 2});
    const std::vector<float> before = fc1_at(4, kParameterState);
    const std::vector<float> after = fc1_at(5, kParameterState);
    const std::vector<float> average = fc1_at(5, kAverageState);
    for (std::size_t i = 0; i < average.size(); ++i) {
      ASSERT_NEAR(average[i], before[i] + part * (after[i] - before[i]), 1e-6) << within << i;
    }
  }
}

TEST_F(JobCheckpointsTest, OfASecondAVersionIsNamedAhead) {
  job.checkpoint.every_steps = 0;
  job.checkpoint.every_seconds = 1e-4;  // of the virtual clock: some steps take as long
  job.steps = 40;
  const std::string hash = hash_of({.servers = 2, .workers = 2});
  EXPECT_GT(kept->made, 1U);
  const auto found = find_checkpoints(folder_.string());
  ASSERT_GT(found.size(), 1U);
  EXPECT_EQ(resumed(found.front().step, {.workers = 2}), hash);
}

TEST_F(JobCheckpointsTest, OneThatIsAskedForIsOfAnEarlyVersionThatAllCanKeep) {
  job.checkpoint.every_steps = 1000;  // none but the last is due
  job.steps = 40;
  const JobLayout layout{.servers = 2, .workers = 2};
  const std::string hash = hash_of(layout);
  for (const bool feedback : {false, true}) {  // which ranks have to keep, too
    job.gradient.error_feedback = feedback;
    const std::string expected = feedback ? hash_of(layout) : hash;
    fs::remove_all(folder_);
    *kept = {};
    launch(layout);
    loop.run_until([this] { return !record.progress.empty(); }, kNever);
    ASSERT_TRUE(kept->keep_soon);
    kept->keep_soon();
    finish();
    ASSERT_GT(kept->soon, 0U);
    ASSERT_LT(kept->soon, job.steps);
    EXPECT_EQ(kept->made, 2U) << "that, and the last";
    EXPECT_EQ(resumed(kept->soon, layout), expected);
  }
}

TEST_F(JobCheckpointsTest, AServerThatIsAwayForLongIsNoFailureOfTheKeepers) {
  job.init.train_only = {"logits"};  // servers of which no step changes anything are told
  job.deadlines.start = job.deadlines.step = std::chrono::seconds(2);
  launch({.servers = 2, .workers = 2, .replicas = true});
  loop.run_until([this] { return !record.progress.empty(); }, kNever);
  lose("server0");
  pass(std::chrono::minutes(1));
  EXPECT_THAT(deaths, ElementsAre());
  bring_back("server0");
  finish();
  EXPECT_THAT(deaths, ElementsAre());
  EXPECT_TRUE(record.finished);
  EXPECT_TRUE(kept->over);
  EXPECT_THAT(log, testing::Contains(HasSubstr("server0 is not told yet to keep step 4: ")));
}

TEST_F(JobCheckpointsTest, AWorkerThatGoesOnWithoutItsResidualsLeavesItsPartAsItIs) {
  job.gradient.error_feedback = true;
  job.gradient.residuals = LostResiduals::zero;
  network.set_delay([](const std::string& from, const std::string& to) {
    return std::chrono::milliseconds(from == "worker1" && to == "server0" ? 100 : 0);
  });
  launch({.workers = 2});
  loop.run_until([this] { return kept->last == 4; }, kNever);
  lose("worker1");
  host_memory.forget("worker1");
  bring_back("worker1");
  finish();
  EXPECT_THAT(deaths, ElementsAre());
  ASSERT_EQ(record.without.size(), 1U);
  EXPECT_EQ(record.without.front().step, 4U) << "else it writes no part of that version anyway";
  const Result<SavedCheckpoint> saved = open_checkpoint(at(4));
  EXPECT_TRUE(saved.ok()) << saved.error().message;
}

TEST_F(JobCheckpointsTest, OwnSlotsOfARankThatItLacksBeginThere) {
  job.scheme.name = "local_sgd";
  job.scheme.window = 3;
  job.gradient.codec = "none";
  job.local_optimizer.learning_rate = 1e-3;
  hash_of({.workers = 2});
  job.local_optimizer.name = "adam";
  const auto begin_at = [this](std::uint64_t step, std::uint32_t rank) {
    const SavedState state = SavedState::open(open_checkpoint(at(step)).value()).value();
    std::array<float, 2> note{};
    const Bytes bytes = state.read(local_slots_begin_state(rank), 0, 2).value();
    std::memcpy(note.data(), bytes.data(), bytes.size());
    return step_of(note);
  };
  const std::string hash = resumed(4, {.workers = 2});
  for (const std::uint32_t rank : {0U, 1U}) {
    EXPECT_EQ(begin_at(8, rank), 12U) << "of its own: three for each version";
  }
  EXPECT_EQ(resumed(8, {.workers = 2}), hash);
  resumed(4, {.workers = 2});
  job.scheme.window = 1;
  resumed(8, {.workers = 2});
  for (const std::uint32_t rank : {0U, 1U}) {
    EXPECT_EQ(begin_at(12, rank), 8U) << "it has not come by its own step 12 yet";
  }
}

TEST_F(JobCheckpointsTest, OwnSlotsOfTensorsThatWereNotTrainedShareTheCountOfTheOthers) {
  job.scheme.name = "local_sgd";
  job.scheme.window = 3;
  job.gradient.codec = "none";
  job.local_optimizer.name = "adam";
  job.local_optimizer.learning_rate = 1e-3;
  job.init.train_only = {"logits"};
  hash_of({.workers = 2});
  job.init.train_only.clear();
  resumed(4, {.workers = 2});
  EXPECT_THAT(log, testing::Contains(HasSubstr("some of its slots start anew")));
  const SavedState state = SavedState::open(open_checkpoint(at(8)).value()).value();
  EXPECT_EQ(state.count(local_slots_begin_state(0)), 0U) << "the logits' have come by 12 steps";
}

TEST_F(JobCheckpointsTest, ElasticRanksKeepTheirParametersWithAnotherOptimizer) {
  job.steps = 40;
  job.checkpoint.every_steps = 20;
  job.scheme.name = "aeasgd";
  job.scheme.window = 2;
  job.scheme.moving_rate = 1e-6;  // the servers' stay where they were
  job.local_optimizer.learning_rate = 1e-2;
  hash_of({.workers = 2});
  const double start = record.progress.front().loss;
  job.local_optimizer.name = "adagrad";
  resumed(20, {.workers = 2});
  EXPECT_LT(record.progress.front().loss, 0.5 * start);
  EXPECT_THAT(log,
              testing::Contains(HasSubstr("rank 1 has of its own steps: its slots start anew")));
}

TEST_F(JobCheckpointsTest, OnlyItsKeeperNamesVersions) {
  job.scheme.name = "local_sgd";
  launch({.workers = 2});
  loop.run_until([this] { return !record.progress.empty(); }, kNever);
  Process& stranger = *process_of("reader0").process;
  for (const char* name : {"server0", "worker0"}) {
    std::vector<std::string> blamed;
    process_of(name).process->set_on_link_end(
        [&](const Contact&, const std::string& cause, bool fault) {
          if (fault) blamed.push_back(cause);
        });
    const ActorRef<ParameterServerInterface> there{ref_of(name).id};
    auto asking = stranger.ask(there, KeepVersion{9}, std::chrono::seconds(10));
    const auto answer = stranger.wait(std::move(asking));
    EXPECT_FALSE(answer && answer->kept) << name;
    EXPECT_THAT(blamed, ElementsAre(HasSubstr("only the keeper of checkpoints"))) << name;
  }
}

TEST_F(JobCheckpointsTest, ACheckpointOfAnotherNetIsRefused) {
  hash_of({.workers = 2});
  job.first_step = 4;
  job.resumes = true;
  job.hidden = {200, 60};
  launch({.workers = 2, .resume = at(4)});
  finish();
  ASSERT_FALSE(deaths.empty());
  EXPECT_THAT(deaths.front(), HasSubstr("going on from a checkpoint"));
}

}  // namespace
}  // namespace sterna::actors
