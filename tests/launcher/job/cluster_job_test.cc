// The whole cluster in this one process: launcher, coordinator, node and the job's actors as
// `sterna run` starts them, over the in-memory transport, on a virtual clock.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "launcher/cluster_file/cluster_file.h"
#include "launcher/hosts/host_plan.h"
#include "launcher/job/job_plan.h"
#include "launcher/program_registry.h"
#include "launcher/record/ranks_left.h"
#include "launcher/record/run_observer.h"
#include "runtime/message/packed_message.h"
#include "runtime/sim/sim_world.h"
#include "tests/actors/simulated_job.h"
#include "tests/actors/thirty_steps.h"
#include "tests/launcher/one_of_each.h"
#include "tests/temporary_folder.h"

namespace sterna::test {
namespace {

using std::chrono::milliseconds;

using Settings = std::vector<std::string>;

class ClusterJob : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryFolder>();
    std::ofstream(folder_->path() + "/job.toml") << kThirtySteps;
    ASSERT_TRUE(input::make_digits(digits(), kFewDigits).ok());
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static std::string digits() { return folder_->path() + "/digits"; }
  static launcher::ClusterFile read(const Settings& settings) {
    return launcher::read_cluster_file(folder_->path() + "/job.toml", settings).value();
  }
  /// The job on the hosts a and b: on b is worker1, and nobody else.
  static launcher::ClusterFile on_two_hosts(const Settings& settings) {
    std::string text = kThirtySteps;
    const auto put = [&](const std::string& behind, const std::string& more) {
      text.insert(text.find(behind) + behind.size(), more);
    };
    put("format = 1\n",
        "[cluster]\ntransport = \"tcp\"\nsecurity = \"none\"\n[[host]]\nname = \"a\"\n"
        "[[host]]\nname = \"b\"\n");
    put("count = 2\n", "hosts = [\"a\", \"b\"]\n");
    for (const std::string role : {"parameter_server", "input_reader", "evaluator"}) {
      put("role = \"" + role + "\"\n", "hosts = [\"a\"]\n");
    }
    return launcher::parse_cluster_file(text, "x.toml", settings).value();
  }
  static actors::JobConfig job(const Settings& settings) {
    return launcher::job_of(read(settings), {digits(), "digits", false}).value();
  }

  /// Starts the job of the file, with these settings ("KEY=VALUE"), on `world`.
  void start(SimWorld& world, const Settings& settings) { start(world, read(settings)); }
  void start(SimWorld& world, const launcher::ClusterFile& file) {
    const actors::JobConfig config = launcher::job_of(file, {digits(), "digits", false}).value();
    cluster = std::make_unique<Cluster>(world.launcher(), registry,
                                        launcher::cluster_options_of(file, "", "test").value());
    const Result<void> started = cluster->start();
    ASSERT_TRUE(started.ok()) << started.error().message;
    const auto observer =
        cluster->process().spawn<launcher::RunObserver>(record, file, config, nobody);
    ASSERT_TRUE(cluster->publish(launcher::kObserverName, observer).ok());
    const auto specs = launcher::specs_of(file, config, "");
    ASSERT_TRUE(specs.ok()) << specs.error().message;
    const auto actors = cluster->start_actors(*specs);
    ASSERT_TRUE(actors.ok()) << actors.error().message;
  }
  /// Runs it until it is done or has failed.
  void finish() {
    cluster->run_until([&] { return record.finished || cluster->failure(); },
                       cluster->loop().now() + std::chrono::hours(1));
  }

  /// The hash in which the job ends, whatever the seed of the world and its delays.
  std::string hash(const Settings& settings, std::uint64_t seed = 1, Duration slowest = {}) {
    SimWorld world(seed, registry);
    SeededRandom random(seed);
    if (slowest > Duration::zero()) {
      const auto any = [&random, slowest] {
        return Duration(
            static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(slowest.count()))));
      };
      world.network().set_delay([any](const std::string&, const std::string&) { return any(); });
      world.set_job_time([any](const std::string&) { return any(); });
    }
    record = {};
    start(world, settings);
    if (HasFatalFailure()) return "not started";
    finish();
    if (cluster->failure()) ADD_FAILURE() << describe(*cluster->failure());
    const StopReport stopped = cluster->stop(std::chrono::seconds(1));
    EXPECT_EQ(stopped.killed, 0U);
    EXPECT_EQ(world.processes(), 0U);
    cluster.reset();
    return record.result.parameters_sha256;
  }

  const Registry registry = launcher::program_registry();
  launcher::RunRecord record;
  launcher::RunObserver::Listener nobody;
  std::unique_ptr<Cluster> cluster;

 private:
  static inline std::unique_ptr<TemporaryFolder> folder_;
};

TEST_F(ClusterJob, OfSomeEpochsHasAsManyStepsAsTheyTake) {
  launcher::ClusterFile file = read({"job.epochs=1.5"});
  const input::DataLocation data{digits(), "digits", false};
  EXPECT_EQ(launcher::in_steps(file, data)->job.steps, 188U);  // of 16 examples: 187.5
  EXPECT_EQ(launcher::job_of(file, data)->steps, 188U);
  // On from a checkpoint: of the 3,000 examples those are left that it has not seen.
  actors::SavedCheckpoint from;
  from.manifest.step = 100;
  from.manifest.position = 1600;
  EXPECT_EQ(launcher::in_steps(file, data, &from)->job.steps, 188U);
  from.manifest.position = 800;
  EXPECT_EQ(launcher::in_steps(file, data, &from)->job.steps, 238U) << "of smaller batches";
  from.manifest.position = 2990;
  EXPECT_EQ(launcher::in_steps(file, data, &from)->job.steps, 101U) << "of larger batches";
  from.manifest.position = 3200;
  EXPECT_EQ(launcher::in_steps(file, data, &from)->job.steps, 100U) << "none is left";
  file.job.epochs = 1e8;
  EXPECT_EQ(
      launcher::in_steps(file, data).error().message,
      "job.epochs = 100000000 are 12500000000 steps of this data set, and at most 1000000000 fit");
}

TEST_F(ClusterJob, OfAWorkerWithoutServersIsToldItsDevicesAndSeesEachOnce) {
  const std::string text = R"(
format = 1
[[host]]
gpus = 4
[[actor]]
role = "worker"
ranks = 3
backend = "cuda"
gpus = 3
devices = [2, 3, 2]
[[actor]]
role = "input_reader"
[[actor]]
role = "evaluator"
[job]
net = "lenet"
steps = 30
[gradient]
exchange = "nccl"
)";
  const auto file = launcher::parse_cluster_file(text, "x.toml", {});
  ASSERT_TRUE(file.ok()) << file.error().message;
  const auto config = launcher::job_of(*file, {digits(), "digits", false});
  ASSERT_TRUE(config.ok()) << config.error().message;
  const auto specs = launcher::specs_of(*file, *config, "");
  ASSERT_TRUE(specs.ok()) << specs.error().message;
  ASSERT_EQ(specs->size(), 3U);
  const ActorSpec& worker = specs->front();
  EXPECT_EQ(worker.type, actors::kServingWorkerType);
  EXPECT_EQ(worker.restart.times, 0) << "what it has nobody else has";
  EXPECT_THAT(worker.environment,
              testing::ElementsAre("CUDA_VISIBLE_DEVICES=2,3", "CUDA_DEVICE_ORDER=PCI_BUS_ID"));
  const auto args = unpack<actors::WorkerArgs>(worker.args.view());
  ASSERT_TRUE(args.ok()) << args.error().message;
  EXPECT_THAT(args->devices, testing::ElementsAre(0, 1, 0));
  EXPECT_THAT(args->servers, testing::IsEmpty());
  EXPECT_EQ(args->evaluator, "evaluator0");
  const auto evaluator = unpack<actors::EvaluatorArgs>(specs->back().args.view());
  ASSERT_TRUE(evaluator.ok()) << evaluator.error().message;
  EXPECT_THAT(evaluator->servers, testing::ElementsAre("worker0"));
  EXPECT_THAT(specs->back().environment, testing::ElementsAre("CUDA_VISIBLE_DEVICES="));
}

// As benchmarks ask for it; no file can.
TEST_F(ClusterJob, WhereNoHostHasGpusDevicesAreThoseThatTheDriverShows) {
  auto file = launcher::parse_cluster_file(launcher::kOneOfEach + R"([job]
net = "lenet"
steps = 30
)",
                                           "x.toml", {});
  ASSERT_TRUE(file.ok()) << file.error().message;
  const auto worker =
      std::ranges::find(file->actors, launcher::Role::kWorker, &launcher::ActorPlan::role);
  ASSERT_NE(worker, file->actors.end());
  worker->backend = "cuda";
  worker->devices = {3};
  const auto config = launcher::job_of(*file, {digits(), "digits", false});
  ASSERT_TRUE(config.ok()) << config.error().message;
  const auto specs = launcher::specs_of(*file, *config, "");
  ASSERT_TRUE(specs.ok()) << specs.error().message;
  const ActorSpec& spec = (*specs)[static_cast<std::size_t>(worker - file->actors.begin())];
  EXPECT_THAT(spec.environment, testing::IsEmpty());
  const auto args = unpack<actors::WorkerArgs>(spec.args.view());
  ASSERT_TRUE(args.ok()) << args.error().message;
  EXPECT_EQ(args->backend, "cuda");
  EXPECT_THAT(args->devices, testing::ElementsAre(3));
}

TEST_F(ClusterJob, OfAWorkerWithServersIsToldItsDevicesAndHasTwoThreadsForEach) {
  const std::string text = R"(
format = 1
[[host]]
gpus = 64
[[actor]]
role = "parameter_server"
[[actor]]
role = "worker"
ranks = 64
gpus = 64
[[actor]]
role = "input_reader"
[[actor]]
role = "evaluator"
[job]
net = "lenet"
steps = 30
)";
  const auto file = launcher::parse_cluster_file(text, "x.toml", {});
  ASSERT_TRUE(file.ok()) << file.error().message;
  const auto config = launcher::job_of(*file, {digits(), "digits", false});
  ASSERT_TRUE(config.ok()) << config.error().message;
  const auto specs = launcher::specs_of(*file, *config, "");
  ASSERT_TRUE(specs.ok()) << specs.error().message;
  const ActorSpec& worker = (*specs)[1];
  EXPECT_EQ(worker.compute_threads, 128U);  // of each one for passes, one for the next images
  const auto args = unpack<actors::WorkerArgs>(worker.args.view());
  ASSERT_TRUE(args.ok()) << args.error().message;
  EXPECT_EQ(args->backend, "cuda");
  ASSERT_EQ(args->devices.size(), 64U);
  EXPECT_EQ(args->devices.back(), 63U);
}

TEST_F(ClusterJob, EndsInTheBitsOfThePlainLoopInEveryShapeAndWithEveryDelay) {
  const std::string expected = actors::sequential_oracle(job({}));
  EXPECT_EQ(hash({}), expected);
  EXPECT_EQ(record.result.evaluations.size(), 3U);
  EXPECT_EQ(record.result.steps, 30);
  const Settings two = {"actor.parameter_server.count=2", "actor.input_reader.count=2"};
  EXPECT_EQ(hash(two, 1, milliseconds(20)), expected);
  EXPECT_EQ(hash(two, 2, milliseconds(20)), expected);
  EXPECT_EQ(hash({"actor.worker.count=1", "actor.worker.ranks=2"}, 3, milliseconds(5)), expected);
}

TEST_F(ClusterJob, WithoutACodecTheSameHolds) {
  EXPECT_EQ(
      hash({"gradient.codec=none", "actor.parameter_server.count=2", "actor.input_reader.count=2"},
           4, milliseconds(20)),
      actors::sequential_oracle(job({"gradient.codec=none"})));
}

TEST_F(ClusterJob, AServerThatStandsStillEndsItWithTheCauseSilence) {
  SimWorld world(1, registry);
  start(world, Settings{"job.steps=1000"});
  ASSERT_FALSE(HasFatalFailure());
  ASSERT_TRUE(cluster->run_until([&] { return record.result.steps > 3; },
                                 world.loop().now() + std::chrono::seconds(60)));
  const Time frozen = world.loop().now();
  world.freeze("server0");
  finish();
  ASSERT_TRUE(cluster->failure().has_value());
  EXPECT_EQ(cluster->failure()->identity.name, "server0");
  EXPECT_THAT(cluster->failure()->cause, testing::StartsWith("silence"));
  EXPECT_LT(world.loop().now() - frozen, std::chrono::seconds(7));
  cluster->stop(Duration::zero());
  EXPECT_EQ(world.processes(), 0U);
  cluster.reset();
}

TEST_F(ClusterJob, AWorkerWhoseHostIsLostGoesOnElsewhereWithoutItsResidualsIfTheFileSaysSo) {
  for (const bool zero : {true, false}) {
    Settings settings = {"gradient.error_feedback=true", "job.steps=80"};
    if (zero) settings.push_back("gradient.residuals=zero");
    record = {};
    SimWorld world(1, registry);
    start(world, on_two_hosts(settings));
    ASSERT_FALSE(HasFatalFailure());
    ASSERT_TRUE(cluster->run_until([&] { return record.status.step > 20; },
                                   world.loop().now() + std::chrono::seconds(60)));
    world.kill("node-b");
    finish();
    if (zero) {
      EXPECT_FALSE(cluster->failure()) << describe(*cluster->failure());
      EXPECT_TRUE(record.finished);
      EXPECT_EQ(record.result.residuals_lost, 1U);
      EXPECT_EQ(record.result.steps, 80);
    } else {
      EXPECT_FALSE(record.finished);
      EXPECT_TRUE(cluster->failure()) << "a run with a checkpoint goes on from that";
    }
    cluster->stop(Duration::zero());
    EXPECT_EQ(world.processes(), 0U);
    cluster.reset();
  }
}

TEST_F(ClusterJob, AboveItsQuorumItGoesOnWithoutTheWorkerOfAHostThatIsLostAndMakesAllSteps) {
  const launcher::ClusterFile file =
      on_two_hosts({"scheme.quorum=1", "cluster.lost_host=quorum", "job.steps=300"});
  launcher::RanksLeft ranks_left(file);
  SimWorld world(1, registry);
  start(world, file);
  ASSERT_FALSE(HasFatalFailure());
  cluster->set_events({.goes_on_without = [&](ProcessDown& down) {
    if (!ranks_left.goes_on_without(down)) return false;
    launcher::note_loss(record, down, launcher::death_in_words(file, down));
    return true;
  }});
  EXPECT_TRUE(cluster->run_until([&] { return record.status.step > 20; },
                                 world.loop().now() + std::chrono::seconds(60)));
  EXPECT_LT(record.status.step, 300);
  world.kill("node-b");
  finish();
  // The evaluator's last word may come before the worker's.
  cluster->run_until([&] { return !record.workers_done.empty() || cluster->failure(); },
                     world.loop().now() + std::chrono::seconds(1));
  EXPECT_FALSE(cluster->failure()) << describe(*cluster->failure());
  EXPECT_TRUE(record.finished);
  EXPECT_EQ(record.result.steps, 300);
  EXPECT_EQ(record.result.evaluations.size(), 30U);
  EXPECT_EQ(cluster->lost_hosts(), Settings{"b"});
  using Lost = launcher::ActorRestart;
  EXPECT_THAT(record.result.lost_workers,
              testing::ElementsAre(testing::AllOf(
                  testing::Field(&Lost::actor, "worker1"),
                  testing::Field(&Lost::cause, testing::HasSubstr("node-b is gone")))));
  cluster->stop(Duration::zero());
  EXPECT_EQ(world.processes(), 0U);
  cluster.reset();
}

}  // namespace
}  // namespace sterna::test
