// Runs that are killed and go on, with real processes and files: the same bits as without a break.
#include <csignal>

#include "tests/end_to_end/run_test.h"

namespace sterna::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::vector<std::string> kKept = {"checkpoint.every_steps=5", "checkpoint.resume=true",
                                        "checkpoint.keep=10", "gradient.error_feedback=true",
                                        "optimizer.schedule=fixed"};

class RunCheckpoint : public RunTest {
 protected:
  SternaProgram& kept(const std::string& folder, std::vector<std::string> more = {}) {
    more.insert(more.begin(), kKept.begin(), kKept.end());
    Arguments arguments = with(more);
    arguments.insert(arguments.end(), {"--run-dir", folder, "--json"});
    return run(arguments);
  }
  std::string hash_of(SternaProgram& program) {
    EXPECT_EQ(program.exit_code(kPatience), 0) << program.story();
    const std::vector<std::string> lines = lines_of(program.out());
    if (lines.empty()) return "no result";
    return nlohmann::json::parse(lines.back(), nullptr, false)
        .value("parameters_sha256", "no hash");
  }
  bool has(const std::string& checkpoint) const {
    return std::filesystem::exists(path(checkpoint) + "/manifest.json");
  }
};

TEST_F(RunCheckpoint, KilledAsAWholeItGoesOnToTheSameBits) {
  const std::string hash = hash_of(kept("calm"));
  may_leave_socket_folders();
  SternaProgram& killed = kept("run", {"job.steps=1000000"});
  ASSERT_TRUE(eventually(kPatience, [&] { return has("run/checkpoints/step-000000015"); }))
      << killed.story();
  for (const FoundProcess& process : killed.processes()) ::kill(process.pid, SIGKILL);
  killed.kill();
  ASSERT_TRUE(eventually(kPatience, [&] { return killed.processes().empty(); }));
  // From an earlier one, too, by another number of servers; and of the same steps as the calm run.
  SternaProgram& from_one = run([&] {
    Arguments arguments =
        with({"checkpoint.resume=run/checkpoints/step-000000015", "gradient.error_feedback=true",
              "optimizer.schedule=fixed", "actor.parameter_server.count=3"});
    arguments.insert(arguments.end(), {"--run-dir", "other", "--json"});
    return arguments;
  }());
  EXPECT_EQ(hash_of(from_one), hash);
  EXPECT_THAT(from_one.err(), HasSubstr("going on from step 15"));
}

TEST_F(RunCheckpoint, InItsOwnDirectoryItGoesOnOrBegins) {
  const std::string hash = hash_of(kept("calm"));
  SternaProgram& stopped = kept("run", {"job.steps=20"});  // as far as it came
  ASSERT_EQ(stopped.exit_code(kPatience), 0) << stopped.story();
  SternaProgram& gone_on = kept("run");
  EXPECT_EQ(hash_of(gone_on), hash);
  EXPECT_THAT(gone_on.err(), HasSubstr("going on from step 20"));
  SternaProgram& listed = sterna({"checkpoints", "run"});
  EXPECT_EQ(listed.exit_code(kPatience), 0);
  EXPECT_THAT(listed.out(), HasSubstr("step          30"));
}

TEST_F(RunCheckpoint, OneThatCannotBeMadeIsSaidAndTheRunGoesOn) {
  std::filesystem::create_directory(path("kept"));
  write("kept/step-000000010", "in the way");
  Arguments arguments = with({"checkpoint.every_steps=10", "checkpoint.folder=" + path("kept")});
  arguments.insert(arguments.end(), {"--run-dir", "run"});
  SternaProgram& program = run(arguments);
  ASSERT_EQ(program.exit_code(kPatience), 0) << program.story();
  EXPECT_THAT(program.out(), HasSubstr("\nno checkpoint of step 10: "));
  EXPECT_THAT(content_of(path("run/metrics.jsonl")),
              HasSubstr(R"({"kind":"missed_checkpoint","why":"no checkpoint of step 10: )"));
  EXPECT_EQ(result()["missed_checkpoints"], 1);
  EXPECT_TRUE(has("kept/step-000000030"));
}

TEST_F(RunCheckpoint, WhatCannotBeGoneOnFromIsSaidInALine) {
  const auto said = [&](const std::string& resume, const std::vector<std::string>& more = {}) {
    std::vector<std::string> settings = {"checkpoint.resume=" + resume};
    settings.insert(settings.end(), more.begin(), more.end());
    SternaProgram& program = run(with(settings));
    EXPECT_EQ(program.exit_code(kPatience), 2) << program.story();
    EXPECT_EQ(lines_of(program.err()).size(), 1U) << program.err();
    return program.err();
  };
  EXPECT_THAT(said("true"), HasSubstr("say which with --run-dir"));
  EXPECT_THAT(said("nowhere"), HasSubstr("nowhere: there is no such folder"));
  ASSERT_EQ(kept("calm").exit_code(kPatience), 0);
  EXPECT_THAT(said("calm"), HasSubstr("nothing left to train"));
  EXPECT_THAT(said("calm", {"job.net=mlp"}), HasSubstr("is of the net lenet"));
  {
    std::fstream part(path("calm/checkpoints/step-000000030/server0.safetensors"),
                      std::ios::in | std::ios::out | std::ios::binary);
    part.seekp(-9, std::ios::end);
    part.put('\x7f');
  }
  EXPECT_THAT(said("calm/checkpoints/step-000000030"),
              AllOf(HasSubstr("server0.safetensors"), HasSubstr("not those that were written")));
  SternaProgram& gone_on = kept("calm");
  EXPECT_EQ(gone_on.exit_code(kPatience), 0) << gone_on.story();
  EXPECT_THAT(gone_on.err(),
              AllOf(HasSubstr("not gone on from: "), HasSubstr("going on from step 25")));
  EXPECT_THAT(said("calm"), HasSubstr("nothing left to train"));  // it is whole again
  std::filesystem::remove(path("calm/checkpoints/step-000000030/server0.safetensors"));
  EXPECT_THAT(said("calm/checkpoints/step-000000030"),
              AllOf(HasSubstr("server0.safetensors"), HasSubstr("missing")));
}

}  // namespace
}  // namespace sterna::test
