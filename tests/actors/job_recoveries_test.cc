// A server that nobody holds the same as is lost at any moment, and the next one gets what it had
// from the workers, which step by themselves. No step is done again, and the parameters end the
// same.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/actors/simulated_job.h"
#include "tests/sanitized.h"

namespace sterna::actors {
namespace {

using namespace std::chrono_literals;

class JobRecoveriesTest : public SimulatedJob {
 protected:
  JobRecoveriesTest() {
    job.hidden = {100};  // a tensor of two chunks, on two servers
    job.evaluation.every = 4;
    job.gradient.down = Down::average;
    job.gradient.scaler = ScalerRule::shared;
    job.gradient.check_every = 3;
    job.restarts_servers = true;
  }

  void calm(const JobLayout& layout) {
    const Time began = loop.now();
    hash = hash_of(layout);
    took = loop.now() - began;
  }
  Duration part(double of) const {
    return Duration(static_cast<std::int64_t>(static_cast<double>(took.count()) * of));
  }
  /// At each of these parts of the time that a calm job takes one is lost, and comes again.
  void disturbed(const JobLayout& layout,
                 const std::vector<std::pair<double, std::string>>& losses) {
    if (moments.leaves_out()) return;
    launch(layout);
    log.clear();
    std::string what = std::string(job.optimizer.name) + ", scaler " +
                       std::to_string(static_cast<int>(job.gradient.scaler)) + ", down " +
                       std::to_string(static_cast<int>(job.gradient.down));
    const Time began = loop.now();
    for (const auto& [when, name] : losses) {
      loop.run_until([] { return false; }, std::max(began + part(when), loop.now()));
      lose(name);
      pass(1ms);
      bring_back(name);
      what += ", " + name + " at " + std::to_string(when);
    }
    ends_the_same(what);
  }
  void ends_the_same(const std::string& what) {
    finish();
    for (const std::string& death : deaths) ADD_FAILURE() << what << ": " << death;
    if (!record.finished) {
      ADD_FAILURE() << what << ": is not over";
      for (const std::string& line : log) ADD_FAILURE() << line;
      return;
    }
    EXPECT_EQ(record.finished->parameters_sha256, hash) << what;
    ASSERT_FALSE(record.evaluated.empty()) << what;
    const Evaluated& last = record.evaluated.back();
    EXPECT_EQ(last.step, job.steps) << what;
    // Each version that was due has been evaluated, or counts as skipped: twice, where one was told
    // of before the evaluator was lost.
    std::set<std::uint64_t> steps;
    for (const Evaluated& one : record.evaluated) steps.insert(one.step);
    const std::uint64_t due = (job.steps + job.evaluation.every - 1) / job.evaluation.every;
    if (job.names_evaluations()) return;
    if (what.find("evaluator") != std::string::npos) {
      EXPECT_GE(steps.size() + last.skipped, due) << what;
    } else {
      EXPECT_EQ(steps.size() + last.skipped, due) << what;
    }
  }

  test::Moments moments;
  std::string hash;
  Duration took{};
};

TEST_F(JobRecoveriesTest, AServerIsLostAtAnyMoment) {
  const JobLayout layout{.servers = 2, .workers = 2};
  calm(layout);
  for (int part = 0; part < 40; ++part) {
    disturbed(layout, {{part / 40.0, part % 2 == 0 ? "server0" : "server1"}});
  }
}

TEST_F(JobRecoveriesTest, WhateverTravels) {
  const JobLayout layout{.servers = 2, .workers = 2, .ranks_per_worker = 2};
  for (const char* optimizer : {"momentum", "adam", "gd"}) {
    for (const Down down : {Down::average, Down::ternary}) {
      for (const ScalerRule rule :
           {ScalerRule::own, ScalerRule::shared, ScalerRule::mean, ScalerRule::last_step}) {
        if (rule == ScalerRule::own && down == Down::average) continue;
        if (rule != ScalerRule::shared && optimizer != std::string_view("momentum")) continue;
        job.optimizer.name = optimizer;
        job.gradient.down = down;
        job.gradient.down_feedback = false;  // what that leaves is the server's alone
        job.gradient.scaler = rule;
        job.gradient.error_feedback = rule == ScalerRule::shared;
        calm(layout);
        for (int ninth = 0; ninth < 9; ++ninth) disturbed(layout, {{ninth / 9.0, "server1"}});
      }
    }
  }
}

TEST_F(JobRecoveriesTest, RanksThatTakeTurnsGiveWhatOneOfTheirNetsHas) {
  const JobLayout layout{.servers = 2, .workers = 2, .ranks_per_worker = 3, .cores = 2};
  calm(layout);
  for (int part = 1; part < 20; ++part) disturbed(layout, {{part / 20.0, "server0"}});
}

// A version that only one of the workers has got: the other one gets its state.
TEST_F(JobRecoveriesTest, AServerIsLostWhenOnlyOneWorkerHasItsNewestVersion) {
  const JobLayout layout{.servers = 2, .workers = 2};
  calm(layout);
  for (int part = 0; part < 60; ++part) {
    if (moments.leaves_out()) continue;
    launch(layout);
    pass(this->part(part / 60.0));
    network.cut("worker1", "server0");
    pass(took / 300);
    lose("server0");
    pass(1ms);
    bring_back("server0");
    ends_the_same("cut and lost at " + std::to_string(part / 60.0));
  }
}

TEST_F(JobRecoveriesTest, AgainAndAgain) {
  const JobLayout layout{.servers = 2, .workers = 2};
  calm(layout);
  std::vector<std::pair<double, std::string>> losses;
  for (int i = 0; i < 30; ++i) {
    losses.emplace_back(i / 20.0, i % 3 == 0 ? "server0" : "server1");
  }
  disturbed(layout, losses);
}

TEST_F(JobRecoveriesTest, BothServersAreLostTogether) {
  const JobLayout layout{.servers = 2, .workers = 2};
  calm(layout);
  for (int part = 0; part < 20; ++part) {
    disturbed(layout, {{part / 20.0, "server0"}, {part / 20.0, "server1"}});
  }
}

TEST_F(JobRecoveriesTest, TheEvaluatorIsLostWithAServer) {
  const JobLayout layout{.servers = 2, .workers = 2};
  calm(layout);
  for (int part = 0; part < 10; ++part) {
    disturbed(layout, {{part / 10.0, "evaluator"}, {part / 10.0, "server1"}});
    disturbed(layout, {{part / 10.0, "server0"}, {part / 10.0, "evaluator"}});
  }
}

TEST_F(JobRecoveriesTest, TheEvaluatorNamesOtherVersionsThanThoseThatWereLost) {
  job.evaluation.behind = Behind::skip;
  job.evaluation.every = 3;
  job.steps = 60;
  const JobLayout layout{.servers = 2, .workers = 2};
  calm(layout);
  for (int part = 0; part < 20; ++part) {
    disturbed(layout, {{part / 20.0, "server1"}, {part / 20.0 + 0.1, "server0"}});
  }
}

// Who has all that the server had is lost with it: that is no failure of the server's own, so that
// the run goes on from its newest checkpoint.
TEST_F(JobRecoveriesTest, WithTheOnlyWorkerWhatItHadIsGone) {
  const JobLayout layout{.workers = 1};
  calm(layout);
  launch(layout);
  pass(took / 2);
  for (const char* name : {"server0", "worker0"}) lose(name);
  pass(1ms);
  for (const char* name : {"worker0", "server0"}) bring_back(name);
  finish();
  ASSERT_FALSE(deaths.empty());
  EXPECT_NE(deaths.front().find("server0: "), std::string::npos) << deaths.front();
  EXPECT_NE(deaths.front().find("none has chunk"), std::string::npos) << deaths.front();
}

TEST_F(JobRecoveriesTest, WhereServersHaveMoreThanWorkersNobodyComesInTheirPlace) {
  for (const auto change : {+[](JobConfig& job) { job.gradient.down = Down::parameters; },
                            +[](JobConfig& job) { job.optimizer.average_decay = 0.9; },
                            +[](JobConfig& job) {
                              job.gradient.down = Down::ternary;
                              job.gradient.down_feedback = true;
                            }}) {
    JobConfig other = job;
    EXPECT_TRUE(other.servers_come_again());
    change(other);
    EXPECT_FALSE(other.servers_come_again());
  }
}

}  // namespace
}  // namespace sterna::actors
