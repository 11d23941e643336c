// `sterna bench exchange` as a user meets it: real runs, as small as they can be.
#include "tests/end_to_end/run_test.h"

namespace sterna::test {
namespace {

using testing::HasSubstr;

class BenchExchange : public RunTest {
 protected:
  SternaProgram& bench(const Arguments& more) {
    Arguments arguments = {"bench", "exchange", "--elements", "65536", "--rounds", "1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return sterna(arguments);
  }
  static void expect_keys(const nlohmann::json& json, const std::vector<std::string>& keys) {
    for (const std::string& key : keys) {
      ASSERT_TRUE(json.contains(key)) << key << " in " << json;
      EXPECT_GT(json[key].get<double>(), 0) << key;
    }
  }
};

TEST_F(BenchExchange, ComparesCodecsWithinThisMachine) {
  SternaProgram& program = bench({"--json", "--security", "none", "--steps", "3"});
  ASSERT_EQ(program.exit_code(2 * kPatience), 0) << program.story();
  const auto json = nlohmann::json::parse(program.out(), nullptr, false);
  ASSERT_TRUE(json.is_object()) << program.story();
  EXPECT_EQ(json["bench"], "exchange");
  expect_keys(
      json, {"read_gbps", "memcpy_gbps", "raw_goodput", "net_step_seconds", "step_seconds.tcp.fp32",
             "step_seconds.ipc.fresh", "ternary_over_fp32_time.tcp", "ternary_over_fp32_time.ipc",
             "bits_up_ternarized", "bits_down_average", "auto_over_best", "auto_over_best.ipc"});
  EXPECT_LT(json["bits_down_average"].get<double>(), 3.1) << "sums of two ranks have five values";
  EXPECT_LT(json["bits_up_ternarized"].get<double>(), 2.1) << "the small tensors' ends are padded";
  EXPECT_FALSE(json.contains("ternary_over_fp32_time.tcp_curve"));
}

TEST_F(BenchExchange, ComparesCodecsOverALinkThatIsShaped) {
  // Long enough that a second report of the workers follows the first while they still send, even
  // where the launcher has to wait for a processor.
  SternaProgram& program = bench({"--json", "--link", "1gbit", "--steps", "300"});
  const std::optional<int> exit = program.exit_code(2 * kPatience);
  if (exit == 2 && program.err().find("--link needs") != std::string::npos) {
    GTEST_SKIP() << program.err();
  }
  ASSERT_EQ(exit, 0) << program.story();
  const auto json = nlohmann::json::parse(program.out(), nullptr, false);
  ASSERT_TRUE(json.is_object()) << program.story();
  expect_keys(json,
              {"speedup_over_fp32.fresh", "speedup_over_fp32.last_step", "wall_over_wire.fresh",
               "wall_over_wire.last_step", "step_seconds.link.fp32", "weak_scaling4",
               "auto_over_best", "card_bytes.fp32", "bits_up_ternarized", "raw_goodput"});
  EXPECT_LT(json["raw_goodput"].get<double>(), 125e6);
}

TEST_F(BenchExchange, SaysWhatIsNoRate) {
  SternaProgram& program = bench({"--link", "fast"});
  EXPECT_EQ(program.exit_code(kPatience), 2);
  EXPECT_THAT(program.err(), HasSubstr("'fast' is no rate"));
}

}  // namespace
}  // namespace sterna::test
