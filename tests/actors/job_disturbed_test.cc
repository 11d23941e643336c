// What comes to one actor comes late for a while, or not at all, at any moment of a job: nobody
// dies, and the parameters end the same.
#include <gtest/gtest.h>

#include "tests/actors/simulated_job.h"
#include "tests/sanitized.h"

namespace sterna::actors {
namespace {

using namespace std::chrono_literals;

class JobDisturbedTest : public SimulatedJob {
 protected:
  JobDisturbedTest() {
    job.hidden = {100};
    options.patience = 30s;
    const Time began = loop.now();
    hash = hash_of(layout);
    took = loop.now() - began;
  }
  /// The same job, with `fault` at each actor, at each fifth of that time.
  void disturbed(const std::function<void(DisturbedTransport&)>& fault) {
    for (const char* name : {"server0", "server1", "worker0", "worker1", "reader0", "evaluator"}) {
      for (int fifth = 0; fifth < 5; ++fifth) {
        if (ways.leaves_out()) continue;
        ++runs;
        launch(layout);
        pass(took * fifth / 5);
        fault(process_of(name).transport);
        finish();
        for (const std::string& death : deaths)
          ADD_FAILURE() << name << " at " << fifth << " of 5: " << death;
        ASSERT_TRUE(record.finished) << name << " at " << fifth << " of 5";
        EXPECT_EQ(record.finished->parameters_sha256, hash) << name << " at " << fifth << " of 5";
        for (const auto& process : processes) {
          if (process == nullptr) continue;
          gaps += process->process->links()->counters().sequence_gaps;
          sent_again += process->process->links()->counters().sent_again;
        }
      }
    }
  }

  const JobLayout layout{.servers = 2, .workers = 2};
  std::string hash;
  Duration took{};
  test::Few ways{4};
  std::uint64_t runs = 0;
  std::uint64_t gaps = 0;
  std::uint64_t sent_again = 0;
};

TEST_F(JobDisturbedTest, WhatIsThrownAwayIsMissedAndSentAgain) {
  disturbed([this](DisturbedTransport& transport) { transport.drop(took / 10); });
  EXPECT_GT(gaps, runs / 3);
  EXPECT_GT(sent_again, gaps);
}

TEST_F(JobDisturbedTest, WhatComesLateIsWaitedFor) {
  disturbed([this](DisturbedTransport& transport) { transport.delay(took / 20, took / 4); });
  EXPECT_EQ(gaps, 0U);
  EXPECT_EQ(sent_again, 0U);
}

}  // namespace
}  // namespace sterna::actors
