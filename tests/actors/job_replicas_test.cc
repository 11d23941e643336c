// Each shard has two servers: one of them is lost at any moment and comes again, and nobody waits
// for it. The parameters end the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "tests/actors/simulated_job.h"
#include "tests/sanitized.h"

namespace sterna::actors {
namespace {

using namespace std::chrono_literals;

class JobReplicasTest : public SimulatedJob {
 protected:
  JobReplicasTest() {
    job.hidden = {100};  // a tensor of two chunks, on two servers
    job.evaluation.every = 4;
  }

  void calm(JobLayout layout) {
    layout.replicas = false;
    const Time began = loop.now();
    hash = hash_of(layout);
    took = loop.now() - began;
    evaluated = record.evaluated;
  }
  Duration part(double of) const {
    return Duration(static_cast<std::int64_t>(static_cast<double>(took.count()) * of));
  }
  /// The same job with replicas; at each of these parts of its time a server is lost, or when the
  /// one before is whole, and comes again after another part.
  void disturbed(JobLayout layout, const std::vector<std::pair<double, std::string>>& losses,
                 double pause = 0.03) {
    layout.replicas = true;
    launch(layout);
    std::string what = what_travels();
    const Time began = loop.now();
    for (const auto& [when, name] : losses) {
      const std::size_t whole = record.whole.size();
      loop.run_until([] { return false; }, std::max(began + part(when), loop.now()));
      if (!record.done.empty()) break;  // waiting took too long
      lose(name);
      pass(part(pause));
      bring_back(name);
      what += ", " + name + " at " + std::to_string(when);
      // Before that nobody may lose the other one.
      loop.run_until(
          [&] { return record.whole.size() > whole || record.finished || !deaths.empty(); },
          loop.now() + 1min);
    }
    ends_the_same(what);
  }
  /// At that part all of them are lost, and come again one after the other, in either order.
  void together(JobLayout layout, double when, std::vector<std::string> names) {
    layout.replicas = true;
    for (int order = 0; order < 2; ++order) {
      for (const Duration pause : {Duration(1us), Duration(300us), Duration(5ms)}) {
        if (moments.leaves_out()) continue;
        launch(layout);
        pass(part(when));
        std::string what = what_travels() + ", at " + std::to_string(when);
        for (const std::string& name : names) lose(name);
        for (const std::string& name : names) {
          pass(pause);
          bring_back(name);
          what += ", " + name;
        }
        ends_the_same(what);
      }
      std::ranges::reverse(names);
    }
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
    for (const Evaluated& one : evaluated) {
      EXPECT_TRUE(std::ranges::any_of(record.evaluated,
                                      [&](const Evaluated& other) {
                                        return other.step == one.step && other.of == one.of &&
                                               other.loss == one.loss;
                                      }))
          << what << ": step " << one.step;
    }
  }
  std::string what_travels() const {
    return job.gradient.codec + ", scaler " +
           std::to_string(static_cast<int>(job.gradient.scaler)) + ", down " +
           std::to_string(static_cast<int>(job.gradient.down));
  }

  test::Moments moments;
  std::string hash;
  Duration took{};
  std::vector<Evaluated> evaluated;
};

TEST_F(JobReplicasTest, WithNothingLostTheBitsAreThoseWithoutThem) {
  JobLayout layout{.servers = 2, .workers = 2};
  calm(layout);
  disturbed(layout, {});
  EXPECT_TRUE(record.whole.empty());
}

TEST_F(JobReplicasTest, AServerIsLostAndItsReplicaGoesOn) {
  const JobLayout layout{.servers = 2, .workers = 2};
  calm(layout);
  for (int ninth = 0; ninth < 8; ++ninth) {
    for (const char* name : {"server0", "server1-replica"}) {
      if (moments.leaves_out()) continue;
      disturbed(layout, {{ninth / 9.0, name}});
      ASSERT_EQ(record.whole.size(), 1U) << ninth;
      EXPECT_EQ(record.whole.front().actor, name);
    }
  }
}

TEST_F(JobReplicasTest, NobodyWaitsForTheOneThatIsLostToComeAgain) {
  JobLayout layout{.servers = 2, .workers = 2};
  calm(layout);
  layout.replicas = true;
  for (const char* name : {"server0", "server1-replica"}) {
    launch(layout);
    pass(part(0.5));
    EXPECT_FALSE(record.progress.empty()) << "it trains";
    lose(name);
    const auto over = [this] { return record.finished && record.done.size() == 2; };
    loop.run_until([&] { return over() || !deaths.empty(); }, loop.now() + 10s);
    EXPECT_TRUE(over()) << name;
    bring_back(name);
    loop.run_until([this] { return !record.whole.empty(); }, loop.now() + 10s);
    EXPECT_EQ(record.whole.size(), 1U) << name;
    ends_the_same(std::string("comes again after the end: ") + name);
  }
}

TEST_F(JobReplicasTest, WhoOnlyLosesTheLinkToOneOfTwoTellsItAllTheSame) {
  JobLayout layout{.servers = 2, .workers = 2};
  for (const ScalerRule scaler : {ScalerRule::own, ScalerRule::shared}) {
    job.gradient.codec = "ternary";
    job.gradient.scaler = scaler;
    calm(layout);
    layout.replicas = true;
    for (int ninth = 0; ninth < 8; ++ninth) {
      if (moments.leaves_out()) continue;
      launch(layout);
      pass(part(ninth / 9.0));
      network.cut("worker0", "server0");
      network.cut("worker1", "server1-replica");
      ends_the_same(what_travels() + ", cut at " + std::to_string(ninth));
    }
    layout.replicas = false;
  }
}

TEST_F(JobReplicasTest, WhateverTravels) {
  const JobLayout layout{.servers = 2, .workers = 2, .ranks_per_worker = 2};
  job.optimizer.average_decay = 0.9;
  job.gradient.check_every = 3;
  for (const Down down : {Down::parameters, Down::parameters_bf16, Down::average, Down::ternary}) {
    for (const ScalerRule rule :
         {ScalerRule::own, ScalerRule::shared, ScalerRule::mean, ScalerRule::last_step}) {
      if (rule == ScalerRule::own && down == Down::average) continue;
      job.gradient.down = down;
      job.gradient.scaler = rule;
      job.gradient.down_feedback = down == Down::ternary;
      job.gradient.error_feedback = rule == ScalerRule::shared;
      calm(layout);
      for (int third = 0; third < 3; ++third) {
        if (moments.leaves_out()) continue;
        disturbed(layout, {{third / 3.0, "server1"}, {0.9, "server1-replica"}});
      }
    }
  }
}

TEST_F(JobReplicasTest, FirstOneOfAPairAndThenTheOtherAgainAndAgain) {
  const JobLayout layout{.servers = 2, .workers = 2};
  job.steps = 60;
  calm(layout);
  std::vector<std::pair<double, std::string>> losses;
  for (int i = 1; i < 9; ++i) {
    losses.emplace_back(i / 10.0, i % 2 == 0 ? "server0" : "server0-replica");
    losses.emplace_back(i / 10.0 + 0.05, i % 2 == 0 ? "server1-replica" : "server1");
  }
  disturbed(layout, losses, 0.01);
  EXPECT_GE(record.whole.size(), losses.size() / 2);
}

TEST_F(JobReplicasTest, AWorkerIsLostWithAServer) {
  const JobLayout layout{.servers = 2, .workers = 2};
  for (const ScalerRule rule : {ScalerRule::own, ScalerRule::shared}) {
    job.gradient.scaler = rule;
    calm(layout);
    for (int eighth = 1; eighth < 8; ++eighth) {
      const double at = eighth / 8.0;
      together(layout, at, {"server0", "worker1"});
      together(layout, at, {"server1-replica", "worker0"});
    }
  }
}

TEST_F(JobReplicasTest, EverybodyIsLostButOneServerOfEachPair) {
  const JobLayout layout{.servers = 2, .readers = 2, .workers = 2, .ranks_per_worker = 2};
  calm(layout);
  for (int ninth = 1; ninth < 9; ++ninth) {
    together(layout, ninth / 9.0,
             {"server0", "worker0", "evaluator", "server1-replica", "worker1", "reader1"});
  }
}

TEST_F(JobReplicasTest, TheEvaluatorIsLostWithAServer) {
  const JobLayout layout{.workers = 2};
  calm(layout);
  for (int ninth = 1; ninth < 9; ++ninth) {
    together(layout, ninth / 9.0, {"server0", "evaluator"});
  }
}

TEST_F(JobReplicasTest, TheVersionsThatTheEvaluatorNamesArePromisedByBoth) {
  job.evaluation.behind = Behind::skip;
  job.evaluation.every = 3;
  job.steps = 60;
  const JobLayout layout{.servers = 2, .workers = 2};
  calm(layout);
  evaluated.clear();  // which they are is a matter of time
  for (int ninth = 1; ninth < 9; ++ninth) {
    const double at = ninth / 10.0;
    if (moments.leaves_out()) continue;
    disturbed(layout, {{at, "server0"}, {at + 0.06, "server0-replica"}}, 0.01);
    EXPECT_EQ(record.evaluated.back().step, job.steps);
    together(layout, at, {"evaluator", "server1"});
  }
}

}  // namespace
}  // namespace sterna::actors
