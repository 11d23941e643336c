// sterna chaos: what it says of what it cannot work with. What it does: run_faults_test.
#include "tests/launcher/commands/command_fixture.h"

namespace sterna::launcher {
namespace {

using testing::HasSubstr;

using ChaosCommand = CommandTest;

TEST_F(ChaosCommand, WantsTimesAndKindsThatThereAre) {
  ended("mnist-1", 0);
  EXPECT_EQ(sterna({"chaos", "--every", "soon"}).err,
            "--every soon: no time; write it as 500ms, 10s or 1h\n");
  EXPECT_EQ(sterna({"chaos", "--for", "0s"}).err,
            "--for 0s: no time; write it as 500ms, 10s or 1h\n");
  EXPECT_EQ(sterna({"chaos", "--kinds", "kill,burn"}).err,
            "--kinds: there is no fault \"burn\"; there are kill, stop, cut, delay, drop, "
            "device_fault\n");
  const Said none = sterna({"chaos", "--kinds", ","});
  EXPECT_EQ(none.err, "--kinds: say which, of kill, stop, cut, delay, drop, device_fault\n");
  EXPECT_EQ(none.exit, 2);
}

TEST_F(ChaosCommand, OfARunThatIsOverFailsHoweverThatEnded) {
  ended("mnist-1", 0);
  const Said said = sterna({"chaos", "mnist-1"});
  EXPECT_EQ(said.exit, 1);
  EXPECT_EQ(said.err,
            "mnist-1 has ended (`sterna status` says how), and so `sterna chaos` has done "
            "nothing\n");
}

}  // namespace
}  // namespace sterna::launcher
