// How versions come to a worker's replicas: when each is asked for, and what becomes of answers.
#include "actors/worker/parameter_pulls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/actors/worker/worker_parts.h"

namespace sterna::actors {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class ParameterPullsTest : public WorkerParts {
 protected:
  ParameterPullsTest() {
    job.net = "mlp";
    job.hidden = {8};
    job.steps = 3;
  }
  /// Of two servers, each asked for all of its chunks at once.
  void begin_pulling() {
    begin_with_servers(2);
    replica = Replica::make(job).value();
    table = std::make_shared<const ParameterTable>(replica->parameters(), job, 2U);
    replica->set_table(table, loop, [] {});
    incoming.emplace(replica, table, loop, WorkerTrace(), job.first_step, [] {});
    incoming->expect(Pulled::trained);
    options.came = [this](std::uint64_t version) {
      came.push_back(version);
      incoming->expect(Pulled::changing);
    };
    pulls = &make<ParameterPulls>(*context, worker->servers, table, std::make_shared<BufferPool>(),
                                  options);
  }
  void begin_all() {
    begin_pulling();
    pulls->begin({&*incoming});
    settle();
  }
  void rejoin() {
    options.begins = false;
    options.rejoins = true;
    begin_all();
  }
  void pull_newest(RankPull& rank, std::uint64_t step, std::uint64_t push, bool first) {
    incoming->expect(first ? Pulled::all : Pulled::pushed);
    pulls->newest(rank, step, push, first);
    settle();
  }
  /// All chunks that a question asks for, of this version.
  Parameters answer_to(const Pull& question, std::uint64_t version, float value = 0) const {
    Parameters answer;
    answer.version = question.version;
    answer.kind = question.kind;
    for (const std::uint32_t chunk : question.chunks) {
      const std::uint64_t bytes = question.kind == PayloadKind::STATE
                                      ? state_bytes(chunk, *table, job)
                                      : table->chunks[chunk].count * sizeof(float);
      const auto values = make_buffer(bytes);
      for (float& each : values->as<float>()) each = value;
      answer.chunks.push_back({.chunk = chunk, .payload = share(values), .version = version});
    }
    return answer;
  }
  void answer(const std::string& server, std::size_t i, float value = 0) {
    const Pull& question = asked[server].pulls[i];
    asked[server].pulls.answer(i, answer_to(question, question.version, value));
    settle();
  }
  std::vector<std::uint64_t> versions_asked(const std::string& server) {
    std::vector<std::uint64_t> versions;
    for (std::size_t i = 0; i < asked[server].pulls.size(); ++i) {
      versions.push_back(asked[server].pulls[i].version);
    }
    return versions;
  }
  std::uint32_t chunk_of(std::uint32_t shard) const { return table->chunks_of(shard).front(); }

  std::shared_ptr<Replica> replica;
  std::shared_ptr<const ParameterTable> table;
  std::optional<IncomingVersion> incoming;
  ParameterPulls::Options options;
  ParameterPulls* pulls = nullptr;
  std::vector<std::uint64_t> came;
};

TEST_F(ParameterPullsTest, AVersionIsAskedForOnceAllOfTheOneBeforeIsHereAndTheLastIsNot) {
  begin_all();
  EXPECT_THAT(versions_asked("server0"), ElementsAre(0));
  answer("server0", 0);
  EXPECT_THAT(versions_asked("server0"), ElementsAre(0)) << "the other server's are not here";
  EXPECT_THAT(came, IsEmpty());
  answer("server1", 0);
  EXPECT_THAT(came, ElementsAre(0));
  for (const std::size_t i : {1, 2}) {
    answer("server1", i);
    answer("server0", i);
  }
  EXPECT_THAT(versions_asked("server0"), ElementsAre(0, 1, 2));
  EXPECT_THAT(versions_asked("server1"), ElementsAre(0, 1, 2));
  EXPECT_THAT(came, ElementsAre(0, 1, 2));
}

TEST_F(ParameterPullsTest, WhatComesIsTheReplicasAndCounted) {
  begin_all();
  EXPECT_EQ(incoming->readable(), 0U);
  answer("server0", 0, 0.5F);
  answer("server1", 0, 0.5F);
  EXPECT_EQ(replica->values(0).front(), 0.5F);
  EXPECT_EQ(pulls->traffic().parameter_elements, table->elements);
  EXPECT_EQ(pulls->traffic().parameter_bytes, table->elements * sizeof(float));
}

TEST_F(ParameterPullsTest, WhatIsHeldOfAChunkIsTheNewestThatHasCome) {
  job.first_step = 1;
  begin_all();
  EXPECT_EQ(pulls->held(chunk_of(0)), 1U) << "as the job begins with it";
  answer("server0", 0);
  answer("server1", 0);
  answer("server0", 1);
  EXPECT_EQ(pulls->held(chunk_of(0)), 2U);
  EXPECT_EQ(pulls->held(chunk_of(1)), 1U);
}

TEST_F(ParameterPullsTest, AWorkerInThePlaceOfALostOneHoldsWhatHasCome) {
  options.begins = false;
  begin_all();
  EXPECT_EQ(pulls->held(chunk_of(0)), std::nullopt);
  answer("server0", 0);
  EXPECT_EQ(pulls->held(chunk_of(0)), 0U);
  EXPECT_EQ(pulls->held(chunk_of(1)), std::nullopt);
}

TEST_F(ParameterPullsTest, OneThatRejoinsAsksForItsSecondVersionWhenItIsTold) {
  rejoin();
  answer("server0", 0);
  answer("server1", 0);
  EXPECT_THAT(came, ElementsAre(0));
  EXPECT_THAT(versions_asked("server0"), ElementsAre(0));
  pulls->next(1);
  settle();
  EXPECT_THAT(versions_asked("server0"), ElementsAre(0, 1));
  answer("server0", 1);
  answer("server1", 1);
  EXPECT_THAT(versions_asked("server0"), ElementsAre(0, 1, 2)) << "from then on as all do";
}

TEST_F(ParameterPullsTest, OneThatRejoinsWhereWorkersStepTakesTheStateFirst) {
  job.gradient.down = Down::average;
  job.optimizer.name = "momentum";
  rejoin();
  EXPECT_EQ(asked["server0"].pulls[0].kind, PayloadKind::STATE);
  answer("server0", 0);
  answer("server1", 0);
  pulls->next(1);
  settle();
  EXPECT_EQ(asked["server0"].pulls[1].kind, PayloadKind::GRADIENT);
}

TEST_F(ParameterPullsTest, WhatDevicesMakeIsNotAskedFor) {
  options.exchanges = true;
  begin_all();
  answer("server0", 0);
  answer("server1", 0);
  EXPECT_THAT(came, ElementsAre(0));
  EXPECT_THAT(versions_asked("server0"), ElementsAre(0));
}

TEST_F(ParameterPullsTest, AServerThatLacksTheAverageIsAskedForTheState) {
  job.restarts_servers = true;
  job.gradient.down = Down::average;
  job.optimizer.name = "momentum";
  ASSERT_TRUE(job.servers_come_again());
  begin_all();
  answer("server0", 0);
  answer("server1", 0);
  asked["server0"].pulls.answer(1, Error{Errc::not_found, "it was copied"});
  settle();
  ASSERT_EQ(asked["server0"].pulls.size(), 3U);
  EXPECT_EQ(asked["server0"].pulls[2].kind, PayloadKind::STATE);
  EXPECT_EQ(asked["server0"].pulls[2].version, 1U);
  EXPECT_EQ(asked["server0"].pulls[2].chunks, asked["server0"].pulls[1].chunks);
  answer("server0", 2);
  EXPECT_EQ(pulls->held(chunk_of(0)), 1U);
  EXPECT_THAT(deaths, IsEmpty());
}

TEST_F(ParameterPullsTest, AnAnswerToAnotherQuestionEndsTheWorkerWithStepAndServer) {
  begin_all();
  Parameters other = answer_to(asked["server1"].pulls[0], 0);
  other.version = 1;
  asked["server1"].pulls.answer(0, other);
  settle();
  EXPECT_THAT(deaths, ElementsAre(AllOf(StartsWith("step 0, parameters from server1: malformed: "),
                                        HasSubstr("to another question"))));
  EXPECT_THAT(came, IsEmpty());
}

TEST_F(ParameterPullsTest, NoAnswerIsTooLateWhileRanksCompute) {
  begin_all();
  pass(10 * job.deadlines.step);
  EXPECT_THAT(deaths, IsEmpty());
  answer("server0", 0);
  answer("server1", 0);
  EXPECT_THAT(came, ElementsAre(0));
}

// ---- where each rank pulls by itself ----

class PullsApart : public ParameterPullsTest {
 protected:
  PullsApart() { job.scheme.name = "async"; }
  RankPull rank{.rank = 1, .came = [this] { ++answers; }};
  int answers = 0;
};

TEST_F(PullsApart, ARanksNewestHasComeOnceAllServersHaveAnswered) {
  begin_pulling();
  rank.incoming = &*incoming;
  pull_newest(rank, 0, 0, true);
  EXPECT_EQ(rank.waiting, 2U);
  EXPECT_TRUE(asked["server0"].pulls[0].newest);
  EXPECT_EQ(asked["server0"].pulls[0].rank, 1U);
  answer("server0", 0);
  EXPECT_EQ(rank.waiting, 1U);
  answer("server1", 0);
  EXPECT_EQ(rank.waiting, 0U);
  EXPECT_EQ(answers, 2);
  EXPECT_THAT(came, IsEmpty()) << "no version of all is here";
}

TEST_F(PullsApart, ItAsksForWhatHasAllOfItsPushesBeforeAndTakesWhatIsNewer) {
  begin_pulling();
  rank.incoming = &*incoming;
  pull_newest(rank, 2, 2, false);
  EXPECT_EQ(asked["server0"].pulls[0].pushes, 2U);
  const Pull& question = asked["server0"].pulls[0];
  asked["server0"].pulls.answer(0, answer_to(question, 3));
  settle();
  EXPECT_THAT(deaths, IsEmpty());
  EXPECT_EQ(incoming->bases()[chunk_of(0)], 3U);
  EXPECT_EQ(incoming->bases()[chunk_of(1)], 0U);
}

TEST_F(PullsApart, AVersionBehindTheJobsLastEndsTheWorkerWithStepAndServer) {
  begin_pulling();
  rank.incoming = &*incoming;
  pull_newest(rank, 5, 2, false);
  const Pull& question = asked["server0"].pulls[0];
  asked["server0"].pulls.answer(0, answer_to(question, 4));
  settle();
  EXPECT_THAT(deaths, ElementsAre(StartsWith("step 5, parameters from server0: malformed: ")));
  EXPECT_EQ(answers, 0);
}

}  // namespace
}  // namespace sterna::actors
