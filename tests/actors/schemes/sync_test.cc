#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "actors/schemes/scheme.h"

namespace sterna::actors {
namespace {

using testing::HasSubstr;

class Sync : public testing::Test {
 protected:
  Sync() {
    job.first_step = 5;
    job.steps = 10;
    job.ranks = 3;
    job.batch = 4;
    job.evaluation.every = 0;
  }
  std::unique_ptr<WorkerPolicy> worker() const { return scheme.worker(job); }
  std::unique_ptr<ServerPolicy> server(bool evaluated = false) const {
    return scheme.server(job, evaluated);
  }
  static Push push(std::uint64_t step) {
    return {.step = step, .examples = 4, .packets = {packet(step)}};
  }
  static Packet packet(std::uint64_t version, std::uint32_t chunk = 0) {
    return {.chunk = chunk, .payload = {}, .base_version = version};
  }
  std::string refused(const Push& push) const {
    const Result<void> checked = server()->check(push);
    return checked ? "" : checked.error().message;
  }

  const Scheme scheme = find_scheme("sync").value();
  JobConfig job;
};

TEST_F(Sync, IsOneOfTheSchemesThatFilesNameAndAnotherIsRefusedWithTheNamesThereAre) {
  std::vector<std::string_view> in_files;
  for (const SchemeFacts& one : scheme_facts()) in_files.push_back(one.name);
  EXPECT_EQ(scheme_names(), in_files);
  EXPECT_EQ(in_files.front(), "sync");
  EXPECT_THAT(find_scheme("asink").error().message, HasSubstr("\"asink\" is none of sync, async"));
}

TEST_F(Sync, AStepIsComputedFromItsOwnVersionWhichComesAsTheJobSays) {
  for (const Down down : {Down::parameters, Down::parameters_bf16, Down::average, Down::ternary}) {
    job.gradient.down = down;
    const Need first = worker()->need(5);
    EXPECT_EQ(first.version, 5U);
    EXPECT_EQ(first.kind, PayloadKind::PARAMETERS);
    EXPECT_EQ(first.codec, Codec::FP32);
    const Need later = worker()->need(6);
    EXPECT_EQ(later.version, 6U);
    const bool averages = down == Down::average || down == Down::ternary;
    EXPECT_EQ(later.kind, averages ? PayloadKind::GRADIENT : PayloadKind::PARAMETERS);
    EXPECT_EQ(later.codec, down == Down::parameters_bf16 ? Codec::BF16 : Codec::FP32);
    EXPECT_EQ(server()->sends(), later.kind);
  }
}

TEST_F(Sync, AServerTakesWhatItsWorkersPushAndNothingElse) {
  const Contribution made = worker()->contribution(7);
  Push push = Sync::push(7);
  push.kind = made.kind;
  push.examples = made.examples;
  EXPECT_EQ(refused(push), "");
  push.packets = {packet(7), packet(6, 1)};
  EXPECT_EQ(refused(push), "step 7 computed from version 6");
  push = Sync::push(10);
  EXPECT_EQ(refused(push), "step 10 of 10");
  push = Sync::push(7);
  push.examples = 5;
  EXPECT_EQ(refused(push), "5 examples; expected 4");
  push = Sync::push(7);
  push.kind = PayloadKind::DIFFERENCE;
  EXPECT_EQ(refused(push), "a push of another kind than the scheme's");
}

TEST_F(Sync, AChunkWaitsForAllRanksOfItsVersionsStep) {
  EXPECT_EQ(*server()->judge(push(7), packet(7), {7, 2}), Verdict::ACCEPTED);
  EXPECT_EQ(*server()->judge(push(7), packet(7), {8, 0}), Verdict::DROPPED);
  EXPECT_EQ(server()->judge(push(7), packet(7, 3), {6, 0}).error().message,
            "step 7 of chunk 3, from version 7, which is at version 6");
  EXPECT_FALSE(server()->complete({7, 2}));
  EXPECT_TRUE(server()->complete({7, 3}));
}

TEST_F(Sync, WithAQuorumWhatComesAfterItIsDroppedAndItsRankGoesOnFromTheNewest) {
  job.scheme.quorum = 2;
  EXPECT_FALSE(worker()->in_step());
  EXPECT_TRUE(server()->complete({7, 2}));
  EXPECT_EQ(*server()->judge(push(6), packet(7), {7, 1}), Verdict::ACCEPTED);
  EXPECT_EQ(*server()->judge(push(6), packet(7), {7, 2}), Verdict::DROPPED);
  EXPECT_EQ(*server()->judge(push(6), packet(6), {7, 0}), Verdict::DROPPED);
  EXPECT_EQ(*server()->judge(push(9), packet(10), {10, 0}), Verdict::DROPPED) << "the job is over";
  EXPECT_FALSE(server()->judge(push(6), packet(8), {7, 0}).ok());
  EXPECT_EQ(refused(push(6)), "");
  job.scheme.quorum = 3;
  EXPECT_TRUE(worker()->in_step());
}

TEST_F(Sync, RanksGradientsCountAsTheFileSays) {
  const std::vector<Counted> packets = {{.rank = 0, .base_version = 7},
                                        {.rank = 2, .base_version = 7}};
  EXPECT_TRUE(server()->weights(packets, 7).empty());
  job.scheme.rank_rates = {1, 3, 0.5};
  EXPECT_THAT(server()->weights(packets, 7), testing::ElementsAre(0.5F, 0.25F));
  job.scheme.combine = CombineRule::sum;
  EXPECT_THAT(server()->weights(packets, 7), testing::ElementsAre(1.0F, 0.5F));
}

TEST_F(Sync, TritsAreSummedWhereTheyStandForTheSameNumber) {
  EXPECT_EQ(server()->combine(Codec::TERNARY), Combine::parameters);
  job.gradient.scaler = ScalerRule::shared;
  EXPECT_EQ(server()->combine(Codec::TERNARY), Combine::sums);
  EXPECT_EQ(server()->combine(Codec::FP32), Combine::parameters);
  job.gradient.down = Down::average;
  EXPECT_EQ(server()->combine(Codec::FP32), Combine::average);
  job.gradient.down = Down::ternary;
  EXPECT_EQ(server()->combine(Codec::TERNARY), Combine::ternary);
  EXPECT_EQ(server()->combine(Codec::FP32), Combine::average);
}

TEST_F(Sync, SignsAreVotedOnWhereTheFileSaysSo) {
  EXPECT_EQ(server()->combine(Codec::SIGN), Combine::parameters);
  job.scheme.combine = CombineRule::vote;
  EXPECT_EQ(server()->combine(Codec::SIGN), Combine::vote);
  EXPECT_EQ(server()->combine(Codec::FP32), Combine::parameters) << "of small tensors the mean";
}

TEST_F(Sync, APullIsAnsweredWithExactlyItsVersion) {
  const auto answers = [&](std::uint64_t version, PayloadKind kind) {
    return server()->answers(version, kind, 7);
  };
  EXPECT_TRUE(*answers(7, PayloadKind::PARAMETERS));
  EXPECT_FALSE(*answers(8, PayloadKind::PARAMETERS));
  EXPECT_FALSE(answers(11, PayloadKind::PARAMETERS).ok());
  EXPECT_FALSE(answers(7, PayloadKind::DIFFERENCE).ok());
  EXPECT_FALSE(answers(7, PayloadKind::GRADIENT).ok());
  EXPECT_FALSE(answers(10, PayloadKind::MOVING_AVERAGE).ok());
  job.gradient.down = Down::average;
  EXPECT_TRUE(*answers(7, PayloadKind::GRADIENT));
  EXPECT_FALSE(answers(5, PayloadKind::GRADIENT).ok());  // no gradient led to the first
}

TEST_F(Sync, ParametersAreWantedWhereTheyAreEvaluatedComparedOrTheLast) {
  job.gradient.down = Down::average;
  job.gradient.check_every = 3;
  job.evaluation.every = 4;
  const auto versions = [](const auto& holds) {
    std::vector<std::uint64_t> versions;
    for (std::uint64_t version = 0; version < 12; ++version) {
      if (holds(version)) versions.push_back(version);
    }
    return versions;
  };
  using testing::ElementsAre;
  const auto policy = server(true);
  EXPECT_THAT(versions([&](auto v) { return policy->evaluates(v); }), ElementsAre(8, 10));
  EXPECT_THAT(versions([&](auto v) { return policy->compares(v); }), ElementsAre(6, 9));
  EXPECT_THAT(versions([&](auto v) { return worker()->compares(v); }), ElementsAre(6, 9));
  EXPECT_THAT(versions([&](auto v) { return policy->settles(v); }), ElementsAre(6, 8, 9, 10));
  EXPECT_FALSE(server(false)->evaluates(8));
  job.gradient.down = Down::parameters;
  EXPECT_TRUE(server()->settles(7));
  EXPECT_FALSE(server()->compares(6));
}

TEST_F(Sync, WhichVersionsAreEvaluatedIsTheEvaluatorsToSayWhereTrainingDoesNotWait) {
  job.steps = 100;
  job.evaluation.every = 4;
  job.evaluation.behind = Behind::skip;
  const auto policy = server(true);
  for (const std::uint64_t version : {8U, 12U, 16U, 20U, 100U}) {
    EXPECT_TRUE(policy->evaluates(version)) << "named from the start, or the last";
  }
  EXPECT_FALSE(policy->evaluates(24));
  EXPECT_FALSE(policy->reserve(24, 9).ok()) << "one more than is kept";
  policy->release(8);
  EXPECT_FALSE(policy->evaluates(8));
  EXPECT_FALSE(*policy->reserve(24, 25)) << "too late";
  EXPECT_FALSE(policy->evaluates(24));
  EXPECT_TRUE(*policy->reserve(28, 25));
  EXPECT_TRUE(policy->evaluates(28));
  EXPECT_FALSE(policy->reserve(100, 25).ok()) << "the last is kept always";
  EXPECT_FALSE(server(false)->reserve(28, 25).ok()) << "there is no evaluator";
  job.evaluation.behind = Behind::wait;
  EXPECT_FALSE(server(true)->reserve(28, 25).ok()) << "training waits for it";
}

}  // namespace
}  // namespace sterna::actors
