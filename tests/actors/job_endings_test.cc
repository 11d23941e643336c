// What ends a job says the cause; what has no part in it changes nothing.
#include <gtest/gtest.h>

#include <algorithm>

#include "actors/job/messages.h"
#include "tests/actors/simulated_job.h"

namespace sterna::actors {
namespace {

using JobEndingsTest = SimulatedJob;

TEST_F(JobEndingsTest, AReaderThatDiesEndsItsWorkersNamingTheStepAndTheReader) {
  job.shards = 2;
  launch({.readers = 2, .workers = 2});
  loop.run_until([this] { return !record.progress.empty(); }, kNever);
  process_of("reader1").process->kill(ref_of("reader1").id.local, "killed by the test");
  loop.run_until([this] { return deaths.size() >= 3; }, loop.now() + std::chrono::minutes(5));
  ASSERT_GE(deaths.size(), 3U);
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_NE(deaths[i].find("step "), std::string::npos) << deaths[i];
    EXPECT_NE(deaths[i].find("batch of rank "), std::string::npos) << deaths[i];
    EXPECT_NE(deaths[i].find("reader1"), std::string::npos) << deaths[i];
    EXPECT_NE(deaths[i].find("killed by the test"), std::string::npos) << deaths[i];
  }
}

TEST_F(JobEndingsTest, AReaderThatAnswersForAnothersShardEndsTheRunNamingStepRankAndReader) {
  job.shards = 2;
  launch({.readers = 2, .workers = 1, .readers_reversed = true});
  finish();
  ASSERT_FALSE(deaths.empty());
  EXPECT_NE(deaths[0].find("step 0, batch of rank 0"), std::string::npos) << deaths[0];
  EXPECT_NE(deaths[0].find("reader0: it answers row"), std::string::npos) << deaths[0];
  EXPECT_NE(deaths[0].find("lies in the shard of reader1"), std::string::npos) << deaths[0];
}

TEST_F(JobEndingsTest, OneFlippedBitStopsTheRunNamingRankStepAndTensor) {
  train_lenet();
  job.gradient.scaler = ScalerRule::shared;
  job.gradient.down = Down::average;
  job.gradient.check_every = 5;
  launch({.workers = 2, .flip_at_version = 7});
  finish();
  ASSERT_FALSE(deaths.empty());
  EXPECT_NE(deaths[0].find("step 10, parameters of rank "), std::string::npos) << deaths[0];
  EXPECT_NE(deaths[0].find("fc3/weights differs from the server's, elements "), std::string::npos)
      << deaths[0];
  EXPECT_FALSE(record.finished);
}

TEST_F(JobEndingsTest, ALossThatIsNotANumberEndsTheRunNamingRankAndStep) {
  job.optimizer.learning_rate = 1e30;
  launch({.workers = 2});
  finish();
  ASSERT_FALSE(deaths.empty());
  EXPECT_NE(deaths[0].find("rank "), std::string::npos) << deaths[0];
  EXPECT_NE(deaths[0].find("step "), std::string::npos) << deaths[0];
  EXPECT_FALSE(record.finished);
}

TEST_F(JobEndingsTest, AServerThatDiesEndsItsWorkersNamingTheStepAndTheServer) {
  launch({.workers = 2});
  loop.run_until([this] { return !record.progress.empty(); }, kNever);
  process_of("server0").process->kill(ref_of("server0").id.local, "killed by the test");
  loop.run_until([this] { return deaths.size() >= 3; }, loop.now() + std::chrono::minutes(5));
  ASSERT_GE(deaths.size(), 3U);
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_NE(deaths[i].find("server0"), std::string::npos) << deaths[i];
    EXPECT_NE(deaths[i].find("killed by the test"), std::string::npos) << deaths[i];
  }
}

TEST_F(JobEndingsTest, AReaderWithoutDataEndsTheRunWithTheFile) {
  job.data.dir += "/nowhere";
  launch({});
  finish();
  ASSERT_FALSE(deaths.empty());
  EXPECT_NE(deaths[0].find("nowhere"), std::string::npos) << deaths[0];
}

TEST_F(JobEndingsTest, AReaderAnswersTheSameQuestionAlwaysTheSameAndRefusesImpossibleOnes) {
  launch({.readers = 2, .workers = 2});
  test::SimProcess& worker = process_of("worker1");
  const auto ask = [&](const std::string& reader, NextBatch question) {
    return worker.process->wait(worker.process->ask(*ref_of(reader).as<InputReaderInterface>(),
                                                    question, std::chrono::seconds(10)));
  };
  const auto first = ask("reader0", {.step = 7, .rank = 1});
  const auto second = ask("reader1", {.step = 7, .rank = 1});
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_TRUE(std::ranges::equal(first->pixels.view(), second->pixels.view()));
  EXPECT_TRUE(std::ranges::equal(first->labels.view(), second->labels.view()));
  EXPECT_EQ(labels_of(*first).size(), job.batch);
  EXPECT_FALSE(ask("reader0", {.step = 7, .rank = 2}).ok());
  EXPECT_FALSE(ask("reader0", {.step = 30, .rank = 1}).ok());
}

TEST_F(JobEndingsTest, WhoHasNoPartInItGetsNeitherBatchesNorParametersAndChangesNothing) {
  job.steps = 8;
  const std::string hash = hash_of({.workers = 2});
  launch({.workers = 2});
  const auto ask = [&](const std::string& from, const auto& target, const auto& question) {
    Process& process = *start(from).process;
    return process.wait(process.ask(target, question, std::chrono::seconds(10)));
  };
  const auto server = *ref_of("server0").as<ParameterServerInterface>();
  const auto reader = *ref_of("reader0").as<InputReaderInterface>();
  EXPECT_FALSE(ask("curious", server, Pull{.version = 0, .chunks = {0}}).ok());
  EXPECT_FALSE(ask("greedy", reader, NextBatch{.step = 0, .rank = 0}).ok());
  finish();
  EXPECT_EQ(process_of("server0").process->links()->counters().faults, 1U);
  EXPECT_EQ(process_of("reader0").process->links()->counters().faults, 1U);
  ASSERT_TRUE(record.finished);
  EXPECT_EQ(record.finished->parameters_sha256, hash);
}

TEST_F(JobEndingsTest, APeerThatSpeaksForAnothersRankLosesItsLinkAndChangesNothing) {
  job.steps = 8;
  const std::string hash = hash_of({.workers = 2});
  launch({.workers = 2});
  test::SimProcess& peer = start("peer");
  Push push;
  push.rank = 1;
  push.incarnation = 1;
  push.examples = job.batch;
  const auto reply = peer.process->wait(peer.process->ask(
      *ref_of("server0").as<ParameterServerInterface>(), push, std::chrono::seconds(10)));
  ASSERT_FALSE(reply.ok());
  finish();
  EXPECT_EQ(process_of("server0").process->links()->counters().faults, 1U);
  ASSERT_TRUE(record.finished);
  EXPECT_EQ(record.finished->parameters_sha256, hash);
}

TEST_F(JobEndingsTest, OnlyTheEvaluatorReleasesSnapshots) {
  job.steps = 8;
  launch({.workers = 2});
  test::SimProcess& peer = start("peer");
  peer.process->tell(*ref_of("server0").as<ParameterServerInterface>(), Release{30});
  finish();
  EXPECT_EQ(process_of("server0").process->links()->counters().faults, 1U);
  EXPECT_TRUE(record.finished);
}

TEST_F(JobEndingsTest, OnlyTheEvaluatorReservesVersionsAndOnlyWhereTheyAreItsToChoose) {
  job.steps = 8;
  job.evaluation.behind = Behind::skip;
  launch({.workers = 2});
  const auto reserve = [&](const std::string& from, std::uint64_t version) {
    Process& process = *(from == "peer" ? start(from) : process_of(from)).process;
    return process.wait(process.ask(*ref_of("server0").as<ParameterServerInterface>(),
                                    Reserve{version}, std::chrono::seconds(10)));
  };
  EXPECT_FALSE(reserve("peer", 5).ok());
  EXPECT_FALSE(reserve("worker0", 5).ok());
  EXPECT_FALSE(reserve("evaluator", 30).ok());
  EXPECT_EQ(process_of("server0").process->links()->counters().faults, 3U);
}

}  // namespace
}  // namespace sterna::actors
