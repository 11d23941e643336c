// One job. What it does: cluster_job_test and tests/end_to_end.
#include "launcher/job/run_job.h"

#include <gtest/gtest.h>

#include <csignal>

#include "launcher/text/console.h"

namespace sterna::launcher {
namespace {

TEST(RunJob, ThatWasToldBeforeItBeganStartsNothing) {
  RealMachine machine([](std::string_view) {});
  JobOptions options;
  options.file = parse_cluster_file(
                     "format = 1\n[job]\nnet = \"lenet\"\nsteps = 10\n"
                     "[data]\nname = \"digits\"\n[[actor]]\nrole = \"worker\"\n"
                     "[[actor]]\nrole = \"parameter_server\"\n"
                     "[[actor]]\nrole = \"input_reader\"\n"
                     "[[actor]]\nrole = \"evaluator\"\n",
                     "job.toml", {})
                     .value();
  options.told_before = [] { return SIGTERM; };
  JobListener nobody;
  const JobOutcome outcome = run_job(machine, Registry(), options, nobody);
  EXPECT_FALSE(outcome.started);
  EXPECT_TRUE(outcome.interrupted);
  EXPECT_TRUE(outcome.told_to_end);
  EXPECT_FALSE(outcome.lost);
  EXPECT_EQ(outcome.record.result.exit, kExitInterrupted);
}

}  // namespace
}  // namespace sterna::launcher
