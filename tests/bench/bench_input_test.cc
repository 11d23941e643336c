// `sterna bench input` as a user meets it, where there are no photographs.
#include "tests/end_to_end/run_test.h"

namespace sterna::test {
namespace {

using BenchInput = RunTest;

TEST_F(BenchInput, DrawsPicturesWhereThereAreNoneAndSaysSo) {
  SternaProgram& program = sterna({"bench", "input", "--json", "--rounds", "1"},
                                  {"STERNA_DATA=" + folder(), "XDG_CACHE_HOME=" + folder()});
  ASSERT_EQ(program.exit_code(2 * kPatience), 0) << program.story();
  const auto json = nlohmann::json::parse(program.out(), nullptr, false);
  ASSERT_TRUE(json.is_object()) << program.story();
  EXPECT_EQ(json["pictures_are_drawn"], 1);
  EXPECT_GT(json["inception_224_over_decode"], 0);
}

}  // namespace
}  // namespace sterna::test
