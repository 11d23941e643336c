// `sterna bench codec` as a user meets it, on a tensor as small as it takes.
#include "tests/end_to_end/run_test.h"

namespace sterna::test {
namespace {

using BenchCodec = RunTest;

TEST_F(BenchCodec, SaysEveryFigureOfTheCodecAndOfTheServersArithmetic) {
  SternaProgram& program = sterna({"bench", "codec", "--json", "--elements", "65536"});
  ASSERT_EQ(program.exit_code(2 * kPatience), 0) << program.story();
  const auto json = nlohmann::json::parse(program.out(), nullptr, false);
  ASSERT_TRUE(json.is_object()) << program.story();
  for (const char* key :
       {"read_gbps", "memcpy_gbps", "encode_last_step_over_read", "encode_bucket_over_read",
        "encode_tensor_over_read", "quantize_over_read", "two_thread_speedup", "aggregate8_speedup",
        "fused8_over_momentum", "entropy_over_limit", "entropy_encode_gbps",
        "entropy_decode_gbps"}) {
    ASSERT_TRUE(json.contains(key)) << key << " in " << json;
    EXPECT_GT(json[key].get<double>(), 0) << key;
  }
}

}  // namespace
}  // namespace sterna::test
