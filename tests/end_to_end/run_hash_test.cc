// One job, run by real processes in every shape that a file can give it: the same bits each time,
// and those of the plain loop that is its oracle.
#include "launcher/cluster_file.h"
#include "launcher/job_plan.h"
#include "tests/actors/simulated_job.h"
#include "tests/end_to_end/run_test.h"

namespace sterna::test {
namespace {

using Settings = std::vector<std::string>;

class RunHash : public RunTest {
 protected:
  /// The hash that `sterna run` reports with these settings ("KEY=VALUE") of the file.
  std::string hash(const Settings& settings) {
    Arguments arguments = with(settings);
    arguments.emplace_back("--json");
    SternaProgram& program = run(arguments);
    EXPECT_EQ(program.exit_code(kPatience), 0) << program.story();
    const std::vector<std::string> lines = lines_of(program.out());
    if (lines.empty()) return "no result";
    const auto json = nlohmann::json::parse(lines.back(), nullptr, false);
    return json.value("parameters_sha256", "no hash");
  }
  std::string oracle(const Settings& settings) const {
    const auto file = launcher::read_cluster_file(path("job.toml"), settings);
    if (!file.ok()) return file.error().message;
    const auto job = launcher::job_of(*file, {digits(), "digits", false});
    return job.ok() ? actors::sequential_oracle(*job) : job.error().message;
  }
};

TEST_F(RunHash, OverIpcItIsThePlainLoops) { EXPECT_EQ(hash({}), oracle({})); }

TEST_F(RunHash, OverTcpWithCurveItIsTheSame) {
  EXPECT_EQ(hash({"cluster.transport=tcp", "cluster.security=curve"}), oracle({}));
}

TEST_F(RunHash, OverTcpInTheClearItIsTheSame) {
  EXPECT_EQ(hash({"cluster.transport=tcp", "cluster.security=none"}), oracle({}));
}

TEST_F(RunHash, WithTwoServersAndTwoReadersItIsTheSame) {
  EXPECT_EQ(hash({"actor.parameter_server.count=2", "actor.input_reader.count=2"}), oracle({}));
}

TEST_F(RunHash, WithBothRanksInOneWorkerItIsTheSame) {
  EXPECT_EQ(hash({"actor.worker.count=1", "actor.worker.ranks=2"}), oracle({}));
}

TEST_F(RunHash, WithoutACodecAllShapesAgreeAmongThemselves) {
  const std::string codec = "gradient.codec=none";
  const std::string expected = oracle({codec});
  EXPECT_NE(expected, oracle({}));
  EXPECT_EQ(hash({codec}), expected);
  EXPECT_EQ(hash({codec, "cluster.transport=tcp", "actor.parameter_server.count=2",
                  "actor.input_reader.count=2"}),
            expected);
  EXPECT_EQ(hash({codec, "actor.worker.count=1", "actor.worker.ranks=2"}), expected);
}

}  // namespace
}  // namespace sterna::test
