// sterna bench where it measures nothing: what it refuses before it begins.
#include "tests/launcher/commands/command_fixture.h"

namespace sterna::launcher {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

using BenchCommand = CommandTest;

// Nobody builds the module beside this test.
TEST_F(BenchCommand, MeasuresNoOtherDeviceThanThatItIsTold) {
  for (const char* part : {"codec", "net", "train"}) {
    const Said none = sterna({"bench", part, "--device", "cuda"});
    EXPECT_EQ(none.exit, 1) << part;
    EXPECT_THAT(none.err,
                AllOf(StartsWith("--device cuda: "), HasSubstr("libsterna_cuda.so is not there")))
        << part;
    EXPECT_EQ(none.out, "") << part;
    const Said unknown = sterna({"bench", part, "--device", "gpu"});
    EXPECT_EQ(unknown.exit, 2) << part;
    EXPECT_THAT(unknown.err, StartsWith("--device gpu: \"gpu\" is no device; say cpu")) << part;
  }
  const Said ranks = sterna({"bench", "train", "--net", "cifarnet", "--device", "cuda:1"});
  EXPECT_EQ(ranks.exit, 1);
  EXPECT_THAT(ranks.err, StartsWith("--device cuda:1: "));
}

TEST_F(BenchCommand, RefusesADeviceInALineWhereNothingComputesOnOne) {
  for (const char* part : {"actors", "exchange", "input"}) {
    const Said said = sterna({"bench", part, "--device", "cuda"});
    EXPECT_EQ(said.exit, 2) << part;
    EXPECT_EQ(said.err, "sterna bench " + std::string(part) +
                            ": unknown option \"--device\"; see sterna bench " + part +
                            " --help\n");
  }
}

}  // namespace
}  // namespace sterna::launcher
