// An evaluator that is lost goes on where it was: each version that was due is evaluated once, or
// counted as skipped.
#include "tests/actors/job_restarts.h"

namespace sterna::actors {
namespace {

using namespace std::chrono_literals;

TEST_F(JobRestartsTest, TheEvaluatorIsLostAndGoesOnWhereItWas) {
  job.evaluation.every = 3;
  const JobLayout layout{.servers = 2, .workers = 2};
  calm(layout);
  ASSERT_EQ(evaluated.size(), 10U);
  for (int twentieth = 1; twentieth < 20; ++twentieth) {
    disturbed(layout, "evaluator", twentieth / 20.0);
    EXPECT_EQ(told_once(), evaluated) << twentieth;
  }
}

TEST_F(JobRestartsTest, TheEvaluatorOfTwoKindsOfNumbersIsLostAndGoesOn) {
  job.optimizer.average_decay = 0.9;
  job.evaluation.subsets = {"test", "train"};
  job.evaluation.of = EvaluatedOf::both;
  const JobLayout layout{.servers = 2, .workers = 1};
  calm(layout);
  ASSERT_EQ(evaluated.size(), 12U);
  for (int fifth = 1; fifth < 5; ++fifth) {
    disturbed(layout, "evaluator", fifth / 5.0);
    EXPECT_EQ(told_once(), evaluated) << fifth;
  }
}

TEST_F(JobRestartsTest, WhatAnEvaluatorThatWasLostHadNamedIsEvaluatedOrCountedAsSkipped) {
  job.steps = 60;
  job.evaluation.every = 2;
  job.evaluation.behind = Behind::skip;
  const JobLayout layout{.servers = 2, .workers = 1};
  calm(layout);
  for (int tenth = 1; tenth < 10; ++tenth) {
    disturbed(layout, "evaluator", tenth / 10.0, 1ms);
    const std::vector<Evaluated> once = told_once();
    EXPECT_EQ(once.back().step, 60U);
    EXPECT_EQ(once.back().skipped + once.size(), 30U) << tenth;
    for (std::size_t i = 1; i < once.size(); ++i) EXPECT_LT(once[i - 1].step, once[i].step);
  }
}

TEST_F(JobRestartsTest, AnEvaluatorThatIsLostAgainAndAgainLosesNothing) {
  job.evaluation.every = 5;
  const JobLayout layout{.servers = 2, .workers = 2};
  calm(layout);
  launch(layout);
  for (int i = 0; i < 8; ++i) {
    pass(took / 20);
    lose("evaluator");
    pass(1ms);
    bring_back("evaluator");
  }
  finish();
  ASSERT_TRUE(record.finished);
  EXPECT_EQ(record.finished->parameters_sha256, hash);
  EXPECT_EQ(told_once(), evaluated);
}

}  // namespace
}  // namespace sterna::actors
